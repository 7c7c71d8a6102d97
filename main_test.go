package thirdrail

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain fails the package when a test leaves something behind: a process of
// ours, a descriptor, a run's folder or a goroutine. The binary also plays
// children, see transcript_test.go.
func TestMain(m *testing.M) {
	if name := os.Getenv(transcriptVariable); name != "" {
		os.Exit(playChild(name))
	}
	if script := os.Getenv(hostVariable); script != "" {
		os.Exit(playHost(script))
	}
	temporary, err := os.MkdirTemp("", "thirdrail-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	_ = os.Setenv("TMPDIR", temporary) // so that leftovers of others don't count
	withoutShims()
	before := openDescriptors()
	code := m.Run()
	if code == 0 {
		code = reportLeaks(before, temporary)
	}
	_ = os.RemoveAll(temporary)
	os.Exit(code)
}

// withoutShims takes pyenv's scripts from PATH. Starting one takes the better part
// of a probe's 5 seconds on a machine that runs many tests at once.
func withoutShims() {
	paths := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(path string) bool {
		return strings.HasSuffix(path, "/.pyenv/shims")
	})
	_ = os.Setenv("PATH", strings.Join(paths, string(os.PathListSeparator)))
}

func reportLeaks(before map[string]string, temporary string) int {
	code := 0
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
	if groups := controlGroups(); len(groups) > 0 {
		leak("control groups %v", groups)
	}
	for _, process := range processesOf(filepath.Join(temporary, "thirdrail-run-")) {
		leak("process %s", process)
	}
	return code
}

// controlGroups returns those that this process has made, all of which have its number.
func controlGroups() []string {
	var found []string
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, _ fs.DirEntry, _ error) error {
		if strings.Contains(path, fmt.Sprintf("/thirdrail-%d-", os.Getpid())) {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// openDescriptors returns this process's descriptors and what they are.
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

// processesWith returns the living processes, but this one, that have text in their
// environment or on their command line.
func processesWith(text string) []string {
	var found []string
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		folder := "/proc/" + entry.Name()
		if entry.Name() == fmt.Sprint(os.Getpid()) || entry.Name() == "self" || entry.Name() == "thread-self" {
			continue
		}
		environment, _ := os.ReadFile(folder + "/environ")
		command, _ := os.ReadFile(folder + "/cmdline")
		if threads, _ := os.ReadDir(folder + "/task"); len(environment) == 0 && len(threads) > 1 {
			// The first thread has ended, and others go on.
			environment, _ = os.ReadFile(folder + "/task/" + threads[len(threads)-1].Name() + "/environ")
		}
		if bytes.Contains(environment, []byte(text)) || bytes.Contains(command, []byte(text)) {
			found = append(found, entry.Name()+" "+short(string(bytes.ReplaceAll(command, []byte{0}, []byte{' '}))))
		}
	}
	return found
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("still not so after 10 s: %s", what)
}
