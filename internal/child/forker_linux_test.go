package child

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestForker drives the forker of each architecture, see native/drive_forker.c. That it
// forks an interpreter is tested with whole runs.
func TestForker(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make PID namespaces")
	}
	for _, build := range nativeBuilds {
		t.Run(build.architecture, func(t *testing.T) {
			driver := filepath.Join(t.TempDir(), "drive_forker")
			output, err := exec.Command(build.compiler, "-O2", "-static", "-nostdlib", "-nostartfiles", "-ffreestanding",
				"-fno-stack-protector", "-fno-tree-loop-distribute-patterns", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
				"-o", driver, "native/drive_forker.c").CombinedOutput()
			if errors.Is(err, exec.ErrNotFound) {
				t.Skipf("needs %s to build what drives the forker: %v", build.compiler, err)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			// The kernel executes the holder, whatever emulates the rest.
			command := append(emulator(t, build.architecture), driver,
				"native/forker_"+build.architecture, "native/keeper_"+runtime.GOARCH)
			if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
				t.Errorf("%v (the status is that of a line of drive_forker.c)\n%s", err, output)
			}
		})
	}
}

// emulator returns what runs programs of an architecture here.
func emulator(t *testing.T, architecture string) []string {
	t.Helper()
	if architecture == runtime.GOARCH {
		return nil
	}
	path, err := exec.LookPath("qemu-" + map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[architecture])
	if err != nil {
		t.Skipf("needs qemu-user to run a program of %s: %v", architecture, err)
	}
	return []string{path}
}

// TestForkRefusal: what could not be done, why, and what to raise.
func TestForkRefusal(t *testing.T) {
	for _, c := range []struct {
		step   int64
		number syscall.Errno
		parts  []string
	}{
		{0, unix.EMFILE, []string{"receiving its files: too many open files", "raise RLIMIT_NOFILE (ulimit -n)"}},
		{1, unix.ENOSPC, []string{"unshare: no space left on device", "user.max_pid_namespaces"}},
		{3, unix.EAGAIN, []string{"fork: resource temporarily unavailable", "RLIMIT_NPROC"}},
		{3, unix.ENOMEM, []string{"fork: cannot allocate memory"}},
		{99, unix.EPERM, []string{"a step of the forker: operation not permitted"}},
		{-1, 0, []string{"a step of the forker"}},
	} {
		got := forkRefusal(c.step, int64(c.number))
		for _, part := range c.parts {
			if !strings.Contains(got, part) {
				t.Errorf("step %d, %v: %q lacks %q", c.step, c.number, got, part)
			}
		}
	}
}
