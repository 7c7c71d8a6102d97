//go:build linux

package thirdrail

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A footprint is what this process holds of the machine.
type footprint struct {
	descriptors, goroutines int
	resident, heap          int64    // bytes
	mounts, cgroups, files  []string // files are those below the folder for temporary files
	processes               []string // descendants that live
}

// takeFootprint lets garbage go and looks.
func takeFootprint(temporary string) footprint {
	debug.FreeOSMemory()
	var memory goruntime.MemStats
	goruntime.ReadMemStats(&memory)
	f := footprint{
		descriptors: len(openDescriptors()),
		goroutines:  goruntime.NumGoroutine(),
		heap:        int64(memory.HeapAlloc),
		processes:   familyOf(os.Getpid()).living(),
	}
	status, _ := os.ReadFile("/proc/self/status")
	if _, rest, ok := strings.Cut(string(status), "VmRSS:"); ok {
		kibibytes, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		f.resident = kibibytes << 10
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	f.mounts = named(strings.Split(string(mounts), "\n"))
	f.cgroups = controlGroups()
	_ = filepath.WalkDir(temporary, func(path string, _ fs.DirEntry, _ error) error {
		f.files = append(f.files, path)
		return nil
	})
	return f
}

// named returns the lines that have our name, as all that we make has.
func named(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		return !strings.Contains(line, "thirdrail-run-") && !strings.Contains(line, "thirdrail-new-")
	})
}

// compare fails the test for each thing that is there now and wasn't before.
func (before footprint) compare(t *testing.T, temporary string) footprint {
	t.Helper()
	eventually(t, "the goroutines have ended", func() bool { return goruntime.NumGoroutine() <= before.goroutines })
	now := takeFootprint(temporary)
	if now.descriptors > before.descriptors {
		t.Errorf("%d descriptors are open, %d before: %v", now.descriptors, before.descriptors, openDescriptors())
	}
	for _, list := range []struct {
		what        string
		before, now []string
	}{
		{"mounts", before.mounts, now.mounts},
		{"cgroups", before.cgroups, now.cgroups},
		{"files", before.files, now.files},
		{"processes", before.processes, now.processes},
	} {
		more := slices.DeleteFunc(list.now, func(one string) bool { return slices.Contains(list.before, one) })
		if len(more) > 0 {
			t.Errorf("%s are left: %s", list.what, short(strings.Join(more, "\n")))
		}
	}
	return now
}

// leavesNothing gives the test a folder for temporary files of its own, and in the
// end, when its runtimes are closed, compares what is there with what was.
func leavesNothing(t *testing.T) (temporary string) {
	t.Helper()
	temporary = t.TempDir()
	t.Setenv("TMPDIR", temporary)
	pollerIsThere(t)
	before := takeFootprint(temporary)
	t.Cleanup(func() { before.compare(t, temporary) })
	return temporary
}

// pollerIsThere has Go's runtime open the descriptors that it waits on, which it does
// with the first file that can be waited for.
func pollerIsThere(t *testing.T) {
	t.Helper()
	read, write, err := os.Pipe()
	must(t, err)
	must(t, read.Close())
	must(t, write.Close())
}

// worksAgain fails the test if a plain run doesn't work, and if the last one left
// anything in the runtime's folder.
func worksAgain(t *testing.T, rt *Runtime) {
	t.Helper()
	start := time.Now()
	result := run1(t, rt, "open('f', 'w').write('x')\nprint('next')\nreturn await tools.add(a=41)", Limits{})
	if result.Value.String() != "42" || !slices.Equal(result.Logs, []string{"next"}) {
		t.Errorf("the next run, after %v: %v, logs %q", time.Since(start), result.Err(), result.Logs)
	}
	if left, _ := filepath.Glob(rt.folder.Path() + "/run-*"); len(left) > 0 {
		t.Errorf("workspaces are left: %q", left)
	}
	if left := familyOf(os.Getpid()).living(); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// String is one line of figures.
func (f footprint) String() string {
	return fmt.Sprintf("%d descriptors, %d goroutines, %.1f MiB resident, %.2f MiB heap, %d files, %d mounts, %d cgroups, %d processes",
		f.descriptors, f.goroutines, float64(f.resident)/(1<<20), float64(f.heap)/(1<<20), len(f.files), len(f.mounts), len(f.cgroups), len(f.processes))
}
