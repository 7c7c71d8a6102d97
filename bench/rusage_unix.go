//go:build unix

package bench

import "syscall"

// processorTime returns what this process and all that were waited for have used,
// in seconds.
func processorTime() (seconds float64) {
	const children = -1 // RUSAGE_CHILDREN
	for _, who := range []int{syscall.RUSAGE_SELF, children} {
		var used syscall.Rusage
		if syscall.Getrusage(who, &used) == nil {
			seconds += float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
		}
	}
	return seconds
}
