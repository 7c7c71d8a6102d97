//go:build linux

package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// leavers are programs that start processes which would outlive them. Each prints
// "ready" once they run.
var leavers = map[string]string{
	"none": `print("ready")`,
	"fork": `
import os, time
if os.fork() == 0:
    time.sleep(1000)
print("ready")`,
	"fork of a thread": `
import os, threading, time
def go():
    if os.fork() == 0:
        time.sleep(1000)
    time.sleep(1000)
threading.Thread(target=go, daemon=True).start()
print("ready")`,
	"daemon that holds all descriptors": daemon("time.sleep(1000)"),
	"daemon that closed all descriptors": daemon(`os.closerange(0, 100)
os.chdir("/")
time.sleep(1000)`),
	"daemon that traps every signal": daemon(`import signal
for s in range(1, signal.NSIG):
    try:
        signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
while True:
    pass`),
	"daemon whose first thread has ended": `
import ctypes, os, threading, time
read, write = os.pipe()
def goes_on():
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.001)
    os.write(write, b"x")
    time.sleep(1000)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        threading.Thread(target=goes_on).start()
        ctypes.CDLL(None).pthread_exit(None)
    os._exit(0)
os.read(read, 1)
print("ready")`,
	"daemon that stopped itself": daemon("os.kill(os.getpid(), 19)"),
	"daemons of daemons": daemon(`
for i in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
time.sleep(1000)`),
	"another program without our environment": `
import os, subprocess
subprocess.Popen(["/bin/sh", "-c", "sleep 1000; : " + os.getcwd()], env={}, cwd="/", start_new_session=True)
print("ready")`,
	"processes that fork all the time": `
import os, time
# Each generation hands on to the next and ends, on both sides of the fork.
for i in range(4):
    if os.fork() == 0:
        os.setsid()
        end = time.monotonic() + 5
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
        os._exit(0)
print("ready")`,
	"bounded fork bomb": `
import os, time
read, write = os.pipe()
for i in range(4):
    os.fork()
os.write(write, b"x")
if os.getpid() != leader:
    time.sleep(1000)
n = 0
while n < 16:
    n += len(os.read(read, 64))
print("ready")`,
}

// daemon returns a program that starts a daemon by the double fork, and goes on
// when the daemon runs.
func daemon(body string) string {
	indented := strings.ReplaceAll(body, "\n", "\n        ")
	return `
import os, time
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(write, b"x")
        ` + indented + `
    os._exit(0)
os.read(read, 1)
print("ready")`
}

// TestWaitEndsEverything ends children in the middle, and after their program.
func TestWaitEndsEverything(t *testing.T) {
	eachIsolation(t, func(t *testing.T, s *Starter) {
		for name, program := range leavers {
			program = "import os\nleader = os.getpid()\n" + program
			t.Run(name+", in the middle", func(t *testing.T) {
				r := startProgram(t, s, program+"\ntime = __import__('time')\ntime.sleep(1000)")
				r.expect("ready")
				exit := r.Wait()
				r.checkGone()
				if exit.Code != -1 {
					t.Errorf("exit code %d of a process that was killed", exit.Code)
				}
			})
			if testing.Short() {
				continue // as another user, the middle is enough
			}
			t.Run(name+", after the end", func(t *testing.T) {
				r := startProgram(t, s, program+"\nos._exit(5)")
				r.expect("ready")
				<-r.Ended()
				exit := r.Wait()
				r.checkGone()
				if exit.Code != 5 {
					t.Errorf("exit code %d, want 5", exit.Code)
				}
			})
		}
	})
}

// TestKeeperKilled has a program kill the process that would end what it leaves.
// In a namespace it can't.
func TestKeeperKilled(t *testing.T) {
	eachIsolation(t, func(t *testing.T, s *Starter) {
		r := startProgram(t, s, leavers["daemon whose first thread has ended"]+daemon("time.sleep(1000)")+`
import signal
parent = os.getppid()
for s in (9, 15, 19, 6):
    os.kill(parent, s)
print("alive")
time.sleep(1000)`)
		r.expect("ready")
		r.expect("ready")
		if s.Isolation().ownNamespace() {
			r.expect("alive")
		} else {
			<-r.Ended()
		}
		r.Wait()
		r.checkGone()
	})
}

// TestHostKilled kills a host by SIGKILL, which leaves it no chance to tidy up.
func TestHostKilled(t *testing.T) {
	found := findPython(t)
	self := "/proc/self/exe"
	eachIsolation(t, func(t *testing.T, s *Starter) {
		for _, stage := range []string{"start", "boot", "run", "daemon", "ignored"} {
			t.Run(stage, func(t *testing.T) {
				t.Parallel()
				temporary := t.TempDir()
				host := exec.Command(self)
				host.Env = append(os.Environ(), "TMPDIR="+temporary,
					fmt.Sprintf("%s=%d %s %s", hostVariable, s.Isolation(), stage, found.Path))
				host.Stderr = os.Stderr
				out, err := host.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := host.Start(); err != nil {
					t.Fatal(err)
				}
				ready := make([]byte, 6)
				if _, err := out.Read(ready); err != nil || string(ready) != "ready\n" {
					t.Errorf("the host said %q, %v", ready, err)
				}
				mark := temporary + "/thirdrail-run-"
				if len(processesWith(mark)) == 0 {
					t.Errorf("the host has no child")
				}
				if err := host.Process.Kill(); err != nil {
					t.Error(err)
				}
				_ = host.Wait()
				eventually(t, "the host's children are gone", func() bool { return len(processesWith(mark)) == 0 })
			})
		}
	})
}

// playHost starts a child and waits to be killed.
func playHost(script string) {
	var isolation Isolation
	var stage, path string
	_, err := fmt.Sscanf(script, "%d %s %s", &isolation, &stage, &path)
	giveUp := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "host:", err)
			os.Exit(1)
		}
	}
	giveUp(err)
	found, err := interpreter.Find(context.Background(), path)
	giveUp(err)
	s, err := NewStarter(context.Background(), found, Options{Among: []Isolation{isolation}})
	giveUp(err)
	folder, err := OpenFolder()
	giveUp(err)
	workspace, err := folder.NewWorkspace()
	giveUp(err)
	p, err := s.Start(workspace.Path, Environment(workspace.Path))
	giveUp(err)
	boot := wire.Append(nil, &wire.Boot{CPUSeconds: 100, AddressSpaceBytes: 1 << 30, MaxLogBytes: 1000, MaxValueBytes: 1000})
	program := map[string]string{
		"run":     "import os\nos.write(1, b'ready')\nwhile True: pass",
		"daemon":  strings.Replace(daemon("while True: pass"), `print("ready")`, `os.write(1, b'ready')`, 1) + "\ntime.sleep(1000)",
		"ignored": "import os, signal, time\nfor s in (1, 2, 13, 15): signal.signal(s, signal.SIG_IGN)\nos.write(1, b'ready')\ntime.sleep(1000)",
	}[stage]
	if stage != "start" {
		_, err = p.Rail.Write(boot)
		giveUp(err)
		_, err = p.Rail.Read(make([]byte, 100)) // boot-ack
		giveUp(err)
	}
	if program != "" {
		_, err = p.Rail.Write(wire.Append(nil, &wire.Run{Program: program}))
		giveUp(err)
		_, err = p.Stdout.Read(make([]byte, 100))
		giveUp(err)
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
	runtime.KeepAlive(p)
}

// TestUnprivileged runs these tests again as a user without rights, where the
// kernel gives other isolations.
func TestUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	const nobody = 65534
	temporary, err := os.MkdirTemp("/tmp", "thirdrail-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temporary)
	if err := os.Chown(temporary, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("/proc/self/exe", "-test.short", "-test.v", "-test.run=^Test(WaitEndsEverything|KeeperKilled|HostKilled|Start|Exit|WorkspaceRemove)$")
	command.Dir = "/"
	command.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + temporary, "TMPDIR=" + temporary, unprivilegedVariable + "=1"}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	for _, line := range []string{"--- PASS: TestWaitEndsEverything/user-and-pid-namespace", "--- PASS: TestWaitEndsEverything/process-group", "--- SKIP: TestWaitEndsEverything/pid-namespace"} {
		if !strings.Contains(string(output), line) {
			t.Errorf("no line %q in\n%s", line, output)
		}
	}
}
