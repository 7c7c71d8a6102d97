// Package group ends a command together with what it started.
package group
