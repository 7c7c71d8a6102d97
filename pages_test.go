//go:build linux

package thirdrail

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPagesAreCopiedAtOnce: the nursery is told which pages its children write to, and
// each child has those when it waits for its program.
func TestPagesAreCopiedAtOnce(t *testing.T) {
	rt := newForking(t, Config{Python: systemPython(t), MaxConcurrent: 1})
	process := rt.nursery.at()
	_, pid, _ := nurseryFamily(t)
	heap := mappingOf(t, pid, "[heap]")

	// own waits for a child that has pages of its own as wanted.
	own := func(what string, wanted func(whole bool, bytes uint64) bool) {
		p, err := rt.nursery.forkNow(t.Context(), rt.limits)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := p.discard(); err != nil {
				t.Error(err)
			}
		}()
		eventually(t, what, func() bool {
			whole, bytes := false, uint64(0)
			pages := process.CopiedBy(p.process)
			for i := 0; i < len(pages); i += 16 {
				first, size := binary.NativeEndian.Uint64(pages[i:]), binary.NativeEndian.Uint64(pages[i+8:])
				bytes += size
				whole = whole || first <= heap[0] && first+size >= heap[1]
			}
			return wanted(whole, bytes)
		})
	}
	own("a child has what it needs, and not all of the heap", func(whole bool, bytes uint64) bool { return !whole && bytes > 300<<10 })
	all := binary.NativeEndian.AppendUint64(nil, heap[0])
	all = binary.NativeEndian.AppendUint64(all, heap[1]-heap[0])
	if err := process.CopyAtOnce(all); err != nil {
		t.Fatal(err)
	}
	own("a child has all of the heap", func(whole bool, _ uint64) bool { return whole })
}

// mappingOf returns where a mapping of a process begins and ends.
func mappingOf(t *testing.T, pid int, name string) (ends [2]uint64) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, name) {
			if _, err := fmt.Sscanf(line, "%x-%x", &ends[0], &ends[1]); err != nil {
				t.Fatal(err)
			}
			return ends
		}
	}
	t.Fatalf("the process has no %s", name)
	return ends
}
