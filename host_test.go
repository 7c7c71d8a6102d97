//go:build linux

package thirdrail

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// hostVariable makes this test binary play a host in a process of its own. It
// holds a hostScript as JSON.
const hostVariable = "THIRDRAIL_TEST_HOST"

// hostScript is what such a host does.
type hostScript struct {
	// Before it starts anew.
	Rlimits map[int]uint64
	Ignored []syscall.Signal
	Blocked []syscall.Signal

	Config    Config
	Isolation []child.Isolation // none: what New finds
	Program   string
	Copies    int // runs at once; 0 means 1
	// Stay has the host print a line when it has begun, and another when each copy
	// has printed one. Then it waits to be killed.
	Stay bool
	// StopAt has the host make one run by hand up to that stage, print a line and
	// wait to be killed.
	StopAt stage
}

// hostReport is what the host prints, as JSON.
type hostReport struct {
	NewError  string
	Misuse    bool
	Warnings  string
	Value     string
	Kind      FailureKind
	Message   string
	Logs      []string
	Isolation string
	Places    int
}

// playHost is main when this binary plays a host.
func playHost(text string) int {
	var script hostScript
	if err := json.Unmarshal([]byte(text), &script); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if len(script.Rlimits)+len(script.Ignored)+len(script.Blocked) > 0 {
		fmt.Fprintln(os.Stderr, script.startAnew())
		return 2
	}
	if err := json.NewEncoder(os.Stdout).Encode(script.play()); err != nil {
		return 1
	}
	return 0
}

// startAnew executes this program again, under the limits and with the signals
// that the script says.
func (s hostScript) startAnew() error {
	runtime.LockOSThread() // blocked signals are a thread's
	for which, value := range s.Rlimits {
		if err := syscall.Setrlimit(which, &syscall.Rlimit{Cur: value, Max: value}); err != nil {
			return err
		}
	}
	for _, number := range s.Ignored {
		signal.Ignore(number)
	}
	var set unix.Sigset_t
	for _, number := range s.Blocked {
		set.Val[(number-1)/64] |= 1 << ((number - 1) % 64)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil); err != nil {
		return err
	}
	s.Rlimits, s.Ignored, s.Blocked = nil, nil, nil
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.Setenv(hostVariable, string(text)); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

func (s hostScript) play() hostReport {
	var report hostReport
	var warnings bytes.Buffer
	s.Config.Logger = slog.New(slog.NewTextHandler(&warnings, nil))
	if s.Stay {
		fmt.Println("begun")
	}
	rt, err := New(context.Background(), s.Config)
	report.Warnings = warnings.String()
	if err != nil {
		report.NewError, report.Misuse = err.Error(), errors.Is(err, ErrMisuse)
		return report
	}
	defer func() { rt.Close() }()
	if len(s.Isolation) > 0 {
		_ = rt.Close()
		if rt, err = newOn(context.Background(), s.Config, s.Config.Limits.inherit(DefaultLimits()), rt.interpreter, s.Isolation...); err != nil {
			report.NewError = err.Error()
			return report
		}
	}
	if s.StopAt != "" {
		report.NewError = fmt.Sprint(playTo(rt, s.StopAt, waitForEnd))
		return report
	}
	report.Places = cap(rt.places)
	copies := max(s.Copies, 1)
	var up, all sync.WaitGroup
	up.Add(copies)
	results, errs := make([]*Result, copies), make([]error, copies)
	for i := range copies {
		all.Go(func() {
			var once sync.Once
			results[i], errs[i] = rt.Run(context.Background(), Request{
				Program:    s.Program,
				Namespaces: testNamespaces(),
				OnLog:      func(string) { once.Do(up.Done) },
			})
		})
	}
	if s.Stay {
		up.Wait()
		fmt.Println("up")
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		report.NewError, report.Misuse = err.Error(), errors.Is(err, ErrMisuse)
		return report
	}
	r := results[0]
	for _, other := range results {
		if other.Failure != nil {
			r = other
		}
	}
	report.Value, report.Logs, report.Isolation = r.Value.String(), r.Logs, r.Stats.Isolation
	if f := r.Failure; f != nil {
		report.Kind, report.Message = f.Kind, f.Message
	}
	return report
}

// nobody is a user without rights.
const nobody = 65534

// hostCommand returns the command that plays a script, as another user if that is
// not 0. Its folder for temporary files, which is its home too, marks all that it
// starts.
func hostCommand(t *testing.T, script hostScript, user int) (command *exec.Cmd, mark string) {
	t.Helper()
	if user != 0 && os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	folder, err := os.MkdirTemp("/tmp", "thirdrail-host-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left := processesWith(folder)
		if len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		_ = os.RemoveAll(folder)
	})
	if err := os.Chown(folder, user, user); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	command = exec.Command("/proc/self/exe")
	command.Dir = folder
	command.Env = []string{hostVariable + "=" + string(text), "PATH=/usr/bin:/bin", "HOME=" + folder, "TMPDIR=" + folder}
	command.Stderr = os.Stderr
	if user != 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
	}
	return command, folder
}

func runHost(t *testing.T, script hostScript, user int) hostReport {
	t.Helper()
	command, _ := hostCommand(t, script, user)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("the host: %v; %s", err, output)
	}
	var report hostReport
	if err := json.Unmarshal(output, &report); err != nil {
		t.Fatalf("the host printed %q: %v", output, err)
	}
	return report
}

// systemPython returns an interpreter that every user can start.
func systemPython(t *testing.T) string {
	t.Helper()
	for _, path := range pythons.All(t) {
		if strings.HasPrefix(path, "/usr/") {
			return path
		}
	}
	t.Skip("needs a Python under /usr, which every user can start")
	return ""
}

const useUpCPU = "import os, time\nprint('up')\nwhile True: pass"

// lowLimits are limits of the host, and what comes of them.
var lowLimits = []struct {
	name    string
	rlimits map[int]uint64
	user    int
	config  Config
	program string
	check   func(hostReport) bool
	tight   bool // too tight for a host with the race detector, which needs more itself
}{
	{
		name: "files", rlimits: map[int]uint64{unix.RLIMIT_NOFILE: 256}, config: Config{MaxConcurrent: 1000}, program: "return 1",
		check: func(r hostReport) bool {
			return r.Value == "1" && r.Places > 2 && r.Places < 20 && strings.Count(r.Warnings, "RLIMIT_NOFILE") == 1
		},
	},
	{
		name: "hardly any files", rlimits: map[int]uint64{unix.RLIMIT_NOFILE: 24},
		check: func(r hostReport) bool { return strings.Contains(r.NewError, "RLIMIT_NOFILE") },
	},
	{
		name: "cpu", rlimits: map[int]uint64{unix.RLIMIT_CPU: 2}, program: useUpCPU,
		tight: true,
		check: func(r hostReport) bool {
			return r.Kind == Timeout && strings.Contains(r.Message, "CPU time limit of 2s") && strings.Count(r.Warnings, "RLIMIT_CPU") == 1
		},
	},
	{
		name: "cpu, and more asked for", rlimits: map[int]uint64{unix.RLIMIT_CPU: 50}, config: Config{Limits: Limits{CPU: 1 << 62}},
		program: "import resource\nreturn list(resource.getrlimit(resource.RLIMIT_CPU))",
		check:   func(r hostReport) bool { return r.Value == "[50,50]" },
	},
	{
		name: "address space", rlimits: map[int]uint64{unix.RLIMIT_AS: 2 << 30}, config: Config{Limits: Limits{Memory: 8 << 30}},
		program: "import resource\ntry: x = bytearray(3 << 30)\nexcept MemoryError: pass\nreturn list(resource.getrlimit(resource.RLIMIT_AS))",
		tight:   true,
		check: func(r hostReport) bool {
			return r.Value == "[2147483648,2147483648]" && strings.Count(r.Warnings, "RLIMIT_AS") == 1
		},
	},
	{
		name: "processes", user: nobody, rlimits: map[int]uint64{unix.RLIMIT_NPROC: 40}, program: "return 1",
		check: func(r hostReport) bool { return r.Value == "1" },
	},
	{
		name: "no core files anyway", rlimits: map[int]uint64{unix.RLIMIT_CORE: 1 << 30},
		program: "import resource\nreturn list(resource.getrlimit(resource.RLIMIT_CORE))",
		check:   func(r hostReport) bool { return r.Value == "[0,0]" },
	},
}

// TestHint names the limits that may be why an interpreter didn't start. A host with
// hardly any processes or address space can't be had: Go itself wouldn't start.
func TestHint(t *testing.T) {
	for want, h := range map[string]hostLimits{
		"":              {cpu: time.Hour, memory: 8 << 30, files: 1024, processes: 4096},
		"RLIMIT_CPU":    {cpu: time.Second},
		"RLIMIT_AS":     {memory: 100 << 20},
		"RLIMIT_NOFILE": {files: 40},
		"12 processes":  {processes: 12},
	} {
		if want == "12 processes" && os.Getuid() == 0 {
			want = "" // root isn't held to it
		}
		if got := h.hint(); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q in it", h, got, want)
		}
	}
}

// TestLowLimitsOfTheHost has hosts that are limited themselves.
func TestLowLimitsOfTheHost(t *testing.T) {
	python := systemPython(t)
	for _, c := range lowLimits {
		if c.tight && raceEnabled {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.Python = python
			report := runHost(t, hostScript{Rlimits: c.rlimits, Config: c.config, Program: c.program}, c.user)
			if !c.check(report) {
				t.Errorf("got %+v", report)
			}
		})
	}
}

// TestInheritedSignals has a host that ignores and blocks what limits and aborts
// need.
func TestInheritedSignals(t *testing.T) {
	python := systemPython(t)
	numbers := []syscall.Signal{syscall.SIGXCPU, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	for name, script := range map[string]hostScript{
		"ignored": {Ignored: numbers},
		"blocked": {Blocked: append(numbers, syscall.SIGCHLD)},
		"both":    {Ignored: numbers, Blocked: numbers},
	} {
		for _, isolation := range []child.Isolation{child.PIDNamespace, child.ProcessGroup} {
			t.Run(name+", "+isolation.String(), func(t *testing.T) {
				t.Parallel()
				script := script // each isolation writes its own
				script.Config = Config{Python: python, Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}}
				script.Isolation = []child.Isolation{isolation}
				script.Program = useUpCPU
				if report := runHost(t, script, 0); report.Kind != Timeout || !strings.Contains(report.Message, "CPU time limit of 1s") {
					t.Errorf("a loop: %+v", report)
				}
				script.Program = "import os, signal\nprint('alive')\nos.kill(os.getpid(), signal.SIGTERM)\nreturn 1"
				if report := runHost(t, script, 0); report.Kind != WorkerExit || !strings.Contains(report.Message, "SIGTERM") {
					t.Errorf("SIGTERM to itself: %+v", report)
				}
				script.Program = "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    signal.pause()\nexcept KeyboardInterrupt:\n    return 'interrupted'"
				if report := runHost(t, script, 0); report.Value != `"interrupted"` {
					t.Errorf("SIGINT to itself: %+v", report)
				}
			})
		}
	}
}

// TestUnprivilegedHost runs programs as a user without rights, in the isolation
// that New finds for it and in the fallback.
func TestUnprivilegedHost(t *testing.T) {
	python := systemPython(t)
	for _, isolation := range []child.Isolation{child.UserPIDNamespace, child.ProcessGroup} {
		t.Run(isolation.String(), func(t *testing.T) {
			t.Parallel()
			script := hostScript{Config: Config{Python: python, Sandbox: Sandbox{AllowProcesses: true}}, Copies: 4}
			if isolation == child.ProcessGroup {
				script.Config.Sandbox = Sandbox{Mode: SandboxOff}
				script.Isolation = []child.Isolation{isolation}
			}
			script.Program = "import os, time\nos.mkdir('d')\nos.chmod('d', 0)\nfor i in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\nreturn [os.getuid(), await tools.echo('x')]"
			if report := runHost(t, script, nobody); report.Value != `[65534,"x"]` || report.Isolation != isolation.String() {
				t.Errorf("got %+v", report)
			}
		})
	}
}

// TestStoppedHost stops a host for longer than its program's limits. When it goes
// on, the run ends at once.
func TestStoppedHost(t *testing.T) {
	command, _ := hostCommand(t, hostScript{
		Config:  Config{Python: systemPython(t), Limits: Limits{Wall: 300 * time.Millisecond, CPU: 300 * time.Millisecond}},
		Program: "import signal\nfor s in range(1, signal.NSIG):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nprint('up')\nwhile True: pass",
		Stay:    true,
	}, 0)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "up" {
	}
	if err := command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // the point: longer than both limits
	if err := command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	lines.Scan()
	var report hostReport
	if err := json.Unmarshal(lines.Bytes(), &report); err != nil || report.Kind != Timeout {
		t.Errorf("%v, %+v; want a timeout", err, report)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}
