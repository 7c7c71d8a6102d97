//go:build linux

package thirdrail

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// An attack is a program that tries one thing which a confined program must not be
// able to do. When it gets through, it calls through("what it got"). It is held
// when it ends otherwise, by an exception or not.
type attack struct {
	Name string
	// Program begins with an empty line, which the prelude takes (attackPrelude).
	Program string
	// Off is why it doesn't get through without a confinement either. Empty means
	// that it must, which shows that it can tell. What depends on the machine may
	// do either.
	Off string
	// Limits replace those of attackLimits, where they aren't zero.
	Limits Limits
	// Machine is the only architecture that it is for; empty means every one.
	Machine string
	// Then is a second program, run after the first by the same runtime. It calls
	// through if the first one reached it.
	Then string
	// Check looks from outside, when the run is over, for what a program can't see
	// itself. It returns what got through, or "".
	Check func(*attempt) string
}

// attempt is one run of an attack.
type attempt struct {
	attack  attack
	targets *targets
	runtime *Runtime
	// token is in the attack's data, and in nothing else on this machine.
	token  string
	limits Limits
	result *Result
	took   time.Duration
}

const (
	// notTried is why an attack that may hurt the machine has no unconfined run.
	notTried = "not tried: would hurt the machine"
	// notInKernel is why some families and calls get through on some machines only.
	notInKernel = "it depends on the machine: not every kernel has it"
)

// attackLimits are what attacks run with.
var attackLimits = Limits{Wall: 10 * time.Second}

// attacks are all of them.
var attacks = slices.Concat(
	processAttacks, signalAttacks, fileAttacks, outsideAttacks, networkAttacks, ipcAttacks,
	escalationAttacks, executionAttacks, machineAttacks, limitAttacks, floodAttacks, leftoverAttacks, injectAttacks,
)

// TestAttacks runs every attack, confined. None gets through, and what they aim at is
// as it was. Every Python of the machine meets half of them, one the other half than
// the next, and all of them where every test runs on all (pythons.Variable).
func TestAttacks(t *testing.T) {
	all := pythons.Every(t)
	for turn, python := range all {
		t.Run(pythonName(python), func(t *testing.T) {
			rt := newRuntime(t, Config{Python: python})
			aims := newTargets(t, rt)
			mustBeConfined(t, rt, aims)
			before := aims.state()
			t.Cleanup(func() { aims.compare(t, before) }) // when all attacks are over
			some := attacks
			if os.Getenv(pythons.Variable) != "all" {
				some = everySecond(attacks, turn%2)
			}
			runAttacks(t, some, rt, aims, func(t *testing.T, a *attempt) {
				if got := a.run(t); got != "" {
					t.Errorf("got through: %s", short(got))
				}
			})
		})
	}
}

func everySecond(list []attack, first int) (some []attack) {
	for i := first; i < len(list); i += 2 {
		some = append(some, list[i])
	}
	return some
}

// mustBeConfined ends a test whose programs can read what they like: some attacks
// would then hurt the machine.
func mustBeConfined(t *testing.T, rt *Runtime, aims *targets) {
	t.Helper()
	result := run1(t, rt, fmt.Sprintf("return len(open(%q).read())", aims.aims["file"]), Limits{})
	if result.Failure == nil || result.Failure.Kind != Exception {
		t.Fatalf("not confined, so no attack is tried: %v, %+v", result.Value, result.Failure)
	}
}

// TestAttacksAsNobody runs TestAttacks as a user without rights, who sees the system's
// Python only: this test binary executes itself as one.
func TestAttacksAsNobody(t *testing.T) {
	systemPython(t)
	command, _ := hostCommand(t, hostScript{}, nobody)
	command.Args = []string{"thirdrail.test", "-test.run=^TestAttacks$", "-test.v"}
	command.Env = slices.DeleteFunc(command.Env, func(v string) bool { return strings.HasPrefix(v, hostVariable+"=") })
	command.Stderr = nil
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, withoutPassed(string(output)))
	}
	if passed := strings.Count(string(output), "--- PASS: TestAttacks/"); err == nil && passed < len(attacks)/3 {
		t.Errorf("only %d attacks were run", passed)
	}
}

// withoutPassed leaves out what a verbose test says of tests that passed.
func withoutPassed(output string) string {
	lines := slices.DeleteFunc(strings.Split(output, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "===") || strings.HasPrefix(line, "--- PASS") || strings.Contains(line, ": held: ")
	})
	return strings.Join(lines, "\n")
}

// TestAttacksUnconfined runs the attacks without a confinement, where they get
// through. Namespaces are left out too: only the programs are tried here.
func TestAttacksUnconfined(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: another user is held by the system itself in many places")
	}
	rt := newRuntime(t, Config{Python: systemPython(t), Sandbox: Sandbox{Mode: SandboxOff}})
	isolate(t, rt, child.ProcessGroup)
	runAttacks(t, attacks, rt, newTargets(t, rt), func(t *testing.T, a *attempt) {
		why := a.attack.Off
		if strings.HasPrefix(why, "not tried") {
			t.Skip(why)
		}
		got := a.run(t)
		switch {
		case why == "" && got == "":
			t.Errorf("did not get through: %v", a.result.Err())
		case strings.HasPrefix(why, "it depends on the machine"):
			t.Logf("%s; it got through: %t", why, got != "")
		case why != "" && got != "":
			t.Errorf("got through, although %s: %s", why, short(got))
		}
	})
}

// TestAttackTable keeps the table honest: enough attacks, told apart by name, each
// able to tell that it got through.
func TestAttackTable(t *testing.T) {
	const least = 80
	if len(attacks) < least {
		t.Errorf("there are %d attacks, want %d", len(attacks), least)
	}
	names := map[string]bool{}
	for _, a := range attacks {
		if names[a.Name] {
			t.Errorf("two attacks are called %q", a.Name)
		}
		names[a.Name] = true
		if !strings.HasPrefix(a.Program, "\n") {
			t.Errorf("%s: the program must begin with an empty line", a.Name)
		}
		tells := regexp.MustCompile(`\b(through|seen|reached)\(|THROUGH: `).MatchString(a.Program + a.Then)
		if !tells && a.Check == nil {
			t.Errorf("%s: it can't tell that it got through", a.Name)
		}
	}
}

// runAttacks makes a subtest of each attack, several at once.
func runAttacks(t *testing.T, list []attack, rt *Runtime, aims *targets, try func(*testing.T, *attempt)) {
	for _, a := range list {
		if a.Machine != "" && a.Machine != runtime.GOARCH {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			try(t, &attempt{attack: a, targets: aims, runtime: rt, token: rand.Text()})
		})
	}
}

// run runs the attack and returns what got through, or "".
func (a *attempt) run(t *testing.T) string {
	t.Helper()
	defer a.tidy()
	a.limits = a.attack.Limits.inherit(attackLimits).inherit(DefaultLimits())
	began := time.Now()
	a.result = a.runProgram(t, a.attack.Program)
	a.took = time.Since(began)
	got := throughOf(a.result)
	if got == "" && a.attack.Then != "" {
		got = throughOf(a.runProgram(t, a.attack.Then))
	}
	if got == "" && a.attack.Check != nil {
		got = a.attack.Check(a)
	}
	if got == "" {
		t.Logf("held: %v", a.result.Err())
	}
	return got
}

// ready is what a program prints when it is about to attack, so that none passes
// because it never did.
const ready = "READY"

// brokenProgram finds messages of programs that ended by a mistake of their own.
var brokenProgram = regexp.MustCompile(`(?m)^(Name|Syntax|Indentation|Attribute|Type|Key|Index|Import|ModuleNotFound|Unicode\w*|UnboundLocal|Assertion)Error\b`)

// runProgram runs one program of the attack, and fails the test if it was broken.
func (a *attempt) runProgram(t *testing.T, program string) *Result {
	t.Helper()
	data, err := lossless.Of(a.targets.dataFor(a.token))
	if err != nil {
		t.Fatal(err)
	}
	request := Request{
		Program:    firstLine(program) + program,
		Data:       data,
		Namespaces: append(testNamespaces(), a.targets.namespace()),
		Limits:     a.limits,
	}
	result, err := a.runtime.Run(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(result.Logs, ready) {
		t.Errorf("the attack was not tried: %v; logs %q", result.Err(), short(strings.Join(result.Logs, "\n")))
	}
	if f := result.Failure; f != nil && f.Kind == Exception && brokenProgram.MatchString(f.Message) && throughOf(result) == "" {
		t.Errorf("the attack is broken: %s", f.Message)
	}
	return result
}

// throughOf returns what a program said that it got.
func throughOf(result *Result) string {
	for _, line := range result.Logs {
		if what, ok := strings.CutPrefix(line, "THROUGH: "); ok {
			return what
		}
	}
	return ""
}

// tidy removes what an attack that got through has left under its token.
func (a *attempt) tidy() {
	for _, path := range a.left() {
		_ = os.RemoveAll(path)
	}
}

// left returns the files on this machine that have the attack's token as their
// name, where attacks put them.
func (a *attempt) left() []string {
	var found []string
	for _, folder := range slices.Concat(sharedFolders, []string{a.targets.folder, os.TempDir()}, runFolders()) {
		paths, _ := filepath.Glob(filepath.Join(folder, a.token+"*"))
		found = append(found, paths...)
	}
	return found
}

// sharedFolders are those that every user may write to.
var sharedFolders = []string{"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"}

// runFolders returns the folders that runtimes have for their runs, and what is in
// them.
func runFolders() []string {
	of := filepath.Join(os.TempDir(), "thirdrail-run-*")
	outer, _ := filepath.Glob(of)
	inner, _ := filepath.Glob(filepath.Join(of, "*"))
	return append(outer, inner...)
}

// leftFile is a Check for attacks that write a file which must not be there.
func leftFile(a *attempt) string {
	if left := a.left(); len(left) > 0 {
		return fmt.Sprintf("left behind %q", left)
	}
	return ""
}

// leftSemaphore is a Check for attacks that make a semaphore of the token's name.
func leftSemaphore(a *attempt) string {
	path := filepath.Join(sharedMemory, "sem."+a.token)
	if os.Remove(path) == nil {
		return "left behind " + path
	}
	return ""
}

// leftProcess is a Check for attacks that start a process with the token on its
// command line.
func leftProcess(a *attempt) string {
	if left := processesWith(a.token); len(left) > 0 {
		return fmt.Sprintf("still running: %q", left)
	}
	return ""
}
