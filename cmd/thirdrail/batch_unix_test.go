//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestBatchInterrupted: with one job done, one in flight and a stream that stays
// open, a signal ends the batch, and keeps what is done.
func TestBatchInterrupted(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		out := filepath.Join(t.TempDir(), "out")
		s := newSession(t, "", "batch", "-", "-o", out, "-j", "2", "--resume", "--tool", `t.tell=sh -c 'echo >"$0"; sleep 300' `+out+".mark")
		stdin := s.startWithInput()
		if _, err := io.WriteString(stdin, `{"id":1,"program":"return 1"}`+"\n"+`{"id":2,"program":"await t.tell()"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		awaitFile(t, out+".mark")
		awaitLines(t, out, 1)
		s.interrupt(signal)
		s.wait()
		s.check(exitFailure, "", "thirdrail: the batch was interrupted: "+signal.String()+" signal received; what is done is kept: go on with --resume\n")
		text, _ := os.ReadFile(out)
		if got := shortResults(t, string(text)); !slices.Equal(got, []string{"1 1"}) {
			t.Errorf("%v", got)
		}
	}
}

// startWithInput starts a session whose input is a pipe, and returns its other end.
func (s *session) startWithInput() *os.File {
	s.t.Helper()
	input, writer, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = writer.Close() })
	s.Stdin = input
	if err := s.Start(); err != nil {
		s.t.Fatal(err)
	}
	_ = input.Close()
	return writer
}

// full tells whether a pipe has no room.
func full(pipe *os.File) bool {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return false
	}
	ready := false
	err = raw.Control(func(fd uintptr) {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0)
		ready = n == 0
	})
	return err == nil && ready
}

// awaitLines waits until a file has so many lines.
func awaitLines(t *testing.T, path string, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%d lines in %s", n, path), func() bool {
		text, _ := os.ReadFile(path)
		return strings.Count(string(text), "\n") >= n
	})
}

// TestBatchKilled kills the command in the middle, twice, and resumes it: in the end
// each id is there once.
func TestBatchKilled(t *testing.T) {
	const n = 40
	var lines, want []string
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"id":%d,"program":"return data","data":%d}`, i, i))
		want = append(want, fmt.Sprintf("%d %d", i, i))
	}
	jobs, out := file(t, "jobs.jsonl", strings.Join(lines, "\n")), filepath.Join(t.TempDir(), "out")
	for _, atLeast := range []int{5, 15} {
		s := newSession(t, "", "batch", jobs, "-o", out, "--resume", "-j", "2")
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		awaitLines(t, out, atLeast)
		_ = s.Process.Kill()
		_ = s.Wait()
		s.checkGone(10 * time.Second)
	}
	s := invoke(t, "", "batch", jobs, "-o", out, "--resume", "-j", "2")
	s.check(exitSuccess, "", " had a result before")
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got := shortResults(t, string(text))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestBatchStream: results come while the input is still open, and input is read only
// as fast as jobs run: a pipe fills up behind two jobs that wait.
func TestBatchStream(t *testing.T) {
	release := filepath.Join(t.TempDir(), "release")
	s := newSession(t, "", "batch", "-", "-j", "2", "--tool", `t.wait=sh -c 'until test -e "$0"; do sleep 0.01; done; echo 1' `+release)
	s.Stdout = nil
	stdout, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := s.startWithInput()
	results := bufio.NewReader(stdout)
	if _, err := io.WriteString(stdin, `{"id":"first","program":"return 1"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := results.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"id":"first","value":1,`) {
		t.Fatalf("%q, %v", line, err)
	}
	// Two jobs that wait, and behind them more than the pipe and a buffer hold.
	const behind = 64
	written := make(chan error, 1)
	pad := strings.Repeat(" ", 16<<10)
	go func() {
		var err error
		for i := range behind + 2 {
			program := "return 1"
			if i < 2 {
				program = "return await t.wait()"
			}
			if _, err = fmt.Fprintf(stdin, `{"id":%d,"program":"%s"}%s`+"\n", i, program, pad); err != nil {
				break
			}
		}
		written <- err
	}()
	await(t, "a full pipe", func() bool { return full(stdin) })
	select {
	case err := <-written:
		t.Fatalf("a megabyte was read while two jobs wait (%v)", err)
	default:
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	_ = stdin.Close()
	rest, err := io.ReadAll(results)
	if got := jobResults(t, string(rest)); err != nil || len(got) != behind+2 {
		t.Errorf("%d results, %v", len(got), err)
	}
	s.wait()
	s.check(exitSuccess, "", fmt.Sprintf("%d succeeded\n", behind+3))
}

// TestBatchExample follows README.md and examples/README.md.
func TestBatchExample(t *testing.T) {
	command := exec.Command(binary, "batch", "examples/batch/jobs.jsonl", "--in-order")
	command.Dir = "../.."
	command.Env = newSession(t, "").Env
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.Output()
	want, wrong := os.ReadFile("../../examples/batch/results.txt")
	if wrong != nil {
		t.Fatal(wrong)
	}
	if got := strings.Join(shortResults(t, string(output)), "\n") + "\n"; got != string(want) || command.ProcessState.ExitCode() != exitFailure {
		t.Errorf("%s\n%v, %s", got, err, stderr.String())
	}
}
