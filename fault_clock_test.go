package thirdrail

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// jumped returns what time.Now would have given at that moment with the machine's
// clock set so much later: another wall time with the same monotonic reading. A
// machine's clock can't be set for one process, and these tests must not set it for
// all.
func jumped(t *testing.T, at time.Time, by time.Duration) time.Time {
	t.Helper()
	const hasMonotonic, secondsShift = 1 << 63, 30
	wall := (*uint64)(unsafe.Pointer(&at)) // the first field of time.Time
	if *wall&hasMonotonic == 0 {
		t.Fatal("this time has no monotonic reading")
	}
	before := at.Unix()
	*wall += uint64(by/time.Second) << secondsShift
	if got := at.Unix() - before; got != int64(by/time.Second) {
		t.Fatalf("package time keeps times in another way now: the clock jumped by %d s", got)
	}
	return at
}

// TestClockJumps has the machine's clock jump by a year while a program runs.
func TestClockJumps(t *testing.T) {
	const year = 365 * 24 * time.Hour
	clock := newWallClock(Limits{Wall: time.Minute})
	clock.sent = time.Now()
	for _, by := range []time.Duration{-year, -time.Hour, 0, time.Hour, year} {
		for used, over := range map[time.Duration]bool{0: false, 59 * time.Second: false, 61 * time.Second: true} {
			if got := clock.over(jumped(t, clock.sent.Add(used), by)); got != over {
				t.Errorf("after %v, of which the clock shows %v: over the limit of 1m is %t, want %t", used, used+by, got, over)
			}
		}
	}
}

// losesMonotonic are the methods and functions of package time that lose the monotonic
// reading, or make a time without one.
var losesMonotonic = []string{
	"AddDate", "Date", "In", "Local", "ParseInLocation", "Round", "Truncate", "UTC",
	"Unix", "UnixMicro", "UnixMilli", "UnixNano",
}

// TestTimesAreMonotonic looks for what would make a limit depend on the machine's
// clock, in the host and in the child.
func TestTimesAreMonotonic(t *testing.T) {
	seen := 0
	for _, folder := range []string{".", "internal/child", "internal/interpreter", "internal/confine"} {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			seen++
			for _, name := range selectorsOf(t, path) {
				if slices.Contains(losesMonotonic, name) {
					t.Errorf("%s uses %s, which loses a time's monotonic reading", path, name)
				}
			}
		}
	}
	python, err := filepath.Glob("python/thirdrail_child/*.py")
	if err != nil {
		t.Fatal(err)
	}
	clock := regexp.MustCompile(`(?m)\b(from time import .*\btime\b|time\.time\b|clock_gettime)|^import datetime`)
	for _, path := range python {
		seen++
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := clock.FindString(string(text)); found != "" {
			t.Errorf("%s has %q, which the machine's clock changes", path, found)
		}
	}
	if seen < 50 {
		t.Errorf("only %d files were looked at: this test sees nothing", seen)
	}
}

// selectorsOf returns the names after a dot in a file that imports package time.
func selectorsOf(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"time"` }) {
		return nil
	}
	var names []string
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			names = append(names, selector.Sel.Name)
		}
		return true
	})
	return names
}
