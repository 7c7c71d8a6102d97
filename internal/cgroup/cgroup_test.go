//go:build linux

package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// open returns a host's group, in a group of the test's own so that others who are
// testing at the same time see nothing of it.
func open(t *testing.T) *Host {
	t.Helper()
	h, err := openBelow(parent(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return h
}

func parent(t *testing.T) string {
	t.Helper()
	own, err := ownGroup("/proc/self/cgroup", "/proc/self/mountinfo")
	if err != nil {
		t.Skipf("needs cgroup v2: %v", err)
	}
	path, err := os.MkdirTemp(own, "test-thirdrail-")
	if err != nil {
		t.Skipf("needs a cgroup v2 that this user may write: %v", err)
	}
	t.Cleanup(func() {
		if err := removeTree(path); err != nil {
			t.Errorf("removing the test's group: %v", err)
		}
	})
	return path
}

func take(t *testing.T, h *Host, limits Limits) *Group {
	t.Helper()
	g, err := h.Take(limits)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// startIn starts a shell in a group.
func startIn(t *testing.T, g *Group, script string) *exec.Cmd {
	t.Helper()
	command := exec.Command("/bin/sh", "-c", script)
	command.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command
}

// TestGroup starts processes in a group, kills them and uses it again.
func TestGroup(t *testing.T) {
	h := open(t)
	g := take(t, h, Limits{})
	command := startIn(t, g, "sleep 600 & (setsid sleep 600 &) ; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; kill -STOP $$")
	if got := memberOf(t, command.Process.Pid); !strings.HasSuffix(got, strings.TrimPrefix(g.folder.Name(), "/sys/fs/cgroup")) && !strings.Contains(g.folder.Name(), got) {
		t.Errorf("the process is in %q, want %q", got, g.folder.Name())
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(command.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("got %v, %v", status, err)
	}
	if cpu, ok := g.CPU(); !ok || cpu <= 0 || cpu > time.Minute {
		t.Errorf("CPU is %v, %t", cpu, ok)
	}
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err == nil || command.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the process ended by %v", command.ProcessState)
	}
	again := take(t, h, Limits{})
	if again != g {
		t.Error("the empty group is not used again")
	}
	if usage, err := again.Usage(); err != nil || usage != (Usage{}) {
		t.Errorf("a fresh group has used %+v, %v", usage, err)
	}
	other := take(t, h, Limits{})
	if other == again {
		t.Error("two runs have one group")
	}
	for _, g := range []*Group{again, other} {
		if err := g.Release(); err != nil {
			t.Error(err)
		}
	}
}

func memberOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			return strings.TrimSpace(path)
		}
	}
	t.Fatalf("no group of version 2 in %q", text)
	return ""
}

// TestAdd moves a process that was started elsewhere.
func TestAdd(t *testing.T) {
	h := open(t)
	g := take(t, h, Limits{})
	command := exec.Command("/bin/sleep", "600")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Add(command.Process.Pid); err != nil {
		t.Error(err)
	}
	if err := g.Release(); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); err == nil {
		t.Error("the process was not killed")
	}
}

// TestRemovedGroups has somebody else remove what is empty.
func TestRemovedGroups(t *testing.T) {
	h := open(t)
	g := take(t, h, Limits{})
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	mustRemove := func(path string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	mustRemove(g.folder.Name())
	g = take(t, h, Limits{})
	command := startIn(t, g, "exit 0")
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	mustRemove(g.folder.Name())
	if err := g.Release(); err == nil {
		t.Error("a group that is gone was released without an error")
	}
	mustRemove(h.Path())
	g = take(t, h, Limits{})
	if err := g.Release(); err != nil {
		t.Error(err)
	}
}

// TestNoMoreGroups has a machine that lets nobody make another group.
func TestNoMoreGroups(t *testing.T) {
	h := open(t)
	if err := write(h.parent, "cgroup.max.descendants", "1"); err != nil {
		t.Fatal(err)
	}
	if g, err := h.Take(Limits{}); g != nil || err == nil || !strings.Contains(err.Error(), h.Path()) {
		t.Errorf("got %v, %v", g, err)
	}
}

// TestSweep leaves groups as killed hosts do, beside those of living ones.
func TestSweep(t *testing.T) {
	living := open(t)
	dead, err := openBelow(living.parent)
	if err != nil {
		t.Fatal(err)
	}
	g := take(t, dead, Limits{})
	stays := startIn(t, take(t, living, Limits{}), "sleep 600")
	ends := startIn(t, g, "sleep 600")
	aside := filepath.Join(living.parent, leafName(1))
	if err := errors.Join(os.Mkdir(aside, 0o755), dead.lock.Close(), g.folder.Close()); err != nil {
		t.Fatal(err)
	}
	next, err := openBelow(living.parent)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if err := ends.Wait(); err == nil {
		t.Error("what ran under the dead host lives")
	}
	for _, path := range []string{dead.path, aside} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	if err := syscall.Kill(stays.Process.Pid, 0); err != nil {
		t.Errorf("the living host's run: %v", err)
	}
	_ = stays.Process.Kill()
	_ = stays.Wait()
}

// offeredControllers returns controllers that groups made below this process's own
// have, if need be one that is handed down for the time of the test.
func offeredControllers(t *testing.T) []string {
	t.Helper()
	own, err := ownGroup("/proc/self/cgroup", "/proc/self/mountinfo")
	if err != nil {
		t.Skipf("needs cgroup v2: %v", err)
	}
	if names := readWords(own, "cgroup.subtree_control"); len(names) > 0 {
		return names
	}
	for _, name := range readWords(own, "cgroup.controllers") {
		if write(own, "cgroup.subtree_control", "+"+name) == nil {
			t.Cleanup(func() {
				if err := write(own, "cgroup.subtree_control", "-"+name); err != nil {
					t.Errorf("taking back what was handed down: %v", err)
				}
			})
			return []string{name}
		}
	}
	t.Skip("needs a controller in cgroup v2 that may be handed down")
	return nil
}

// TestMovesAside is the only process in a group that was delegated to it. Any
// controller shows how the kernel deals with that.
func TestMovesAside(t *testing.T) {
	offered := offeredControllers(t)
	path := parent(t)
	if slices.Contains(readWords(filepath.Dir(path), "cgroup.procs"), strconv.Itoa(os.Getpid())) && unix.Setxattr(path, "trusted.delegate", []byte("1"), 0) != nil && !delegated(path) {
		t.Skip("needs the right to mark a group as delegated")
	}
	saved := wanted
	wanted = offered[:1]
	defer func() { wanted = saved }()
	sleeper := exec.Command("/bin/sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	pid := sleeper.Process.Pid
	if err := write(path, "cgroup.procs", strconv.Itoa(pid)); err != nil {
		t.Fatal(err)
	}
	if write(path, "cgroup.subtree_control", "+"+wanted[0]) == nil {
		t.Skip("needs a kernel that refuses controllers beside processes")
	}
	enable(path, pid+1) // another process is in it: nothing is moved
	if got := readWords(path, "cgroup.subtree_control"); len(got) > 0 {
		t.Errorf("handed down %q", got)
	}
	enable(path, pid)
	if got := readWords(path, "cgroup.subtree_control"); !slices.Equal(got, wanted) {
		t.Errorf("handed down %q, want %q", got, wanted)
	}
	leaf := filepath.Join(path, leafName(pid))
	if got := readWords(leaf, "cgroup.procs"); !slices.Equal(got, []string{strconv.Itoa(pid)}) {
		t.Errorf("the group aside has %q", got)
	}
	if got := chooseParent(leaf); got != path {
		t.Errorf("the next host would use %s, want %s", got, path)
	}
	sweep(path) // never ends a host that has moved aside
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("sweeping: %v", err)
	}
	h, err := openBelow(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(h.Controllers(), wanted) {
		t.Errorf("controllers %q, want %q", h.Controllers(), wanted)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func BenchmarkTake(b *testing.B) {
	own, err := ownGroup("/proc/self/cgroup", "/proc/self/mountinfo")
	if err != nil {
		b.Skip(err)
	}
	h, err := openBelow(own)
	if err != nil {
		b.Skip(err)
	}
	defer h.Close()
	for name, use := range map[string]func(*Group) error{
		"used again": (*Group).Release,
		"made anew":  func(g *Group) error { g.discard(); return nil },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				g, err := h.Take(Limits{})
				if err != nil {
					b.Fatal(err)
				}
				if err := use(g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
