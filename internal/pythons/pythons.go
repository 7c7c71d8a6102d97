// Package pythons finds the interpreters that tests run on. It is for tests
// only: the library finds its interpreter with package interpreter.
package pythons

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// An installed is one interpreter of the machine.
type installed struct {
	path    string // as the interpreter itself reports it, so never a shim
	version string // such as "3.12.1"
}

// Variable, set to "all", has each test run on every Python of the machine.
const Variable = "THIRDRAIL_TEST_PYTHONS"

// Every returns the paths of every CPython 3.9 or newer of this machine, one for
// each version and prefix: those of pyenv, /usr/bin/python3 and the python3 of
// PATH. The paths are real interpreters, never shims. It fails the test when
// there is none, and when one that is there can't be started.
func Every(t testing.TB) []string {
	t.Helper()
	return paths(all(t))
}

// All returns those of Every that this test runs on: the oldest or the newest, and one
// more, which are others for the next test. So every Python meets a part of the tests
// at each change, and the two ends the most. With Variable they are all of Every.
func All(t testing.TB) []string {
	t.Helper()
	return paths(some(t))
}

// Each runs test as a parallel subtest on every interpreter of All, named by
// its version.
func Each(t *testing.T, test func(t *testing.T, python string)) {
	t.Helper()
	for _, python := range some(t) {
		t.Run(python.version, func(t *testing.T) {
			t.Parallel()
			test(t, python.path)
		})
	}
}

func paths(list []installed) []string {
	var paths []string
	for _, python := range list {
		paths = append(paths, python.path)
	}
	return paths
}

// some chooses among all by the name of the test.
func some(t testing.TB) []installed {
	t.Helper()
	found := all(t)
	if os.Getenv(Variable) == "all" || len(found) <= 2 {
		return found
	}
	byMinor := func(a, b installed) int { return minor(a.version) - minor(b.version) }
	ends := []installed{slices.MinFunc(found, byMinor), slices.MaxFunc(found, byMinor)}
	turn := 0
	for _, letter := range []byte(t.Name()) {
		turn += int(letter)
	}
	end := ends[turn%2]
	others := slices.DeleteFunc(slices.Clone(found), func(p installed) bool { return p == end })
	other := others[turn/2%len(others)]
	return slices.DeleteFunc(slices.Clone(found), func(p installed) bool { return p != end && p != other })
}

func all(t testing.TB) []installed {
	t.Helper()
	found, err := machine()
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no CPython 3.9 or newer under ~/.pyenv/versions, as /usr/bin/python3 or on PATH: install one to run this test")
	}
	return found
}

// machine looks once: starting ten interpreters costs a quarter of a second.
var machine = sync.OnceValues(func() ([]installed, error) {
	var found []installed
	seen := map[string]bool{}
	for _, candidate := range candidates() {
		python, prefix, err := ask(candidate)
		if err != nil {
			return nil, err
		}
		key := python.version + " " + prefix
		if seen[key] || !supported(python.version) {
			continue
		}
		seen[key] = true
		found = append(found, python)
	}
	return found, nil
})

// candidates returns the paths where an interpreter may be, those that exist.
func candidates() []string {
	var paths []string
	if home, err := os.UserHomeDir(); err == nil {
		paths, _ = filepath.Glob(filepath.Join(home, ".pyenv", "versions", "*", "bin", "python3"))
	}
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		paths = append(paths, "/usr/bin/python3")
	}
	if path, err := exec.LookPath("python3"); err == nil {
		paths = append(paths, path)
	}
	return paths
}

// ask starts the interpreter at path for its own account of itself.
func ask(path string) (python installed, prefix string, err error) {
	const question = `import sys; print("%d.%d.%d\n%s\n%s" % (sys.version_info[:3] + (sys.prefix, sys.executable)))`
	output, err := exec.Command(path, "-I", "-S", "-c", question).Output()
	if err != nil {
		return installed{}, "", fmt.Errorf("interpreter %s of this machine can't be started: %w", path, err)
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if len(lines) != 3 {
		return installed{}, "", fmt.Errorf("interpreter %s of this machine answers %q", path, output)
	}
	return installed{path: lines[2], version: lines[0]}, lines[1], nil
}

// supported reports whether version is 3.9 or newer.
func supported(version string) bool { return minor(version) >= 9 }

// minor is the second number of a version of Python 3, and 0 for anything else.
func minor(version string) int {
	major, rest, _ := strings.Cut(version, ".")
	text, _, _ := strings.Cut(rest, ".")
	number, err := strconv.Atoi(text)
	if err != nil || major != "3" {
		return 0
	}
	return number
}
