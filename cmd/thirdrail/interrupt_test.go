//go:build unix

package main

import (
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
			s := newSession(t, test.program, "run", "-", "--tool", `t.hang=sh -c 'trap "" INT TERM HUP; sleep 300 & sleep 300'`)
			s.startReady()
			s.interrupt(signal)
			s.wait()
			s.check(exitFailure, "", "thirdrail: abort: the run was aborted: "+signal.String()+" signal received\n")
		})
	}
}

func TestInterruptWithJSON(t *testing.T) {
	s := newSession(t, "print('kept')\nawait t.tell()\nwhile True: pass", "run", "-", "--json", "--tool", `t.tell=sh -c 'kill -INT $PPID'`)
	s.run()
	if got := s.ProcessState.ExitCode(); got != exitFailure {
		t.Errorf("exit status %d", got)
	}
	o := jsonOutcome(t, s)
	if o.Error == nil || (*o.Error)["kind"] != "abort" || len(o.Logs) != 1 {
		t.Errorf("got %+v", o)
	}
}

// TestSecondInterrupt blocks the command in a write to a stderr that nobody reads,
// which the first signal can't end.
func TestSecondInterrupt(t *testing.T) {
	s := newSession(t, "print('ready')\nwhile True: print('x' * 1000)", "run", "-", "--log-bytes", "32MiB")
	s.Stderr = nil
	stderr, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stderr.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
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
