//go:build !linux

package confine

import (
	"errors"
	"fmt"
	"runtime"
)

// Look finds out what this machine has: nothing.
func Look() Machine { return Machine{Kernel: runtime.GOOS} }

// A Plan is what is the same for all children.
type Plan struct{}

// NewPlan returns an error: only Linux can confine a child.
func NewPlan(Spec) (*Plan, error) {
	return nil, fmt.Errorf("confine: %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Workspace returns the path that a child sees its workspace at.
func (p *Plan) Workspace(folder string) string { return folder }

// Policy returns what one child applies.
func (p *Plan) Policy(Run) *Policy { return nil }

// HasRoot tells whether children have a root of their own.
func (p *Plan) HasRoot() bool { return false }

// HasUser tells whether children become users of their own.
func (p *Plan) HasUser() bool { return false }

// CountsProcesses tells whether the kernel holds the number of their processes.
func (p *Plan) CountsProcesses() bool { return false }

// CountsTogether tells whether it would count all children of a nursery as one.
func (p *Plan) CountsTogether() bool { return false }

// Nursery returns nil.
func (p *Plan) Nursery(string, []byte, bool) *Nursery { return nil }

// Order returns nil.
func (p *Plan) Order(Run, bool) *Order { return nil }

// Forked returns nil.
func (p *Plan) Forked(Run, bool) *Policy { return nil }
