//go:build linux

package thirdrail

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// A libraryCase is a program that uses a library as people do, at the default
// limits. It must succeed inside the walls.
type libraryCase struct {
	Name    string
	Program string
	// Value is what it must return. Empty means: what it returns outside.
	Value string
	// Needs is a package of Debian that the program imports.
	Needs string
	// Inside is why the program isn't run outside too. Empty means that it is, and
	// must return the same there.
	Inside string
}

// TestLibraries runs each program inside the walls and outside.
func TestLibraries(t *testing.T) {
	t.Parallel()
	python := systemPython(t)
	inside := newRuntime(t, Config{Python: python})
	outside := newRuntime(t, Config{Python: python, Sandbox: Sandbox{Mode: SandboxOff}})
	for _, c := range slices.Concat(standardCases, concurrentCases, dataCases) {
		t.Run(c.Name, func(t *testing.T) {
			if c.Needs != "" && !importable(t, outside, c.Needs) {
				t.Skipf("needs Debian's %s", c.Needs)
			}
			got := librarySuccess(t, inside, c.Program)
			if c.Value != "" && got != c.Value {
				t.Errorf("inside: %s, want %s", short(got), short(c.Value))
			}
			if c.Inside != "" {
				return
			}
			if want := librarySuccess(t, outside, c.Program); got != want {
				t.Errorf("inside: %s, outside: %s", short(got), short(want))
			}
		})
	}
}

// librarySuccess runs a program that must succeed, and returns its value.
func librarySuccess(t *testing.T, rt *Runtime, program string) string {
	t.Helper()
	result := run1(t, rt, program, Limits{})
	if result.Failure != nil {
		t.Fatalf("confined by %q: %v\n%s", result.Stats.Confinement, result.Err(), short(strings.Join(result.Logs, "\n")))
	}
	return result.Value.String()
}

// importable tells whether the interpreter has the module of a Debian package.
func importable(t *testing.T, rt *Runtime, debian string) bool {
	t.Helper()
	module := strings.TrimPrefix(debian, "python3-")
	return librarySuccess(t, rt, fmt.Sprintf("import importlib.util\nreturn importlib.util.find_spec(%q) is not None", module)) == "true"
}

// TestLibraryTablesAreWhole finds a case that compares with nothing.
func TestLibraryTablesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range slices.Concat(standardCases, concurrentCases, dataCases) {
		if c.Value == "" && c.Inside != "" {
			t.Errorf("%s: a case needs a value, or a run outside to compare with", c.Name)
		}
		if seen[c.Name] {
			t.Errorf("two cases have the name %s", c.Name)
		}
		seen[c.Name] = true
	}
}

// TestLibraryRunsDiffer has what is random differ between two runs.
func TestLibraryRunsDiffer(t *testing.T) {
	rt := newRuntime(t, Config{Python: systemPython(t)})
	const program = `import os, random, secrets, tempfile, uuid
return [random.random(), uuid.uuid4().hex, os.urandom(8).hex(), secrets.token_hex(8), os.path.basename(tempfile.mktemp())]`
	differ(t, rt, program)
	if importable(t, rt, "python3-numpy") {
		differ(t, rt, "import numpy\nreturn [numpy.random.rand(), numpy.random.default_rng().random()]")
	}
}

// differ runs a program that returns a list twice: no element is the same.
func differ(t *testing.T, rt *Runtime, program string) {
	t.Helper()
	first, second := values(t, rt, program), values(t, rt, program)
	for i := range first {
		if first[i].String() == second[i].String() {
			t.Errorf("both runs have %s as element %d of\n%s", first[i].String(), i, program)
		}
	}
}

func values(t *testing.T, rt *Runtime, program string) []lossless.Value {
	t.Helper()
	var elements []lossless.Value
	for _, element := range parse(t, librarySuccess(t, rt, program)).Elements() {
		elements = append(elements, element)
	}
	if len(elements) == 0 {
		t.Fatalf("no elements from\n%s", program)
	}
	return elements
}

// openedFolder returns a folder with a file in it that every user can reach. What
// t.TempDir returns lies below a folder of only this one.
func openedFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/var/tmp", "thirdrail-opened-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o777))
	must(t, os.WriteFile(folder+"/text", []byte("opened"), 0o666))
	return folder
}
