//go:build linux

package child

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// eachKeeper is eachIsolation, and also the namespaces kept by start.py, as they
// are where the keeper's own program can't be executed.
func eachKeeper(t *testing.T, test func(t *testing.T, s *Starter)) {
	t.Helper()
	eachIsolation(t, func(t *testing.T, s *Starter) {
		test(t, s)
		if s.keeper == nil {
			return
		}
		slow := newStarter(t, s.interpreter, s.isolation)
		_ = slow.keeper.Close()
		slow.keeper = nil
		t.Run("kept by start.py", func(t *testing.T) { test(t, slow) })
	})
}

// world is what a program sees of its process.
type world struct {
	Descriptors []string
	Environment map[string]string
	Directory   string
	Signals     []int // ignored, but for SIGPIPE and SIGXFSZ, which Python ignores
	Blocked     []int
	Limits      map[string][]int64
}

const lookAround = `
import os, resource, signal
signals = [s for s in signal.valid_signals() if s not in (signal.SIGPIPE, signal.SIGXFSZ)]
fds = []
for fd in os.listdir("/proc/self/fd"):
    try:
        fds.append(fd + " " + os.readlink("/proc/self/fd/" + fd).split(":")[0])
    except OSError:
        pass  # that of listdir itself
return {
    "Descriptors": sorted(fds),
    "Environment": dict(os.environ),
    "Directory": os.getcwd(),
    "Signals": [int(s) for s in signals if signal.getsignal(s) == signal.SIG_IGN],
    "Blocked": [int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
    "Limits": {n: list(resource.getrlimit(getattr(resource, n))) for n in ("RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_CORE")},
}`

func TestStart(t *testing.T) {
	// What this process leaves open for others, as a careless parent does.
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	careless, err := syscall.Dup(int(null.Fd())) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(careless)
	t.Setenv("SECRET_TOKEN", "hush")
	found := findPython(t)
	for _, i := range isolations {
		t.Run(i.String(), func(t *testing.T) { // not parallel: t.Setenv
			s, err := NewStarter(t.Context(), found, Options{Among: []Isolation{i}})
			if err != nil {
				t.Skipf("this machine doesn't give this user a %v: %v", i, err)
			}
			defer closeStarter(t, s)
			r := startProgram(t, s, lookAround)
			var got world
			r.returned(&got)
			want := world{
				Descriptors: []string{"0 /dev/null", "1 pipe", "2 pipe", "3 socket"},
				Environment: map[string]string{},
				Directory:   r.workspace.Path,
				Signals:     []int{},
				Blocked:     []int{},
				Limits:      map[string][]int64{"RLIMIT_CPU": {60, 61}, "RLIMIT_AS": {2 << 30, 2 << 30}, "RLIMIT_CORE": {0, 0}},
			}
			for _, entry := range Environment(r.workspace.Path) {
				name, value, _ := strings.Cut(entry, "=")
				want.Environment[name] = value
			}
			delete(got.Environment, "LC_CTYPE") // Python 3.7 and later may set it
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what the program sees (-want +got):\n%s", diff)
			}
		})
	}
}

// exits are ends of a program's process.
var exits = []struct {
	name, program string
	code          int
	signal        syscall.Signal
	signalName    string
}{
	{"value", "return 1", 0, 0, "0"},
	{"exit 0", "import os\nos._exit(0)", 0, 0, "0"},
	{"exit 7", "import os\nos._exit(7)", 7, 0, "0"},
	{"exit 255", "import os\nos._exit(255)", 255, 0, "0"},
	{"SIGKILL", "import os\nos.kill(os.getpid(), 9)", -1, syscall.SIGKILL, "SIGKILL"},
	{"SIGTERM", "import os\nos.kill(os.getpid(), 15)", -1, syscall.SIGTERM, "SIGTERM"},
	{"SIGSEGV", "import ctypes\nctypes.string_at(0)", -1, syscall.SIGSEGV, "SIGSEGV"},
	{"SIGABRT", "import os\nos.abort()", -1, syscall.SIGABRT, "SIGABRT"},
	{"SIGXCPU", "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)", -1, syscall.SIGXCPU, "SIGXCPU"},
	{"real-time signal", "import os\nos.kill(os.getpid(), 40)", -1, 40, "40"},
	{"its group killed", "import os\nos.setpgid(0, 0) if os.getpgrp() != os.getpid() else None\nos.killpg(0, 9)", -1, syscall.SIGKILL, "SIGKILL"},
}

func TestExit(t *testing.T) {
	eachKeeper(t, func(t *testing.T, s *Starter) {
		for _, c := range exits {
			t.Run(c.name, func(t *testing.T) {
				r := startProgram(t, s, c.program)
				<-r.Ended()
				exit := r.Wait()
				if exit.Code != c.code || exit.Signal != c.signal || exit.SignalName() != c.signalName {
					t.Errorf("code %d, signal %v %s; want %d, %v %s", exit.Code, exit.Signal, exit.SignalName(), c.code, c.signal, c.signalName)
				}
				if exit.OverCPU() != (c.signal == syscall.SIGXCPU) {
					t.Errorf("OverCPU is %t", exit.OverCPU())
				}
				if exit.CPU <= 0 || exit.PeakMemory < 4<<20 {
					t.Errorf("used %v of CPU and %d bytes", exit.CPU, exit.PeakMemory)
				}
				if again := r.Wait(); again != exit {
					t.Errorf("waiting again gives %+v, not %+v", again, exit)
				}
			})
		}
	})
}

// TestExitWhenKilled ends a program that doesn't end by itself.
func TestExitWhenKilled(t *testing.T) {
	eachKeeper(t, func(t *testing.T, s *Starter) {
		r := startProgram(t, s, "x = bytearray(50 << 20)\nprint('ready')\nwhile True: pass")
		r.expect("ready")
		select {
		case <-r.Ended():
			t.Error("ended by itself")
		default:
		}
		exit := r.Wait()
		if exit.Code != -1 || exit.PeakMemory < 50<<20 {
			t.Errorf("got %+v", exit)
		}
		select {
		case <-r.Ended():
		default:
			t.Error("Ended is still open after Wait")
		}
	})
}

// burners use CPU time of about half a second, and then tell so.
var burners = map[string]string{
	"one thread": `
burn(0.5)`,
	"threads": `
import hashlib, threading
def work():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        hashlib.sha256(bytes(1 << 20))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()`,
	"a process that was waited for": `
if os.fork() == 0:
    burn(0.5)
    os._exit(0)
os.wait()`,
	"a process that lives": `
read, write = os.pipe()
if os.fork() == 0:
    burn(0.5)
    os.write(write, b"x")
    time.sleep(1000)
os.read(read, 1)`,
	"a process of a thread": `
import threading
read, write = os.pipe()
def work():
    if os.fork() == 0:
        burn(0.5)
        os.write(write, b"x")
        time.sleep(1000)
    time.sleep(1000)
threading.Thread(target=work, daemon=True).start()
os.read(read, 1)`,
	"a daemon": `
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        burn(0.5)
        os.write(write, b"x")
        time.sleep(1000)
    os._exit(0)
os.read(read, 1)`,
}

func TestCPU(t *testing.T) {
	eachKeeper(t, func(t *testing.T, s *Starter) {
		for name, program := range burners {
			t.Run(name, func(t *testing.T) {
				r := startProgram(t, s, `
import os, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
print("ready")
input_ready = os.read(3, 1)
`+program+`
print("burnt")
time.sleep(1000)`)
				r.expect("ready")
				before := r.CPU()
				if _, err := r.Rail.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				r.expect("burnt")
				// Four ticks are four figures that are rounded down.
				if used := r.CPU() - before; used < 460*time.Millisecond || used > 10*time.Second {
					t.Errorf("used %v, want about 500ms", used)
				}
				if exit := r.Wait(); exit.CPU < before+460*time.Millisecond {
					t.Errorf("used %v when it was killed, want 500ms over %v", exit.CPU, before)
				}
			})
		}
	})
}

// TestStartFails has every way in which no process comes to be.
func TestStartFails(t *testing.T) {
	found := findPython(t)
	s := newStarter(t, found)
	workspace, err := newFolder(t).NewWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	defer workspace.Remove()
	if _, err := s.Start(workspace.Path+"/none", Environment(workspace.Path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	if _, err := s.Start(workspace.Path, []string{"A=" + strings.Repeat("x", 1<<20)}); !errors.Is(err, syscall.E2BIG) {
		t.Errorf("a huge environment: %v", err)
	}
	if _, err := s.Start(workspace.Path+"\x00", nil); err == nil {
		t.Error("a NUL in the folder: no error")
	}

	closed, err := NewStarter(t.Context(), found, Options{})
	if err != nil {
		t.Fatal(err)
	}
	closeStarter(t, closed)
	if _, err := closed.Start(workspace.Path, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

// TestNewStarterFails starts what can't be started, or can't fork.
func TestNewStarterFails(t *testing.T) {
	for name, path := range map[string]string{
		"missing":       "/none/python",
		"too long":      "/" + strings.Repeat("x", 5000),
		"no program":    "/etc/passwd",
		"always fails":  "/bin/false",
		"never answers": "",
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if path == "" {
				path = t.TempDir() + "/sleeper"
				if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700); err != nil {
					t.Fatal(err)
				}
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
				defer cancel()
			}
			s, err := NewStarter(ctx, &interpreter.Interpreter{Path: path, Code: []byte("none")}, Options{})
			if err == nil {
				closeStarter(t, s)
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), path) {
				t.Errorf("%v doesn't name the interpreter", err)
			}
		})
	}
}

// TestInterpreterGone removes the interpreter after it was found.
func TestInterpreterGone(t *testing.T) {
	folder := t.TempDir()
	link := folder + "/python3"
	found := findPython(t)
	if err := os.Symlink(found.Path, link); err != nil {
		t.Fatal(err)
	}
	linked := *found
	linked.Path = link
	eachIsolation(t, func(t *testing.T, s *Starter) {
		s = newStarter(t, &linked, s.isolation)
		moved := linked
		moved.Path = folder + "/gone"
		s.interpreter = &moved
		workspace, err := newFolder(t).NewWorkspace()
		if err != nil {
			t.Fatal(err)
		}
		defer workspace.Remove()
		p, err := s.Start(workspace.Path, Environment(workspace.Path))
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("got %v", err)
			}
			return
		}
		defer p.Close()
		<-p.Ended()
		if exit := p.Wait(); exit.Code != 127 {
			t.Errorf("got %+v, want code 127", exit)
		}
	})
}

// TestInheritedSignals starts this test binary with signals ignored and blocked,
// as a host may be, and looks at what its children have of it.
func TestInheritedSignals(t *testing.T) {
	const python = `
import os, signal, sys
for s in (signal.SIGXCPU, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, 40):
    signal.signal(s, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGXCPU, signal.SIGTERM, signal.SIGUSR1, 41])
os.execv(sys.argv[1], sys.argv[1:])`
	all := pythons.Every(t)
	command := exec.Command(all[len(all)-1], "-I", "-c", python, "/proc/self/exe", "-test.run=^(TestStart|TestExit|TestExitWhenKilled)$", "-test.v")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command.Args[4] = self
	output, err := command.CombinedOutput()
	if err != nil || !slices.Contains(strings.Split(string(output), "\n"), "PASS") || !strings.Contains(string(output), "--- PASS: TestStart") {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestManyStarters starts and closes starters beside each other.
func TestManyStarters(t *testing.T) {
	found := findPython(t)
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			s := newStarter(t, found)
			for range 3 {
				var got int
				startProgram(t, s, "return 42").returned(&got)
				if got != 42 {
					t.Errorf("got %d", got)
				}
			}
		})
	}
}

// TestEveryPython runs a program on every interpreter of the machine.
func TestEveryPython(t *testing.T) {
	pythons.Each(t, func(t *testing.T, path string) {
		found, err := interpreter.Find(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range isolations {
			s, err := NewStarter(t.Context(), found, Options{Among: []Isolation{i}})
			if err != nil {
				continue // eachIsolation skips these by name
			}
			r := startProgram(t, s, daemon("time.sleep(1000)")+"\nreturn 42")
			r.expect("ready")
			var got int
			r.returned(&got)
			if got != 42 {
				t.Errorf("got %d", got)
			}
			if exit := r.Wait(); exit.Code != 0 && exit.Code != -1 {
				t.Errorf("got %+v", exit)
			}
			r.checkGone()
			closeStarter(t, s)
		}
	})
}

// TestRailEnds has a program close its end, and one that leaves its end to others.
func TestRailEnds(t *testing.T) {
	s := newStarter(t, findPython(t))
	r := startProgram(t, s, "import os, time\nos.close(3)\ntime.sleep(1000)")
	if line, err := r.lines.ReadBytes('\n'); err == nil {
		t.Errorf("read %q from a closed rail", line)
	}
	r.Wait()
	if _, err := r.Rail.Write(wire.Append(nil, &wire.Run{})); err == nil {
		t.Error("writing to a child that is gone: no error")
	}
}
