//go:build linux

package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// hostVariable makes this test binary play a host that will be killed: it names
// the isolation, the stage and the interpreter.
const hostVariable = "THIRDRAIL_TEST_HOST"

// TestMain fails the package when a test leaves a process, a descriptor, a run's
// folder or a goroutine.
func TestMain(m *testing.M) {
	if script := os.Getenv(hostVariable); script != "" {
		playHost(script)
	}
	temporary, err := os.MkdirTemp("", "thirdrail-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	_ = os.Setenv("TMPDIR", temporary) // so that leftovers of others don't count
	before := openDescriptors()
	code := m.Run()
	leak := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "left behind: "+format+"\n", args...)
		code = 1
	}
	if err := goleak.Find(); err != nil {
		leak("%v", err)
	}
	for fd, target := range openDescriptors() {
		if _, ok := before[fd]; !ok && !strings.HasPrefix(target, "anon_inode:") {
			leak("descriptor %s: %s", fd, target)
		}
	}
	if paths, _ := filepath.Glob(filepath.Join(temporary, "thirdrail-run-*")); len(paths) > 0 {
		leak("folders %v", paths)
	}
	for _, process := range processesWith(filepath.Join(temporary, "thirdrail-run-")) {
		leak("process %s", process)
	}
	_ = os.RemoveAll(temporary)
	os.Exit(code)
}

func openDescriptors() map[string]string {
	found := map[string]string{}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range entries {
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err == nil && !strings.HasPrefix(target, "/proc/") {
			found[entry.Name()] = target
		}
	}
	return found
}

// processesWith returns the living processes that have text in their environment
// or on their command line.
func processesWith(text string) []string {
	var found []string
	for pid := range allProcesses() {
		// Dead processes, which wait for their parents, have neither.
		environment, command := ofAnyThread(pid, "environ"), ofAnyThread(pid, "cmdline")
		if pid == os.Getpid() {
			continue
		}
		if bytes.Contains(environment, []byte(text)) || bytes.Contains(command, []byte(text)) {
			found = append(found, fmt.Sprintf("%d %q", pid, command))
		}
	}
	return found
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("still not so after 20 s: %s", what)
}

// unprivilegedVariable is set in a run of these tests as a user without rights.
const unprivilegedVariable = "THIRDRAIL_TEST_UNPRIVILEGED"

// eachIsolation runs test with each isolation that this machine gives this user.
func eachIsolation(t *testing.T, test func(t *testing.T, s *Starter)) {
	t.Helper()
	found := findPython(t)
	for _, i := range isolations {
		t.Run(i.String(), func(t *testing.T) {
			t.Parallel()
			s, err := NewStarter(t.Context(), found, Options{Among: []Isolation{i}})
			if err != nil {
				t.Skipf("this machine doesn't give this user a %v: %v", i, err)
			}
			t.Cleanup(func() { closeStarter(t, s) })
			test(t, s)
		})
	}
}

func findPython(t *testing.T) *interpreter.Interpreter {
	t.Helper()
	all := pythons.Every(t)
	found, err := interpreter.Find(t.Context(), all[len(all)-1])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func newStarter(t *testing.T, i *interpreter.Interpreter, among ...Isolation) *Starter {
	t.Helper()
	s, err := NewStarter(context.Background(), i, Options{Among: among})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStarter(t, s) })
	return s
}

func closeStarter(t *testing.T, s *Starter) {
	if err := s.Close(); err != nil {
		t.Errorf("closing the starter: %v", err)
	}
}

// running is a child that was sent a program.
type running struct {
	*Process
	t         testing.TB
	workspace *Workspace
	lines     *bufio.Reader
}

// startProgram starts a child and sends it a program. Whatever is left of it is
// removed when the test ends.
func startProgram(t testing.TB, s *Starter, program string) *running {
	t.Helper()
	workspace, err := newFolder(t).NewWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Start(workspace.Path, Environment(workspace.Path))
	if err != nil {
		t.Fatal(err)
	}
	r := &running{p, t, workspace, bufio.NewReader(p.Rail)}
	t.Cleanup(r.clear)
	if err := p.Rail.SetDeadline(time.Now().Add(60 * time.Second)); err != nil {
		t.Fatal(err)
	}
	r.send(&wire.Boot{CPUSeconds: 60, AddressSpaceBytes: 2 << 30, MaxLogBytes: 1 << 20, MaxValueBytes: 1 << 20, OpenLogs: true})
	if frame := r.next(); frame.FrameType() != "boot-ack" {
		t.Fatalf("the first frame is %q", frame.FrameType())
	}
	r.send(&wire.Run{Program: program})
	return r
}

func (r *running) send(frame wire.Frame) {
	r.t.Helper()
	if _, err := r.Rail.Write(wire.Append(nil, frame)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) next() wire.Frame {
	r.t.Helper()
	line, err := r.lines.ReadBytes('\n')
	if err != nil {
		r.t.Fatalf("reading a frame: %v; stderr %q", err, r.said())
	}
	frame, err := wire.DecodeChild(line[:len(line)-1])
	if err != nil {
		r.t.Fatalf("%q: %v", line, err)
	}
	return frame
}

// said ends the child and returns what it wrote to descriptor 2.
func (r *running) said() string {
	r.Wait()
	text := make([]byte, 64<<10)
	n, _ := r.Stderr.Read(text)
	return string(text[:n])
}

// printed returns the next line that the program prints, joined from its pieces.
func (r *running) printed() string {
	r.t.Helper()
	line := ""
	for {
		switch frame := r.next().(type) {
		case *wire.Log:
			line += frame.Text
			if !frame.Open {
				return line
			}
		case *wire.Done:
			if frame.Error != nil {
				r.t.Fatalf("the program failed: %s", frame.Error.Message)
			}
			r.t.Fatalf("the program returned %s", frame.Value)
		default:
			r.t.Fatalf("unexpected %s frame", frame.FrameType())
		}
	}
}

// expect waits for a line.
func (r *running) expect(line string) {
	r.t.Helper()
	if got := r.printed(); got != line {
		r.t.Fatalf("the program printed %q, want %q", got, line)
	}
}

// returned waits for the program's value, and decodes it.
func (r *running) returned(into any) {
	r.t.Helper()
	done, ok := r.next().(*wire.Done)
	if !ok || done.Error != nil {
		r.t.Fatalf("no value: %+v", done)
	}
	if err := json.Unmarshal(done.Value.Bytes(), into); err != nil {
		r.t.Fatal(err)
	}
}

// clear ends the child and fails the test if anything is left.
func (r *running) clear() {
	r.t.Helper()
	r.Wait()
	r.checkGone()
	if err := r.Close(); err != nil {
		r.t.Error(err)
	}
	if err := r.workspace.Remove(); err != nil {
		r.t.Error(err)
	}
}

func (r *running) checkGone() {
	r.t.Helper()
	if left := processesWith(r.workspace.Path); len(left) > 0 {
		r.t.Errorf("left behind: %v", left)
	}
}
