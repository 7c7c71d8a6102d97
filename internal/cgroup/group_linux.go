package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Group is the group of one run. Making one takes the better part of a
// millisecond, so an empty one is given to a later run.
type Group struct {
	host   *Host
	folder *os.File
	limits Limits
	before counters // what other runs had used
}

// counters only grow.
type counters struct {
	cpu               time.Duration
	memory, processes int64
}

// emptyLimit bounds how long processes that were killed may take to be gone. One
// that is stuck in the kernel stays longer.
const emptyLimit = 5 * time.Second

// Take returns an empty group with limits. Without a controller its limit is left
// out, see Controllers. The caller must call Release.
func (h *Host) Take(limits Limits) (*Group, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.free) > 0 {
		g := h.free[len(h.free)-1]
		h.free = h.free[:len(h.free)-1]
		if g.begin(limits) == nil {
			return g, nil
		}
		g.discard() // somebody removed or changed it
	}
	g, err := h.newGroup(limits)
	if errors.Is(err, fs.ErrNotExist) {
		if err = h.restore(); err == nil {
			g, err = h.newGroup(limits)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return g, nil
}

func (h *Host) newGroup(limits Limits) (*Group, error) {
	path := filepath.Join(h.path, "run-"+strconv.Itoa(h.next))
	h.next++
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, err
	}
	folder, err := os.Open(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	g := &Group{host: h, folder: folder}
	if err := g.begin(limits); err != nil {
		g.discard()
		return nil, err
	}
	return g, nil
}

// begin sets the limits and the counters for the next run.
func (g *Group) begin(limits Limits) error {
	if err := g.limit(limits); err != nil {
		return err
	}
	if populated, err := g.populated(); err != nil {
		return err
	} else if populated {
		return errors.New("the group isn't empty")
	}
	g.before = counters{}
	now, err := g.count()
	g.before = now
	return err
}

// limit writes what has changed, and reads it back: a file that takes what is
// written to it and does nothing would be no limit.
func (g *Group) limit(limits Limits) error {
	if limits == g.limits {
		return nil
	}
	g.limits = Limits{} // until all is written
	if slices.Contains(g.host.controllers, "memory") && limits.Memory > 0 {
		// Swap is missing where the machine has none, and oom.group before Linux 4.19.
		for name, value := range map[string]string{"memory.swap.max": "0", "memory.oom.group": "1"} {
			if err := g.write(name, value); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		page := int64(os.Getpagesize())
		if err := g.writeLimit("memory.max", limits.Memory/page*page); err != nil {
			return err
		}
	}
	if slices.Contains(g.host.controllers, "pids") && limits.Processes > 0 {
		if err := g.writeLimit("pids.max", limits.Processes); err != nil {
			return err
		}
	}
	g.limits = limits
	return nil
}

func (g *Group) writeLimit(name string, value int64) error {
	text := strconv.FormatInt(value, 10)
	if err := g.write(name, text); err != nil {
		return err
	}
	got, err := g.read(name)
	if err == nil && strings.TrimSpace(string(got)) != text {
		err = fmt.Errorf("%s is %q after %s was written", g.path(name), bytes.TrimSpace(got), text)
	}
	return err
}

// FD is the group as a descriptor, for CLONE_INTO_CGROUP.
func (g *Group) FD() int { return int(g.folder.Fd()) }

// Add moves a process with all its threads into the group.
func (g *Group) Add(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// CPU returns the time that the run has used, and false where it can't be told.
func (g *Group) CPU() (time.Duration, bool) {
	text, err := g.read("cpu.stat")
	value, ok := field(text, "usage_usec")
	return time.Duration(value)*time.Microsecond - g.before.cpu, err == nil && ok
}

// Usage returns what the run has used.
func (g *Group) Usage() (Usage, error) {
	now, err := g.count()
	return Usage{
		CPU:       now.cpu - g.before.cpu,
		Memory:    now.memory > g.before.memory,
		Processes: now.processes > g.before.processes,
	}, err
}

func (g *Group) count() (counters, error) {
	var now counters
	for _, c := range []struct {
		controller, file, field string
		set                     func(int64)
	}{
		{"", "cpu.stat", "usage_usec", func(n int64) { now.cpu = time.Duration(n) * time.Microsecond }},
		{"memory", "memory.events", "oom_kill", func(n int64) { now.memory = n }},
		{"pids", "pids.events", "max", func(n int64) { now.processes = n }},
	} {
		if c.controller != "" && !slices.Contains(g.host.controllers, c.controller) {
			continue
		}
		text, err := g.read(c.file)
		if err != nil {
			return now, err
		}
		value, ok := field(text, c.field)
		if !ok {
			return now, fmt.Errorf("%s has no %s", g.path(c.file), c.field)
		}
		c.set(value)
	}
	return now, nil
}

// Kill ends every process in the group at once. Kernels before Linux 5.14 can't.
func (g *Group) Kill() error { return g.write("cgroup.kill", "1") }

// Release ends what is left of the run and gives the group back. An error means
// that the group couldn't be emptied, or is gone.
func (g *Group) Release() error {
	err := g.empty()
	h := g.host
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil && !h.closed {
		h.free = append(h.free, g)
		return nil
	}
	g.discard()
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	return nil
}

// empty kills what is in the group and waits until it is gone.
func (g *Group) empty() error {
	populated, err := g.populated()
	if err != nil || !populated {
		return err
	}
	if err := g.Kill(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	events, err := g.open("cgroup.events", os.O_RDONLY)
	if err != nil {
		return err
	}
	defer events.Close()
	for end := time.Now().Add(emptyLimit); ; {
		// Reading first arms the poll: it returns when the file has changed since.
		text := make([]byte, 256)
		n, err := unix.Pread(int(events.Fd()), text, 0)
		if err != nil {
			return err
		}
		if value, ok := field(text[:n], "populated"); ok && value == 0 {
			return nil
		}
		left := time.Until(end)
		if left <= 0 {
			return fmt.Errorf("%s still has processes %v after they were killed", g.folder.Name(), emptyLimit)
		}
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(events.Fd()), Events: unix.POLLPRI}}, int(left.Milliseconds())+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// discard removes the group, if that can be done.
func (g *Group) discard() {
	_ = os.Remove(g.folder.Name())
	_ = g.folder.Close()
}

func (g *Group) populated() (bool, error) {
	text, err := g.read("cgroup.events")
	value, ok := field(text, "populated")
	if err == nil && !ok {
		err = fmt.Errorf("%s has no field populated", g.path("cgroup.events"))
	}
	return value != 0, err
}
