//go:build linux

package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// waitingVariable is how many runs TestWaitingRuns has; make waiting sets it.
const waitingVariable = "THIRDRAIL_WAITING"

const (
	waitingRuns  = 200     // what fits a test run
	waitingBytes = 4 << 20 // of proportional set size, for each
)

// amount returns the number in an environment variable, or the usual one.
func amount(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		t.Fatalf("%s is %q; write a number of runs", variable, text)
	}
	return number
}

// TestWaitingRuns has many runs wait in a call at once. All of them end well, and
// each takes little memory.
func TestWaitingRuns(t *testing.T) {
	total := amount(t, waitingVariable, waitingRuns)
	if most := readHostLimits().runsByFiles(); int64(total) > most {
		t.Skipf("needs a higher limit of open files (RLIMIT_NOFILE): this one allows %d runs at once", most)
	}
	rt := newForking(t, Config{Python: systemPython(t), MaxConcurrent: total})
	called, release := make(chan struct{}, total), make(chan struct{})
	wait := func(ctx context.Context, args lossless.Value) (lossless.Value, error) {
		called <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return args, ctx.Err()
	}
	ended := make(chan error, total)
	for i := range total {
		go func() {
			result, err := rt.Run(t.Context(), Request{
				Program:    fmt.Sprintf("return await t.wait([%d])", i),
				Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"wait": wait}}},
				Limits:     Limits{Wall: time.Hour},
			})
			if err == nil {
				err = result.Err()
			}
			if err == nil && (result.Value.String() != fmt.Sprintf("[%d]", i) || result.Stats.Start != "fork") {
				err = fmt.Errorf("%s by %s", result.Value.String(), result.Stats.Start)
			}
			ended <- err
		}()
	}
	waiting, early := 0, 0
	for waiting+early < total {
		select {
		case <-called:
			waiting++
		case err := <-ended:
			t.Errorf("a run has ended before its call did: %v", err)
			early++
		}
	}
	size, err := proportionalSize(t)
	switch {
	case errors.Is(err, fs.ErrPermission):
		t.Logf("only root sees the memory of the children: %v", err)
	case err != nil:
		t.Error(err)
	default:
		t.Logf("%d runs wait: %.2f MiB of proportional set size each", waiting, float64(size)/float64(total)/(1<<20))
		if size > int64(total)*waitingBytes {
			t.Errorf("%d runs have %d bytes", waiting, size)
		}
	}
	close(release)
	for range waiting {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	programCase{Value: "1"}.compare(t, run1(t, rt, "return 1", Limits{}))
}

// TestStartsWait has no place free among the runs that start. Another waits for one,
// however long that takes, or until it is aborted.
func TestStartsWait(t *testing.T) {
	rt := newRuntime(t, Config{MaxConcurrent: 3 * usualPlaces()})
	rt.startLimit = time.Minute // not what this is about
	for range usualPlaces() {
		rt.starts <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		result, err := rt.Run(ctx, Request{Program: "return 1"})
		if err != nil || result.Failure == nil || result.Failure.Kind != Abort {
			t.Errorf("aborted while it waits: %v, %+v", err, result)
		}
	})
	all.Go(func() { programCase{Value: "1"}.compare(t, run1(t, rt, "return 1", Limits{})) })
	eventually(t, "both are on their way", func() bool { return len(rt.places) == 2 })
	cancel()
	eventually(t, "one has ended", func() bool { return len(rt.places) == 1 })
	<-rt.starts
	all.Wait()
	if free := usualPlaces() - 1; len(rt.starts) != free {
		t.Errorf("%d places are taken, want %d", len(rt.starts), free)
	}
}

// TestForkedFileLimit compares how many files children may have open where nothing is
// confined. The nursery itself takes as many as there are.
func TestForkedFileLimit(t *testing.T) {
	var usual syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &usual))
	few := usual
	few.Cur = 1000
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	t.Cleanup(func() { must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &usual)) })
	rt := newForking(t, Config{Sandbox: Sandbox{Mode: SandboxOff}})
	got := run1(t, rt, "import resource\nreturn resource.getrlimit(resource.RLIMIT_NOFILE)[0]", Limits{})
	programCase{Value: "1000"}.compare(t, got)
	_, nursery, _ := nurseryFamily(t)
	var of unix.Rlimit
	must(t, unix.Prlimit(nursery, unix.RLIMIT_NOFILE, nil, &of))
	if of.Cur != usual.Max {
		t.Errorf("the nursery may have %d files open, want %d", of.Cur, usual.Max)
	}
}

// proportionalSize returns that of the nursery with all its processes, in bytes. What
// several of them share counts once.
func proportionalSize(t *testing.T) (total int64, err error) {
	t.Helper()
	keeper, nursery, children := nurseryFamily(t)
	for _, pid := range append(children, keeper, nursery) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(string(text), "\nPss:")
		kibibytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil {
			return 0, err
		}
		total += kibibytes << 10
	}
	return total, nil
}
