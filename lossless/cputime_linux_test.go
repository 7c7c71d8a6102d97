package lossless

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// timeOf returns the least processor time of several runs of f. Other work on
// the machine lengthens the wall time of a run, but hardly this.
func timeOf(runs int, f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(1 << 62)
	for range runs {
		start := threadTime()
		f()
		best = min(best, threadTime()-start)
	}
	return best
}

func threadTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}
