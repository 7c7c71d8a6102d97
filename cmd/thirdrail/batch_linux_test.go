package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBatchMemory sends 200 MiB through a batch, and looks at the most memory that
// the host had.
func TestBatchMemory(t *testing.T) {
	const jobs, size, most = 100, 2 << 20, 128 << 10 // most in KiB
	s := newSession(t, "", "batch", "-", "-j", "2", "--in-order")
	stdin := s.startWithInput()
	data := strings.Repeat("d", size)
	for i := range jobs {
		if _, err := fmt.Fprintf(stdin, `{"id":%d,"program":"return len(data)","data":"%s"}`+"\n", i, data); err != nil {
			t.Fatal(err)
		}
	}
	_ = stdin.Close()
	s.wait()
	s.check(exitSuccess, s.stdout.String(), "100 jobs in ")
	for i, got := range shortResults(t, s.stdout.String()) {
		if want := fmt.Sprintf("%d %d", i, size); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if used := s.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; used > most {
		t.Errorf("it used %d KiB, and %d are enough", used, most)
	} else {
		t.Logf("%d KiB", used)
	}
}

// pseudoTerminal returns the two ends of a terminal of 120 columns.
func pseudoTerminal(t *testing.T) (screen, end *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine has no pseudo terminals: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	end, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no /dev/pts: %v", err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 120}); err != nil {
		t.Fatal(err)
	}
	return screen, end
}

// TestBatchOnATerminal: there is a bar with all that it promises, messages stand above
// it, and it gives way to the summary.
func TestBatchOnATerminal(t *testing.T) {
	screen, end := pseudoTerminal(t)
	release := t.TempDir() + "/release"
	jobs := file(t, "jobs.jsonl", `{"id":1,"program":"1/0"}
no job
{"id":2,"program":"return await t.wait()"}
`)
	s := newSession(t, "", "batch", jobs, "-j", "1", "--tool", `t.wait=sh -c 'until test -e "$0"; do sleep 0.01; done; echo 1' `+release)
	s.Stderr = end
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	_ = end.Close()
	var shown strings.Builder
	piece := make([]byte, 4096)
	const bar = "2 done, "
	for !strings.Contains(shown.String(), bar) {
		n, err := screen.Read(piece)
		if err != nil {
			t.Fatalf("%v after %q", err, shown.String())
		}
		shown.Write(piece[:n])
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for {
		n, err := screen.Read(piece) // EIO when the other end is closed
		shown.Write(piece[:n])
		if err != nil {
			break
		}
	}
	s.wait()
	text := shown.String()
	for _, part := range []string{"failed: 1 exception, 1 invalid-job", "s left", "[=", "/s, ", "thirdrail: line 2: the line is not a JSON object"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
	if last := text[strings.LastIndex(text, "thirdrail: "):]; !strings.Contains(last, ": 1 succeeded, 2 failed (1 exception, 1 invalid-job)\r\n") || strings.Contains(last, "done") {
		t.Errorf("it ends %q", last)
	}
	if got := s.ProcessState.ExitCode(); got != exitFailure || s.stdout.Len() == 0 {
		t.Errorf("exit status %d", got)
	}
}
