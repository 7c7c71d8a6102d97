//go:build !linux

package lossless

import "time"

// timeOf returns the least time of several runs of f.
func timeOf(runs int, f func()) time.Duration {
	best := time.Duration(1 << 62)
	for range runs {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}
