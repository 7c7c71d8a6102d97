//go:build linux

package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// ownGroups are what the kernel says of a process, and the folder that it means.
var ownGroups = []struct {
	name, cgroups, mounts, want string
}{
	{"unified", "0::/user.slice/a.scope\n", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup/user.slice/a.scope"},
	{"hybrid", "4:memory:/x\n0::/\n", "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup/unified"},
	{"part of it mounted", "0::/docker/abc/run\n", "30 23 0:26 /docker/abc /cg rw - cgroup2 cgroup rw\n", "/cg/run"},
	{"another part mounted", "0::/other\n", "30 23 0:26 /docker/abc /cg rw - cgroup2 cgroup rw\n", ""},
	{"outside of the namespace", "0::/../x\n", "30 23 0:26 / /cg rw - cgroup2 cgroup rw\n", ""},
	{"a space", "0::/\n", `30 23 0:26 / /a\040b rw - cgroup2 cgroup rw` + "\n", "/a b"},
	{"version 1", "4:memory:/x\n", "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", ""},
	{"nothing", "", "", ""},
}

func TestOwnGroup(t *testing.T) {
	for _, c := range ownGroups {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			cgroups, mounts := filepath.Join(folder, "cgroup"), filepath.Join(folder, "mountinfo")
			for path, text := range map[string]string{cgroups: c.cgroups, mounts: c.mounts} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := ownGroup(cgroups, mounts)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// TestLimits writes limits to plain files, as the machine may lack the controllers.
func TestLimits(t *testing.T) {
	files := map[string]string{
		"memory.max": "", "memory.swap.max": "", "memory.oom.group": "", "pids.max": "",
		"cgroup.events": "populated 0\nfrozen 0\n", "cpu.stat": "usage_usec 1500\nuser_usec 1\n",
		"memory.events": "low 0\noom 3\noom_kill 2\n", "pids.events": "max 7\n",
	}
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	g := &Group{host: &Host{controllers: wanted}, folder: opened}
	if err := g.begin(Limits{Memory: 64<<20 + 1, Processes: 33}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"memory.max": strconv.Itoa(64 << 20), "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "33",
	} {
		if got := readWords(folder, name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	if usage, err := g.Usage(); err != nil || usage != (Usage{}) {
		t.Errorf("got %+v, %v before anything happened", usage, err)
	}
	for name, text := range map[string]string{"cpu.stat": "usage_usec 2500\n", "memory.events": "oom_kill 3\n", "pids.events": "max 8\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if usage, err := g.Usage(); err != nil || usage != (Usage{time.Millisecond, true, true}) {
		t.Errorf("got %+v, %v", usage, err)
	}
	for _, broken := range []string{"memory.events", "pids.events", "cpu.stat", "cgroup.events"} {
		text, _ := os.ReadFile(filepath.Join(folder, broken))
		if err := os.WriteFile(filepath.Join(folder, broken), []byte("none 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := g.begin(g.limits); err == nil {
			t.Errorf("%s without its field was taken", broken)
		}
		if err := os.WriteFile(filepath.Join(folder, broken), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// What takes every write and keeps nothing is no limit.
	if err := errors.Join(os.Remove(filepath.Join(folder, "pids.max")), os.Symlink("/dev/null", filepath.Join(folder, "pids.max"))); err != nil {
		t.Fatal(err)
	}
	if err := g.begin(Limits{Memory: 1 << 20, Processes: 2}); err == nil {
		t.Error("a limit that isn't kept was taken")
	}
}
