//go:build linux

package thirdrail

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// victims are the processes of a child that can be killed or stopped: all that
// descends from this process, which in these tests is one child.
func victims(which string) []int {
	var keepers, programs []int
	all := everybody()
	own, _ := os.Readlink("/proc/self/exe")
	for _, k := range all {
		// One that is still this program holds up the thread that forked it until
		// it executes another, and is no child of ours yet.
		if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", k.pid)); !k.alive || err != nil || program == own {
			continue
		}
		if k.parent == os.Getpid() {
			keepers = append(keepers, k.pid)
		} else if all[k.parent].parent == os.Getpid() {
			programs = append(programs, k.pid)
		}
	}
	switch which {
	case "keeper":
		return keepers
	case "program":
		return programs
	default:
		return append(keepers, programs...)
	}
}

func signalAll(pids []int, number syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, number)
	}
}

// runSignalled runs a program, and at each line that it prints sends a signal to those
// victims.
func runSignalled(t *testing.T, rt *Runtime, program string, limits Limits, which string, number syscall.Signal) *Result {
	t.Helper()
	result, err := rt.Run(t.Context(), Request{Program: program, Namespaces: testNamespaces(), Limits: limits, OnLog: func(string) {
		found := victims(which)
		if len(found) == 0 {
			t.Error("there is nothing to signal: this test sees nothing")
		}
		signalAll(found, number)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestKilledChild kills a child's program or its keeper while it runs, while it
// waits for a call, and when it has said that it is done.
func TestKilledChild(t *testing.T) {
	for _, which := range []string{"program", "keeper", "both"} {
		for _, c := range []struct{ name, program string }{
			{"running", "print('up')\nwhile True: pass"},
			{"sleeping", "import time\nprint('up')\ntime.sleep(600)"},
			{"in a call", "print('up')\nawait tools.slow()"},
			{"with threads", "import threading, time\nfor i in range(8): threading.Thread(target=time.sleep, args=(600,)).start()\nprint('up')\ntime.sleep(600)"},
		} {
			t.Run(which+", "+c.name, func(t *testing.T) {
				leavesNothing(t)
				rt := newSpawning(t, Config{})
				result := runSignalled(t, rt, c.program, Limits{}, which, syscall.SIGKILL)
				if kindOf(result) != WorkerExit || !strings.Contains(result.Failure.Message, "SIGKILL") {
					t.Errorf("%v; want a worker-exit that names SIGKILL", result.Err())
				}
				worksAgain(t, rt)
			})
		}
	}
}

// TestKilledChildAtAnyTime kills what there is of a child a little later each time,
// from its start to its end.
func TestKilledChildAtAnyTime(t *testing.T) {
	leavesNothing(t)
	rt := newSpawning(t, Config{})
	killed := 0
	for i := range 40 {
		which := []string{"program", "keeper"}[i%2]
		timer := time.AfterFunc(time.Duration(i/2)*5*time.Millisecond, func() { signalAll(victims(which), syscall.SIGKILL) })
		result := run1(t, rt, stageProgram, Limits{})
		timer.Stop()
		switch f := result.Failure; {
		case f == nil && result.Value.String() == "1":
		case f != nil && f.Kind == WorkerExit:
			killed++
		default:
			t.Errorf("%s killed after %d ms: %v, %v", which, i/2*5, result.Value, result.Err())
		}
	}
	if killed == 0 {
		t.Error("no run was hit: this test sees nothing")
	}
	worksAgain(t, rt)
}

// TestStoppedChild stops a child, or what keeps it, for longer than its wall limit.
func TestStoppedChild(t *testing.T) {
	for _, which := range []string{"program", "keeper", "both"} {
		for name, program := range map[string]string{
			"running": "print('up')\nwhile True: pass", "in a call": "print('up')\nawait tools.slow()",
		} {
			t.Run(which+", "+name, func(t *testing.T) {
				leavesNothing(t)
				rt := newSpawning(t, Config{})
				result := runSignalled(t, rt, program, Limits{Wall: 2 * time.Second}, which, syscall.SIGSTOP)
				if kindOf(result) != Timeout || !strings.Contains(result.Failure.Message, "wall") {
					t.Errorf("%v; want a timeout for the wall limit", result.Err())
				}
				worksAgain(t, rt)
			})
		}
	}
}

// TestStoppedInBoot stops a child before it is ready: the limit of the start ends it.
func TestStoppedInBoot(t *testing.T) {
	leavesNothing(t)
	rt := newSpawning(t, Config{})
	rt.startLimit = time.Second
	stop := make(chan struct{})
	stopped := make(chan int)
	go func() {
		total := 0
		for {
			select {
			case <-stop:
				stopped <- total
				return
			default:
				found := victims("both")
				signalAll(found, syscall.SIGSTOP)
				total += len(found)
			}
		}
	}()
	result := run1(t, rt, "return 1", Limits{})
	close(stop)
	if <-stopped == 0 || kindOf(result) != WorkerExit || !strings.Contains(result.Failure.Message, "took longer than 1s") {
		t.Errorf("%v, want a worker-exit that took longer than 1s", result.Err())
	}
	rt.startLimit = startLimit
	worksAgain(t, rt)
}

// halfClosed are ways to shut one direction of descriptor 3, or both, and what
// comes of what the program does then.
var halfClosed = []struct {
	how, then string
	kind      FailureKind
}{
	{"SHUT_WR", "return 1", WorkerExit},
	{"SHUT_WR", "await tools.echo(1)", WorkerExit},
	{"SHUT_WR", "import time\ntime.sleep(600)", WorkerExit},
	{"SHUT_WR", "while True: pass", WorkerExit},
	{"SHUT_RDWR", "return 1", WorkerExit},
	{"SHUT_RDWR", "await tools.echo(1)", WorkerExit},
	{"SHUT_RDWR", "import time\ntime.sleep(600)", WorkerExit},
	{"SHUT_RD", "await tools.echo(1)", WorkerExit},
	{"SHUT_RD", "return 1", ""}, // nothing that it needed is gone
	{"SHUT_RD", "import time\ntime.sleep(600)", Timeout},
}

// TestHalfClosedRail has programs shut descriptor 3, by the C library, since the
// module socket looks at more than a confined program may.
func TestHalfClosedRail(t *testing.T) {
	for _, sandbox := range []testSandbox{confined, unconfined} {
		t.Run(fmt.Sprint(testSandboxes[sandbox].Mode), func(t *testing.T) {
			leavesNothing(t)
			rt := newSpawning(t, Config{Sandbox: testSandboxes[sandbox]})
			for _, c := range halfClosed {
				how := map[string]int{"SHUT_RD": 0, "SHUT_WR": 1, "SHUT_RDWR": 2}[c.how]
				program := fmt.Sprintf("import ctypes\nassert ctypes.CDLL(None).shutdown(3, %d) == 0\n%s", how, c.then)
				result := run1(t, rt, program, Limits{Wall: 3 * time.Second})
				if kind := kindOf(result); kind != c.kind {
					t.Errorf("%s, then %q: %v, want %q", c.how, c.then, result.Err(), c.kind)
				}
				worksAgain(t, rt)
			}
		})
	}
}

func kindOf(result *Result) FailureKind {
	if result.Failure == nil {
		return ""
	}
	return result.Failure.Kind
}

// TestFullWorkspace fills the workspace with bytes, and with files. The program is
// told so by an OSError, and can go on.
func TestFullWorkspace(t *testing.T) {
	leavesNothing(t)
	rt := newSpawning(t, Config{})
	if !rt.confinement.plan.HasRoot() {
		t.Skip("needs a mount namespace: without an own root the workspace's size has no limit")
	}
	limits := Limits{DiskBytes: 4 << 20}
	for name, program := range map[string]string{
		"bytes":     "f = open('f', 'wb', buffering=0)\nwhile True: f.write(bytes(1 << 16))",
		"several":   "for i in range(100):\n    with open('f%d' % i, 'wb') as f: f.write(bytes(1 << 20))",
		"files":     "for i in range(1000000): open('f%d' % i, 'w').close()",
		"folders":   "import os\nfor i in range(1000000): os.mkdir('d%d' % i)",
		"links":     "import os\nfor i in range(1000000): os.symlink('x' * 1000, 'l%d' % i)",
		"temporary": "import tempfile\nkeep = []\nwhile True:\n    keep.append(tempfile.NamedTemporaryFile())\n    keep[-1].write(bytes(1 << 16))",
	} {
		result := run1(t, rt, program, limits)
		f := result.Failure
		if f == nil || f.Kind != Exception || !strings.Contains(f.Message, "OSError: [Errno ") {
			t.Errorf("%s: %v, want an exception that is an OSError", name, result.Err())
		}
		indented := "    " + strings.ReplaceAll(program, "\n", "\n    ")
		result = run1(t, rt, "try:\n"+indented+"\nexcept OSError: pass\nreturn await tools.add(a=41)", limits)
		if result.Value.String() != "42" {
			t.Errorf("%s, and on: %v", name, result.Err())
		}
		worksAgain(t, rt)
	}
}

// TestUnusableTemporaryFolder has folders for temporary files that nothing can be
// made in. New and Run say so in one line, and work when that is over.
func TestUnusableTemporaryFolder(t *testing.T) {
	oneLine := func(what string, err error, path string) {
		t.Helper()
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want one line that names %s", what, err, path)
		}
	}
	for name, spoil := range map[string]func(t *testing.T, rt *Runtime, path string) (mend func()){
		"gone":      gone,
		"read-only": readOnly,
		"full":      filled,
		"no inodes": withoutInodes,
	} {
		t.Run(name, func(t *testing.T) {
			temporary := filepath.Join(leavesNothing(t), "mount")
			must(t, os.Mkdir(temporary, 0o700))
			mountMemory(t, temporary)
			t.Setenv("TMPDIR", temporary)
			rt := newSpawning(t, Config{})
			mend := spoil(t, rt, temporary)
			_, err := New(t.Context(), Config{Python: rt.interpreter.Path})
			oneLine("New", err, temporary)
			if name != "full" { // a folder takes no block of this file system
				result := run1(t, rt, "return 1", Limits{})
				oneLine("Run", result.Err(), temporary)
			}
			mend()
			worksAgain(t, rt)
			must(t, rt.Close())
		})
	}
}

// mountMemory mounts a small file system that ends with the test.
func mountMemory(t *testing.T, path string) {
	t.Helper()
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, "size=64k,nr_inodes=64"); err != nil {
		t.Skipf("needs the right to mount a file system that can be filled: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(path, 0); err != nil {
			t.Errorf("unmounting: %v", err)
		}
		must(t, os.Remove(path))
	})
}

// gone has a runtime whose folder is no longer where it was, as when somebody tidies
// up /tmp.
func gone(t *testing.T, rt *Runtime, path string) func() {
	t.Setenv("TMPDIR", path+"/none")
	must(t, os.Rename(rt.folder.Path(), path+"/moved"))
	return func() {
		t.Setenv("TMPDIR", path)
		must(t, os.Rename(path+"/moved", rt.folder.Path()))
	}
}

// readOnly mounts what can't be written over the folder.
func readOnly(t *testing.T, _ *Runtime, path string) func() {
	must(t, unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY, ""))
	return func() { must(t, unix.Unmount(path, 0)) }
}

func filled(t *testing.T, _ *Runtime, path string) func() {
	big := filepath.Join(path, "big")
	_ = os.WriteFile(big, make([]byte, 1<<20), 0o600)
	return func() { must(t, os.Remove(big)) }
}

func withoutInodes(t *testing.T, _ *Runtime, path string) func() {
	var made []string
	for i := 0; ; i++ {
		name := filepath.Join(path, fmt.Sprintf("f%d", i))
		file, err := os.Create(name)
		if err != nil {
			break
		}
		must(t, file.Close())
		made = append(made, name)
	}
	return func() {
		for _, name := range made {
			must(t, os.Remove(name))
		}
	}
}
