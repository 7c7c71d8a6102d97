//go:build linux

package thirdrail

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// stdlibVariable set to "all" has every Python of the machine run its own tests.
// Without it only the newest does: `make stdlib` sets it.
const stdlibVariable = "THIRDRAIL_STDLIB"

// stdlibProgram runs a module of CPython's own tests, or the classes that data
// names, and returns how each test ended.
const stdlibProgram = `
import sys, unittest
from test import support
support.verbose = 0
outcomes, reasons = {}, {}

class Outcomes(unittest.TestResult):
    def note(self, test, outcome, reason=""):
        # A part of a test (subTest) speaks for all of it, whatever it was run with.
        name = getattr(test, "test_case", test).id()
        if outcomes.get(name, "passed") in ("passed", "skipped"):
            outcomes[name], reasons[name] = outcome, reason
    def addSuccess(self, test):
        outcomes.setdefault(test.id(), "passed")
    def addError(self, test, error):
        self.note(test, "error", self._exc_info_to_string(error, test))
    def addFailure(self, test, error):
        self.note(test, "failed", self._exc_info_to_string(error, test))
    def addSubTest(self, test, part, error):
        if error is not None:
            self.note(test, "failed" if issubclass(error[0], test.failureException) else "error", self._exc_info_to_string(error, test))
    def addSkip(self, test, reason):
        self.note(test, "skipped", reason)
    def addExpectedFailure(self, test, error):
        self.note(test, "expected failure")
    def addUnexpectedSuccess(self, test):
        self.note(test, "unexpected success")

names = ["test." + data["module"] + "." + c for c in data["classes"]] or ["test." + data["module"]]
suite = unittest.defaultTestLoader.loadTestsFromNames(names)
def without(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from without(test)
        elif not any(part in test.id() for part in data["without"]):
            yield test
unittest.TestSuite(without(suite)).run(Outcomes())
return {"outcomes": outcomes, "reasons": {name: reasons[name][-1500:] for name in reasons if outcomes[name] in ("error", "failed", "skipped")}}
`

// stdlibResult is what stdlibProgram returns.
type stdlibResult struct {
	Outcomes map[string]string `json:"outcomes"`
	Reasons  map[string]string `json:"reasons"`
}

// A stdlibModule is a module of CPython's package test.
type stdlibModule struct {
	Module string
	// Classes are the parts that are run; empty means all.
	Classes []string
	// Without are parts of names: those tests aren't run. They take long.
	Without []string
	// Since is the minor version that has it, and all later ones; zero means all.
	Since int
}

// TestStandardLibrary has CPython test itself inside the walls and outside: each
// test ends the same way.
func TestStandardLibrary(t *testing.T) {
	t.Parallel()
	for _, python := range stdlibPythons(t) {
		t.Run(pythonName(python), func(t *testing.T) {
			inside := newRuntime(t, Config{Python: python})
			outside := newRuntime(t, Config{Python: python, Sandbox: Sandbox{Mode: SandboxOff}})
			for _, module := range stdlibModules {
				if inside.interpreter.Version.Minor < module.Since {
					continue
				}
				t.Run(module.Module, func(t *testing.T) {
					t.Parallel()
					module.compare(t, module.run(t, inside), module.run(t, outside))
				})
			}
		})
	}
}

// stdlibPythons are those that came with their tests: the newest, or all.
func stdlibPythons(t *testing.T) []string {
	t.Helper()
	minor := func(path string) int { return findPython(t, path).Version.Minor }
	var found []string
	for _, python := range pythons.Every(t) {
		rt := newRuntime(t, Config{Python: python, Sandbox: Sandbox{Mode: SandboxOff}})
		if librarySuccess(t, rt, "import importlib.util, test\nreturn importlib.util.find_spec('test.test_json') is not None") == "true" {
			found = append(found, python)
		}
	}
	if len(found) == 0 {
		t.Skip("needs a CPython with its package test, such as pyenv builds")
	}
	slices.SortFunc(found, func(a, b string) int { return minor(b) - minor(a) })
	if os.Getenv(stdlibVariable) != "all" {
		found = found[:1]
	}
	return found
}

func (m stdlibModule) run(t *testing.T, rt *Runtime) stdlibResult {
	t.Helper()
	data := fmt.Sprintf(`{"module":%q,"classes":[%s],"without":[%s]}`, m.Module, quotedList(m.Classes), quotedList(m.Without))
	result, err := rt.Run(t.Context(), Request{Program: stdlibProgram, Data: parse(t, data)})
	if err == nil {
		err = result.Err()
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, short(strings.Join(result.Logs, "\n")))
	}
	t.Logf("confined by %q: %v of processor time, %v", result.Stats.Confinement, result.Stats.CPU, result.Stats.Wall)
	var got stdlibResult
	must(t, result.Value.Decode(&got))
	return got
}

func quotedList(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return strings.Join(quoted, ",")
}

func (m stdlibModule) compare(t *testing.T, inside, outside stdlibResult) {
	t.Helper()
	passed, differ := 0, 0
	for _, name := range slices.Sorted(maps.Keys(outside.Outcomes)) {
		got, want := inside.Outcomes[name], outside.Outcomes[name]
		if got == "passed" {
			passed++
		}
		reason := inside.Reasons[name] + outside.Reasons[name]
		switch {
		case got == want:
		case expected(got, want, reason):
			differ++
		default:
			t.Errorf("%s: %q inside, %q outside\n%s", name, got, want, short(reason))
		}
	}
	for name, got := range inside.Outcomes {
		if _, ok := outside.Outcomes[name]; !ok {
			t.Errorf("%s: %q inside, not run outside\n%s", name, got, short(inside.Reasons[name]))
		}
	}
	if passed == 0 || passed < len(outside.Outcomes)/2 {
		t.Errorf("only %d of %d tests passed inside", passed, len(outside.Outcomes))
	}
	t.Logf("%d of %d passed, %d differ as expected", passed, len(outside.Outcomes), differ)
}

// expected tells whether a test ended as it did for a cause that is known.
func expected(inside, outside, reason string) bool {
	return slices.ContainsFunc(stdlibCauses, func(c stdlibCause) bool {
		return c.inside == inside && c.outside == outside && c.reason.MatchString(reason)
	})
}
