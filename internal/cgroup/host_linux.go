package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// prefix begins the names of the groups that hosts make for themselves.
const prefix = "thirdrail-"

// wanted are the controllers that a run's limits need. Processor time is counted
// without any.
var wanted = []string{"memory", "pids"}

// A Host is a group below which the runs of one Runtime have theirs. It is locked
// while the host lives, so that the next one can remove what a killed host left.
type Host struct {
	parent      string // where it was made
	controllers []string

	mu     sync.Mutex
	path   string
	lock   *os.File
	free   []*Group
	next   int
	closed bool
}

// Open makes a group for this host, and removes those of hosts that are gone. The
// error says what this machine doesn't give.
func Open() (*Host, error) {
	own, err := ownGroup("/proc/self/cgroup", "/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return openBelow(chooseParent(own))
}

// openBelow makes a host's group in the group parent.
func openBelow(parent string) (*Host, error) {
	sweep(parent)
	h := &Host{parent: parent}
	if err := h.make(); err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	enable(parent, os.Getpid())
	h.controllers = h.handDown()
	return h, nil
}

// handDown has the host's group hand down what it got, and returns what that is.
func (h *Host) handDown() []string {
	var names []string
	for _, name := range readWords(h.path, "cgroup.controllers") {
		if slices.Contains(wanted, name) && write(h.path, "cgroup.subtree_control", "+"+name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// restore makes the host's group again when somebody has removed it, which only an
// empty one lets happen. It must give what the first one gave.
func (h *Host) restore() error {
	old := h.lock
	if err := h.make(); err != nil {
		return err
	}
	_ = old.Close()
	if now := h.handDown(); !slices.Equal(now, h.controllers) {
		return fmt.Errorf("%s was made again and has the controllers %q, where there were %q", h.path, now, h.controllers)
	}
	return nil
}

// make makes the host's group and locks it. Another host's sweep may take it for
// one without a host in between, so it is tried more than once.
func (h *Host) make() error {
	var failed error
	for range 10 {
		path, err := os.MkdirTemp(h.parent, prefix+strconv.Itoa(os.Getpid())+"-")
		if err != nil {
			return err
		}
		lock, err := lockGroup(path)
		if err == nil {
			h.path, h.lock = path, lock
			return nil
		}
		failed = err
		_ = os.Remove(path)
	}
	return failed
}

// lockGroup locks a group that exists until it is locked.
func lockGroup(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		var opened, named os.FileInfo
		if opened, err = file.Stat(); err == nil {
			if named, err = os.Stat(path); err == nil && os.SameFile(opened, named) {
				return file, nil
			}
		}
	}
	return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), file.Close())
}

// sweep removes the groups of hosts that are gone, with all that still runs there.
func sweep(parent string) {
	paths, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, path := range paths {
		if strings.HasSuffix(path, leafSuffix) {
			_ = os.Remove(path) // it has no lock; the kernel refuses while that host lives
			continue
		}
		lock, err := lockGroup(path)
		if err != nil {
			continue // its host lives, or it is somebody else's
		}
		_ = removeTree(path)
		_ = lock.Close()
	}
}

// enable has the group parent hand down the controllers that it has itself. The
// kernel refuses that while processes are in it. If this one is the only one there,
// and the group was delegated to it, it moves to a group below.
func enable(parent string, self int) {
	var missing []string
	given := readWords(parent, "cgroup.subtree_control")
	for _, name := range readWords(parent, "cgroup.controllers") {
		if slices.Contains(wanted, name) && !slices.Contains(given, name) && write(parent, "cgroup.subtree_control", "+"+name) != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 || !delegated(parent) || !slices.Equal(readWords(parent, "cgroup.procs"), []string{strconv.Itoa(self)}) {
		return
	}
	leaf := filepath.Join(parent, leafName(self))
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return
	}
	if write(leaf, "cgroup.procs", strconv.Itoa(self)) != nil {
		_ = os.Remove(leaf)
		return
	}
	for _, name := range missing {
		_ = write(parent, "cgroup.subtree_control", "+"+name)
	}
}

// leafName is the group that a host moves itself to. It stays until that process
// ends, and is removed by the next host that is started there.
func leafName(pid int) string { return prefix + strconv.Itoa(pid) + leafSuffix }

const leafSuffix = "-host"

// delegated tells whether whoever manages a group has given it to this user: it is
// the user's own, or marked as systemd does for Delegate=yes.
func delegated(group string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		var value [1]byte
		if n, err := unix.Getxattr(group, name, value[:]); err == nil && n == 1 && value[0] == '1' {
			return true
		}
	}
	var stat unix.Stat_t
	return unix.Stat(group, &stat) == nil && stat.Uid != 0 && int(stat.Uid) == os.Geteuid()
}

// Controllers are those that limit the groups of runs: memory, pids, both or none.
func (h *Host) Controllers() []string { return h.controllers }

// Path is where the groups are.
func (h *Host) Path() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.path
}

// Close removes the groups. All that were taken must have been released. It may be
// called on nil.
func (h *Host) Close() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, g := range h.free {
		_ = g.folder.Close()
	}
	h.free = nil
	if err := errors.Join(removeTree(h.path), h.lock.Close()); err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	return nil
}

// ownGroup returns the folder of the group that this process is in.
func ownGroup(cgroups, mounts string) (string, error) {
	text, err := os.ReadFile(cgroups)
	if err != nil {
		return "", fmt.Errorf("cgroup: %w", err)
	}
	own := ""
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok && !strings.HasPrefix(path, "/..") {
			own = path // one that begins with .. lies outside of this process's cgroup namespace
		}
	}
	text, err = os.ReadFile(mounts)
	if err != nil {
		return "", fmt.Errorf("cgroup: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		// ID parent device root point options… - type source options, see proc_pid_mountinfo(5).
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") || own == "" {
			continue
		}
		if below, err := filepath.Rel(fields[3], own); err == nil && filepath.IsLocal(below) {
			return filepath.Join(unescape(fields[4]), below), nil
		}
	}
	return "", errors.New("cgroup: no cgroup2 file system with this process's group is mounted")
}

// unescape undoes the octal escapes of paths in mountinfo.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// chooseParent returns the group to make ours in: this process's own, or that above
// it where somebody has put this process aside for the purpose, as enable does.
func chooseParent(own string) string {
	above := filepath.Dir(own)
	for _, unit := range []string{".scope", ".service", ".slice"} {
		if strings.HasSuffix(own, unit) {
			return own
		}
	}
	given := readWords(above, "cgroup.subtree_control")
	if slices.ContainsFunc(wanted, func(name string) bool { return slices.Contains(given, name) }) && unix.Access(above, unix.W_OK) == nil {
		return above
	}
	return own
}
