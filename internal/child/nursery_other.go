//go:build !linux

package child

import (
	"context"
	"errors"
)

// A Nursery forks children where the system can.
type Nursery struct{}

// CanFork returns false: a nursery's children need a PID namespace.
func (*Starter) CanFork() bool { return false }

// StartNursery returns an error.
func (*Starter) StartNursery(context.Context, NurseryOptions) (*Nursery, error) {
	return nil, errors.ErrUnsupported
}

// Memory returns 0.
func (*Nursery) Memory() int64 { return 0 }

// Forks returns 0.
func (*Nursery) Forks() int64 { return 0 }

// Grown returns 0.
func (*Nursery) Grown() int64 { return 0 }

// Retire does nothing.
func (*Nursery) Retire() {}

// Dead returns nil.
func (*Nursery) Dead() <-chan struct{} { return nil }

// Close does nothing.
func (*Nursery) Close() error { return nil }

// Fork returns an error.
func (*Nursery) Fork(any, int) (*Process, error) { return nil, errors.ErrUnsupported }

// CopiedBy returns nil.
func (*Nursery) CopiedBy(*Process) Pages { return nil }

// CopyAtOnce does nothing.
func (*Nursery) CopyAtOnce(Pages) error { return nil }

// Holder returns nothing.
func Holder() []byte { return nil }
