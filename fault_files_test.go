//go:build linux

package thirdrail

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestDescriptorsExhausted leaves the host fewer and fewer descriptors, so that a
// run fails at each place that needs one. It fails in one line or not at all, and
// gives back what it took.
func TestDescriptorsExhausted(t *testing.T) {
	for _, sandbox := range []testSandbox{confined, unconfined} {
		t.Run(testSandboxes[sandbox].Mode.String(), func(t *testing.T) {
			leavesNothing(t)
			rt := newSpawning(t, Config{Sandbox: testSandboxes[sandbox]})
			worksAgain(t, rt) // what is opened once is open
			before := len(openDescriptors())
			failed, worked := 0, 0
			for free := range 30 {
				result := withFree(t, free, func() *Result {
					return run1(t, rt, "import os\nos.makedirs('a/b')\nopen('a/b/f', 'w').close()\nreturn 1", Limits{})
				})
				switch f := result.Failure; {
				case f == nil && result.Value.String() == "1":
					worked++
				case f == nil || f.Kind != WorkerExit || strings.Contains(f.Message, "\n") || !strings.Contains(f.Message, "too many open files"):
					t.Errorf("with %d free: %v, %v; want one line that says too many open files", free, result.Value, result.Err())
				default:
					failed++
				}
				if now := len(openDescriptors()); now > before {
					t.Errorf("with %d free: %d descriptors are open, %d before", free, now, before)
				}
				worksAgain(t, rt)
			}
			if failed == 0 || worked == 0 {
				t.Errorf("%d failed, %d worked: this test sees nothing", failed, worked)
			}
		})
	}
}

// TestDescriptorsExhaustedInNew does the same with New.
func TestDescriptorsExhaustedInNew(t *testing.T) {
	leavesNothing(t)
	usual := newSpawning(t, Config{})
	python := usual.interpreter.Path
	before := len(openDescriptors())
	failed, worked := 0, 0
	for free := 0; free < 50; free++ {
		err := withFree(t, free, func() error {
			rt, err := New(t.Context(), Config{Python: python})
			if err == nil {
				// It must not take a lack of descriptors for one of the machine.
				if rt.starter.Isolation() != usual.starter.Isolation() || !slices.Equal(rt.confinement.inside, usual.confinement.inside) {
					t.Errorf("with %d free: %v with %q, usually %v with %q", free,
						rt.starter.Isolation(), rt.confinement.inside, usual.starter.Isolation(), usual.confinement.inside)
				}
				err = rt.Close()
				worked++
			}
			return err
		})
		if err != nil {
			failed++
			if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "open") || !strings.Contains(text, "files") {
				t.Errorf("with %d free: %v, want one line that tells of open files", free, err)
			}
		}
		if now := len(openDescriptors()); now > before {
			t.Errorf("with %d free: %d descriptors are open, %d before: %v", free, now, before, openDescriptors())
		}
	}
	if failed == 0 || worked == 0 {
		t.Errorf("%d failed, %d worked: this test sees nothing", failed, worked)
	}
}

// withFree calls do while only so many descriptors are left.
func withFree[T any](t *testing.T, free int, do func() T) T {
	t.Helper()
	var before syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	low := syscall.Rlimit{Cur: 200, Max: before.Max}
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
	var taken []*os.File
	for {
		file, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, file)
	}
	for range min(free, len(taken)) {
		last := len(taken) - 1
		must(t, taken[last].Close())
		taken = taken[:last]
	}
	result := do()
	for _, file := range taken {
		must(t, file.Close())
	}
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
	return result
}
