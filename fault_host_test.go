//go:build linux

package thirdrail

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
)

// stages are where a host can be killed.
var stages = []struct {
	name, program string
	copies        int
	atOnce        bool // when it has begun to make the runtime
}{
	{"New", "return 1", 1, true},
	{"loop", "print('up')\nwhile True: pass", 1, false},
	{"call", "print('up')\nawait tools.slow()", 1, false},
	{"deaf", "import signal, time\nfor s in range(1, signal.NSIG):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nprint('up')\nwhile True: time.sleep(1)", 1, false},
	{"helpers", "import os, time\nfor i in range(4):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            while True: pass\n        time.sleep(600)\nprint('up')\ntime.sleep(600)", 1, false},
	{"eight runs", "print('up')\nimport time\ntime.sleep(600)", 8, false},
}

// TestKilledHost kills hosts by SIGKILL, which leaves them no chance to tidy up.
func TestKilledHost(t *testing.T) {
	python := systemPython(t)
	for _, isolation := range []child.Isolation{child.PIDNamespace, child.UserPIDNamespace, child.ProcessGroup} {
		for _, stage := range stages {
			t.Run(isolation.String()+", "+stage.name, func(t *testing.T) {
				t.Parallel()
				sandbox := Sandbox{AllowProcesses: true}
				if isolation == child.ProcessGroup {
					sandbox = Sandbox{Mode: SandboxOff}
				}
				killHost(t, hostScript{
					Config:    Config{Python: python, MaxConcurrent: 8, Sandbox: sandbox},
					Isolation: []child.Isolation{isolation},
					Program:   stage.program,
					Copies:    stage.copies,
					Stay:      true,
				}, stage.atOnce)
			})
		}
	}
	t.Run("an interpreter that hangs", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "python3")
		if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		killHost(t, hostScript{Config: Config{Python: path}, Stay: true}, true)
	})
}

// killHost kills a host when it has begun, or else when all its programs are up,
// and waits until nothing is left of it.
func killHost(t *testing.T, script hostScript, atOnce bool) {
	t.Helper()
	killHostLater(t, script, atOnce, 0)
}

func killHostLater(t *testing.T, script hostScript, atOnce bool, later time.Duration) {
	t.Helper()
	command, mark := hostCommand(t, script, 0)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() }) // also when the test fails before
	line := "up\n"
	if atOnce {
		line = "begun\n"
	}
	said := ""
	for buffer := make([]byte, 100); !strings.HasSuffix(said, line); {
		n, err := out.Read(buffer)
		if said += string(buffer[:n]); err != nil {
			t.Errorf("the host said %q, then %v", said, err)
			break
		}
	}
	time.Sleep(later) // any time will do
	kin := killAndWait(t, command)
	childless := atOnce || script.StopAt == workspaceMade || script.StopAt == atDone // yet, or already
	if !childless && len(kin.members) < 2 {
		t.Error("the host has no children: this test sees nothing")
	}
	eventually(t, "the host's processes are gone", func() bool { return len(processesWith(mark)) == 0 && len(kin.living()) == 0 })
	startsAgain(t, command, mark, script)
}

// startsAgain has another host begin where one was killed. It works, and in the end
// nothing is left of either.
func startsAgain(t *testing.T, killed *exec.Cmd, mark string, script hostScript) {
	t.Helper()
	next := hostScript{Config: Config{Python: systemPython(t), Sandbox: script.Config.Sandbox}, Program: "return 1"}
	text, err := json.Marshal(next)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(killed.Path)
	command.Dir, command.Stderr = killed.Dir, os.Stderr
	command.Env = append(slices.Clone(killed.Env), hostVariable+"="+string(text))
	if report, err := reportOfHost(command); err != nil || report.Value != "1" {
		t.Errorf("the next host: %v, %+v", err, report)
	}
	if left, err := filepath.Glob(filepath.Join(mark, "thirdrail-*")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %q, %v", left, err)
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), mark) {
		t.Errorf("a mount is left, or %v", err)
	}
}

// TestKilledConfinedHost kills a host at each stage of a run, with the default
// confinement.
func TestKilledConfinedHost(t *testing.T) {
	python := systemPython(t)
	for _, at := range runStages {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			killHost(t, hostScript{Config: Config{Python: python}, StopAt: at, Stay: true}, false)
		})
	}
}

// TestKilledInNew kills a host a little later each time after it has begun to make
// a runtime with the default confinement.
func TestKilledInNew(t *testing.T) {
	python := systemPython(t)
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			script := hostScript{Config: Config{Python: python}, Program: "return 1", Stay: true}
			killHostLater(t, script, true, time.Duration(i)*60*time.Millisecond)
		})
	}
}

// killAndWait kills a host by SIGKILL and returns the family that it had. It is
// stopped before, so that it has no child that isn't counted.
func killAndWait(t *testing.T, host *exec.Cmd) family {
	t.Helper()
	if err := host.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	eventually(t, "the host is stopped", func() bool { return !runs(host.Process.Pid) })
	kin := familyOf(host.Process.Pid)
	if err := host.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = host.Wait()
	return kin
}

// runs tells whether any thread of a process is neither stopped nor dead.
func runs(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if state := string(text[strings.LastIndexByte(string(text), ')')+1:]); err == nil && !strings.ContainsAny(state[:3], "TtZX") {
			return true
		}
	}
	return false
}

// TestFamily sees a confined child, while it lives and only then.
func TestFamily(t *testing.T) {
	rt := newRuntime(t, Config{Start: StartSpawn}) // no process of it but the child
	var seen family
	var alive []string
	result, err := rt.Run(t.Context(), Request{Program: "print('up')\nreturn await tools.add(a=1)", Namespaces: testNamespaces(), OnLog: func(string) {
		seen = familyOf(os.Getpid())
		alive = seen.living()
	}})
	if err != nil || result.Failure != nil {
		t.Fatal(err, result.Err())
	}
	if len(alive) < 2 || rt.starter.Isolation().String() == "pid-namespace" && len(seen.namespaces) == 0 {
		t.Errorf("while it ran: %q, want the keeper and the program", alive)
	}
	if left := seen.living(); len(left) > 0 {
		t.Errorf("afterwards: %q", left)
	}
}
