//go:build !unix

package bench

// processorTime returns 0: only unix tells.
func processorTime() float64 { return 0 }
