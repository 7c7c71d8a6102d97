// Package lossless holds JSON text that crosses a boundary exactly, or is
// refused with the place and the reason.
package lossless
