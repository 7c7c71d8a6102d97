package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
)

// binary is the command, built once.
var binary string

func TestMain(m *testing.M) {
	rawserver.Main() // where a test has this binary be an MCP server
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	directory, err := os.MkdirTemp("", "thirdrail-command-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(directory)
	binary = filepath.Join(directory, "thirdrail")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the command:", err)
		return 1
	}
	return m.Run()
}

// A session is one start of the command, in a folder for temporary files of its
// own, by which its processes and files are known.
type session struct {
	*exec.Cmd
	t              *testing.T
	temp           string
	stdout, stderr bytes.Buffer
	rest           chan struct{} // closed when a pipe to stderr is read to its end
}

// newSession prepares a start of the command with stdin, a string, as its input.
func newSession(t *testing.T, stdin string, args ...string) *session {
	t.Helper()
	s := &session{Cmd: exec.Command(binary, args...), t: t, temp: t.TempDir()}
	s.Env = append(os.Environ(),
		"TMPDIR="+s.temp,
		// The interpreter itself: a shim costs time.
		"PATH="+filepath.Dir(pythons.All(t)[0])+":"+os.Getenv("PATH"),
	)
	s.Stdin = strings.NewReader(stdin)
	s.Stdout, s.Stderr = &s.stdout, &s.stderr
	return s
}

// invoke runs the command to its end.
func invoke(t *testing.T, stdin string, args ...string) *session {
	t.Helper()
	s := newSession(t, stdin, args...)
	s.run()
	return s
}

// run runs the command to its end, and checks that nothing is left of it.
func (s *session) run() {
	s.t.Helper()
	if err := s.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.wait()
}

// wait waits for the end of a started command, and checks that nothing is left.
func (s *session) wait() {
	s.t.Helper()
	kill := time.AfterFunc(time.Minute, func() { _ = s.Process.Kill() })
	if s.rest != nil {
		<-s.rest
	}
	err := s.Wait()
	if !kill.Stop() {
		s.t.Errorf("%q hung", s.Args[1:])
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	s.checkGone(0)
	s.checkNoFiles()
}

// checkGone fails if processes of the session live on for longer than patience.
// They have its folder in their environment.
func (s *session) checkGone(patience time.Duration) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		left := s.processes()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Errorf("%q left processes: %v", s.Args[1:], left)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// processes returns the command lines of the session's processes. Without /proc
// there are none.
func (s *session) processes() []string {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, path := range environments {
		environment, err := os.ReadFile(path)
		if err == nil && bytes.Contains(environment, []byte(s.temp)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			found = append(found, fmt.Sprintf("%s %.80q", path, line))
		}
	}
	return found
}

func (s *session) checkNoFiles() {
	s.t.Helper()
	entries, err := os.ReadDir(s.temp)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, entry := range entries {
		s.t.Errorf("%q left %s behind", s.Args[1:], entry.Name())
	}
}

// check compares how the command ended. Stderr need only contain its words.
func (s *session) check(status int, stdout, stderr string) {
	s.t.Helper()
	if got := s.ProcessState.ExitCode(); got != status {
		s.t.Errorf("%q: exit status %d, want %d", s.Args[1:], got, status)
	}
	if got := s.stdout.String(); got != stdout {
		s.t.Errorf("%q: stdout %.300q, want %.300q", s.Args[1:], got, stdout)
	}
	if got := s.stderr.String(); !strings.Contains(got, stderr) || stderr == "" && got != "" {
		s.t.Errorf("%q: stderr %.600q, want %q", s.Args[1:], got, stderr)
	}
}

// file returns the path of a new file with the text given.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readyLine is what a program prints to tell a test that it runs.
const readyLine = "ready\n"

// startReady starts a session and waits until its program has printed readyLine.
// What follows on stderr is collected until the end.
func (s *session) startReady() {
	s.t.Helper()
	s.Stderr = nil
	pipe, err := s.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		s.t.Fatal(err)
	}
	line := make([]byte, len(readyLine))
	if _, err := io.ReadFull(pipe, line); err != nil || string(line) != readyLine {
		rest, _ := io.ReadAll(pipe)
		s.t.Fatalf("%q: stderr begins %q (%v), then %q", s.Args[1:], line, err, rest)
	}
	s.rest = make(chan struct{})
	go func() {
		defer close(s.rest)
		_, _ = io.Copy(&s.stderr, pipe)
	}()
}

// interrupt sends a signal to the command.
func (s *session) interrupt(signal syscall.Signal) {
	s.t.Helper()
	if err := s.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
}
