// Package cgroup gives each run a control group of its own, version 2 of the
// kernel's interface (Documentation/admin-guide/cgroup-v2.rst), where this process
// may make some. It limits and counts all processes of a run together, and ends
// them. No process leaves its group by itself.
package cgroup

import "time"

// Limits are those of one group. Zero leaves one out.
type Limits struct {
	// Memory is in bytes, what is swapped out included.
	Memory int64
	// Processes counts threads too.
	Processes int64
}

// Usage is what a group has used since it was taken.
type Usage struct {
	// CPU is user and system time of all processes, those that have ended included.
	CPU time.Duration
	// Memory tells that the kernel ended the group for its memory, Processes that
	// it refused to make a process or a thread.
	Memory, Processes bool
}
