//go:build linux

package thirdrail

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// growing is a module that has the nursery keep a mebibyte for each child: it asks libc to
// be called before each fork, as libraries may.
const growing = `
import ctypes
kept = []
@ctypes.CFUNCTYPE(None)
def before_fork():
    kept.append(b"x" * (1 << 20))
if ctypes.CDLL(None).__register_atfork(before_fork, None, None, None) != 0:
    raise OSError("no more functions are called at a fork")
`

// TestNurseryIsRecycled has the nursery's memory grow. Another one takes over, no run
// fails, and the old one lives as long as the last run in it.
func TestNurseryIsRecycled(t *testing.T) {
	temporary := leavesNothing(t)
	rt := newForking(t, Config{Python: withModules(t, systemPython(t), map[string]string{"growing": growing}), Preload: []string{"growing"}, MaxConcurrent: 5})
	_, first, _ := nurseryFamily(t)
	started, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { // it waits in the first nursery
		wait := func(context.Context, lossless.Value) (lossless.Value, error) {
			close(started)
			<-release
			return lossless.Of(1)
		}
		result, err := rt.Run(t.Context(), Request{Program: "return await t.wait({})", Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"wait": wait}}}})
		if err != nil || result.Failure != nil || result.Stats.Start != "fork" {
			t.Errorf("the run in the old nursery: %v, %+v", err, result)
		}
	})
	goOn := sync.OnceFunc(func() { close(release) })
	defer goOn()
	<-started
	before := rt.nursery.at()
	for i := 0; rt.nursery.at() == before; i++ {
		if i == lookEvery {
			t.Fatalf("after %d runs no other nursery has taken over", 4*i)
		}
		fourTimes(func() {
			if result := run1(t, rt, "return 1", Limits{}); result.Failure != nil || result.Stats.Start != "fork" {
				t.Errorf("%v by %s", result.Failure, result.Stats.Start)
			}
		})
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", first)); err != nil {
		t.Errorf("the first nursery is gone: %v", err)
	}
	goOn()
	all.Wait()
	eventually(t, "only the last nursery lives", func() bool {
		folders, _ := filepath.Glob(temporary + "/thirdrail-run-*/run-*")
		_, err := os.Stat(fmt.Sprintf("/proc/%d", first))
		return err != nil && len(folders) == 1
	})
	programCase{Value: "1"}.compare(t, run1(t, rt, "return 1", Limits{}))
}

// fourTimes does something four times at once.
func fourTimes(do func()) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(do)
	}
	all.Wait()
}

// at returns the process at work.
func (n *nursery) at() *nurseryProcess {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process
}

// TestRecycleFails has no other nursery start, or the one at work die meanwhile. Runs
// go on.
func TestRecycleFails(t *testing.T) {
	rt := newForking(t, Config{})
	n := rt.nursery
	before := n.at()
	other, err := n.begin(t.Context())
	must(t, err)
	n.bury() // as a run does that finds it dead
	if n.replace(before, other) {
		t.Fatal("what isn't at work was replaced")
	}
	n.discard(other)
	programCase{Value: "1"}.compare(t, run1(t, rt, "return 1", Limits{}))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.begin(ended); err == nil {
		t.Error("a nursery was started after the end of its context")
	}
	programCase{Value: "1"}.compare(t, run1(t, rt, "return 1", Limits{}))
}
