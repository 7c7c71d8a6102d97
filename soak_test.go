//go:build linux

package thirdrail

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// soakVariable is how many runs TestSoak makes; make soak sets it.
const soakVariable = "THIRDRAIL_SOAK"

const (
	soakRuns = 120 // what fits a test run
	soakWide = 8   // runs at once
	// What memory may differ by, however many runs lie between: the garbage
	// collector and the race detector give back in steps.
	soakMemory = 24 << 20
	soakHeap   = 4 << 20
)

// soaked returns the programs of mixed as they end inside the walls, where nothing
// forks.
func soaked() []mixedRun {
	var runs []mixedRun
	for _, m := range mixed {
		if strings.Contains(m.program, "os.fork()") || strings.Contains(m.program, "Popen") {
			m.kind = Exception
		}
		runs = append(runs, m)
	}
	return runs
}

// TestSoak runs good, bad and hostile programs, eight at a time, and compares what
// the host holds in the end with what it held when it was warm.
func TestSoak(t *testing.T) {
	total := soakRuns
	if text := os.Getenv(soakVariable); text != "" {
		var err error
		if total, err = strconv.Atoi(text); err != nil || total < soakRuns {
			t.Fatalf("%s is %q; write a number of runs, at least %d", soakVariable, text, soakRuns)
		}
	}
	temporary := leavesNothing(t)
	rt := newSpawning(t, Config{MaxConcurrent: soakWide})
	programs := soaked()
	warmUp := len(programs) * max(1, total/10/len(programs))
	soak(t, rt, programs, warmUp)
	warm := takeFootprint(temporary)
	t.Logf("after %5d runs: %v", warmUp, warm)
	const looks = 5
	for done, i := warmUp, 0; i < looks; i++ {
		count := (total - done) / (looks - i)
		soak(t, rt, programs, count)
		done += count
		now := warm.compare(t, temporary)
		t.Logf("after %5d runs: %v", done, now)
		if i < looks-1 {
			continue
		}
		if grown := now.resident - warm.resident; grown > soakMemory {
			t.Errorf("the host's memory grew by %d bytes", grown)
		}
		if grown := now.heap - warm.heap; grown > soakHeap {
			t.Errorf("the host's heap grew by %d bytes", grown)
		}
	}
	worksAgain(t, rt)
}

// soak makes so many runs, several at once, and returns when all are over.
func soak(t *testing.T, rt *Runtime, programs []mixedRun, count int) {
	t.Helper()
	var all sync.WaitGroup
	numbers := make(chan int)
	for range soakWide {
		all.Go(func() {
			for i := range numbers {
				programs[i%len(programs)].run(t, rt)
			}
		})
	}
	for i := range count {
		numbers <- i
	}
	close(numbers)
	all.Wait()
}
