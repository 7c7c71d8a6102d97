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
	report, err := reportOfHost(command)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// reportOfHost runs a host to its end and returns what it reports.
func reportOfHost(command *exec.Cmd) (report hostReport, err error) {
	output, err := command.Output()
	if err != nil {
		return report, fmt.Errorf("the host: %w; %s", err, output)
	}
	if err := json.Unmarshal(output, &report); err != nil {
		return report, fmt.Errorf("the host printed %q: %w", output, err)
	}
	return report, nil
}

// systemPython returns an interpreter that every user can start.
func systemPython(t *testing.T) string {
	t.Helper()
	for _, path := range pythons.Every(t) {
		if strings.HasPrefix(path, "/usr/") {
			return path
		}
	}
	t.Skip("needs a Python under /usr, which every user can start")
	return ""
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
