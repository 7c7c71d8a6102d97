//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// busy lists programs that are at work, each in another way, when a signal comes.
var busy = []struct{ name, program string }{
	{"computing", "print('ready')\nwhile True: pass"},
	{"sleeping", "import time\nprint('ready')\ntime.sleep(300)"},
	{"in a loop of events", "import asyncio\nprint('ready')\nawait asyncio.sleep(300)"},
	{"deaf to signals", "import signal, time\nfor s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\nprint('ready')\ntime.sleep(300)"},
	{"awaiting a tool", "print('ready')\nawait t.hang()"},
	{"with processes of its own", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(300)\n    os._exit(0)\nos.wait()\nprint('ready')\ntime.sleep(300)"},
}

func TestInterrupt(t *testing.T) {
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	for i, test := range busy {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			signal := signals[i%len(signals)]
			s := newSession(t, test.program, "run", "-", "--allow-processes", "--tool", `t.hang=sh -c 'trap "" INT TERM HUP; sleep 300 & sleep 300'`)
			s.startReady()
			s.interrupt(signal)
			s.wait()
			s.check(exitFailure, "", "thirdrail: abort: the run was aborted: "+signal.String()+" signal received\n")
		})
	}
}

func TestInterruptWithJSON(t *testing.T) {
	s := newSession(t, "print('kept')\nawait t.tell()", "run", "-", "--json", "--tool", `t.tell=sh -c 'kill -INT $PPID; sleep 300'`)
	s.run()
	if got := s.ProcessState.ExitCode(); got != exitFailure {
		t.Errorf("exit status %d", got)
	}
	o := jsonOutcome(t, s)
	if o.Error == nil || (*o.Error)["kind"] != "abort" || len(o.Logs) != 1 {
		t.Errorf("got %+v", o)
	}
}

// TestSecondInterrupt blocks the command in a write to a stderr that is full and
// that nobody reads, which the first signal can't end.
func TestSecondInterrupt(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	s := newSession(t, "import time\nprint('x')\nopen(data, 'w').close()\ntime.sleep(300)", "run", "-", "--allow-write", filepath.Dir(mark),
		"--data", file(t, "data.json", `"`+mark+`"`))
	s.Stderr = fullPipe(t)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	awaitFile(t, mark)
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	sent := 0
	for deadline := time.After(30 * time.Second); ; {
		select {
		case <-ended:
		case <-deadline:
			_ = s.Process.Kill()
			t.Fatal("it takes more than a second signal")
		case <-time.After(20 * time.Millisecond):
			sent++
			_ = s.Process.Signal(syscall.SIGINT)
			continue
		}
		break
	}
	status := s.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGINT || sent < 2 {
		t.Errorf("ended with %v after %d signals", s.ProcessState, sent)
	}
	s.checkGone(10 * time.Second)
}

// fullPipe returns the end for writing of a pipe that has no room. The other end
// stays open until the test is over.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		t.Fatal(err)
	}
	reader, writer := os.NewFile(uintptr(ends[0]), "reader"), os.NewFile(uintptr(ends[1]), "writer")
	t.Cleanup(func() { _, _ = reader.Close(), writer.Close() })
	syscall.CloseOnExec(ends[0])
	syscall.CloseOnExec(ends[1])
	if err := syscall.SetNonblock(ends[1], true); err != nil {
		t.Fatal(err)
	}
	for piece := make([]byte, 4096); len(piece) > 0; {
		if _, err := syscall.Write(ends[1], piece); err != nil {
			piece = piece[:len(piece)/2] // to the last byte
		}
	}
	if err := syscall.SetNonblock(ends[1], false); err != nil {
		t.Fatal(err)
	}
	return writer
}

// awaitFile waits until a program has made a file.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	await(t, path, func() bool { _, err := os.Stat(path); return err == nil })
}

// await waits until something has come about.
func await(t *testing.T, what string, come func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !come(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s never came about", what)
		}
	}
}

func TestInterruptWhileReading(t *testing.T) {
	s := newSession(t, "", "run", "-")
	s.Stdin = nil
	stdin, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte(strings.Repeat("#", 1<<20))); err != nil {
		t.Fatal(err) // it is past its start when so much was read
	}
	s.interrupt(syscall.SIGINT)
	s.wait()
	if status := s.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("ended with %v", s.ProcessState)
	}
}
