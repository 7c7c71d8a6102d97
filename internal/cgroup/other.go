//go:build !linux

package cgroup

import (
	"errors"
	"time"
)

// A Host is what only Linux has.
type Host struct{}

// Open returns an error.
func Open() (*Host, error) { return nil, errors.New("cgroup: only Linux has control groups") }

// Controllers returns nil.
func (*Host) Controllers() []string { return nil }

// Take returns an error.
func (*Host) Take(Limits) (*Group, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Host) Close() error { return nil }

// A Group is what only Linux has.
type Group struct{}

// FD returns −1.
func (*Group) FD() int { return -1 }

// Add returns an error.
func (*Group) Add(int) error { return errors.ErrUnsupported }

// CPU returns false.
func (*Group) CPU() (time.Duration, bool) { return 0, false }

// Usage returns the zero value.
func (*Group) Usage() (Usage, error) { return Usage{}, nil }

// Kill does nothing.
func (*Group) Kill() error { return nil }

// Release does nothing.
func (*Group) Release() error { return nil }
