//go:build linux

package thirdrail

import (
	"sync"
	"testing"
)

// flatVariable is how many runs TestFlat makes; make flat sets it.
const flatVariable = "THIRDRAIL_FLAT"

const (
	flatRuns = 400 // what fits a test run
	flatWide = 8   // runs at once
	// flatNursery is what a nursery's own memory may differ by, in bytes, however many
	// runs lie between.
	flatNursery = 1 << 20
)

// TestFlat makes many forked runs and compares the memory of the host and of the
// nursery after a quarter of them with that in the end.
func TestFlat(t *testing.T) {
	total := amount(t, flatVariable, flatRuns)
	temporary := leavesNothing(t)
	rt := newForking(t, Config{MaxConcurrent: flatWide})
	process := rt.nursery.at()
	look := func(done int) (footprint, int64) {
		t.Helper()
		rt.nursery.giveBack()
		rt.nursery.giveBack() // nothing was taken since
		f, grown := takeFootprint(temporary), process.Grown()
		t.Logf("after %6d runs: host: %v; the nursery has grown by %.2f MiB", done, f, float64(grown)/(1<<20))
		return f, grown
	}
	forked(t, rt, total/4)
	before, grownBefore := look(total / 4)
	const looks = 3
	for i := range looks {
		forked(t, rt, total/4)
		if i < looks-1 {
			look((i + 2) * total / 4)
		}
	}
	rt.nursery.giveBack()
	rt.nursery.giveBack()
	before.compare(t, temporary)
	now, grown := look(total)
	if more := now.resident - before.resident; more > soakMemory {
		t.Errorf("the host's memory grew by %d bytes", more)
	}
	if more := now.heap - before.heap; more > soakHeap {
		t.Errorf("the host's heap grew by %d bytes", more)
	}
	if more := grown - grownBefore; more > flatNursery {
		t.Errorf("the nursery's memory grew by %d bytes", more)
	}
	if rt.nursery.at() != process {
		t.Error("another nursery has taken over")
	}
}

// forked makes so many runs that do next to nothing, several at once.
func forked(t *testing.T, rt *Runtime, count int) {
	t.Helper()
	numbers := make(chan int, count)
	for i := range count {
		numbers <- i
	}
	close(numbers)
	var all sync.WaitGroup
	for range flatWide {
		all.Go(func() {
			for range numbers {
				if result := run1(t, rt, "print('x')\nreturn await tools.add(a=1)", Limits{}); result.Failure != nil || result.Stats.Start != "fork" {
					t.Errorf("%v by %s", result.Failure, result.Stats.Start)
				}
			}
		})
	}
	all.Wait()
}
