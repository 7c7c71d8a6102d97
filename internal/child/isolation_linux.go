package child

import (
	"bytes"
	"iter"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes returns how the keeper is started: in a session of its own, so that
// no terminal signal reaches it, and told by the kernel when the host ends. In a
// namespace its death ends all others. A subreaper has to end them first, so it
// gets a signal that it can catch (start.py).
func (i Isolation) attributes(also Namespaces) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	switch i {
	case ProcessGroup:
		attr.Pdeathsig = syscall.SIGTERM
	case PIDNamespace:
		attr.Cloneflags = unix.CLONE_NEWPID
	case UserPIDNamespace:
		attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID
		// The same user inside as outside, and nobody else.
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	if i.ownNamespace() && also.Mounts {
		attr.Cloneflags |= unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
		// Executing the interpreter takes the rights in a user namespace from
		// everybody but its user 0.
		if i == UserPIDNamespace && os.Getuid() != 0 {
			attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
		}
	}
	if i.ownNamespace() && also.Network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	return attr
}

// joinGroup has a process start in a control group.
func joinGroup(attr *syscall.SysProcAttr, group int) {
	attr.UseCgroupFD, attr.CgroupFD = true, group
}

// isolations are what this system has, the best first.
var isolations = []Isolation{PIDNamespace, UserPIDNamespace, ProcessGroup}

// killRest ends the keeper and everything that came from it.
func (p *spawned) killRest() {
	if !p.isolation.ownNamespace() {
		p.sweep()
		// In a wrapper the subreaper is a child of the keeper's place, and what it had
		// adopted has left the tree when it was killed.
		if p.wrapped || p.keeperWasKilled() {
			p.killStrays()
		}
	}
	_ = p.keeper.Kill()
}

// sweepLimit bounds a sweep. Only a program that leaves its session at every fork
// and is lucky each time could need it.
const sweepLimit = 5 * time.Second

// sweep kills all that descends from a subreaper. What loses its parent becomes a
// child of the subreaper at that very moment, so the tree is gone when there is no
// child, and killing the children gets at all others in turn. Groups are killed as
// a whole, which the kernel does between two forks: a chain of processes of which
// each forks the next and ends can't be met one by one.
func (p *spawned) sweep() {
	zombies := 0 // looks in a row that found nothing else
	for end := time.Now().Add(sweepLimit); zombies < 3 && time.Now().Before(end); {
		children := childrenOf(p.keeper.Pid)
		if len(children) == 0 {
			return
		}
		zombies++
		for _, pid := range children {
			if stat, ok := readStat(pid); ok && stat.alive() {
				zombies = 0
				if stat.group != p.keeper.Pid {
					_ = syscall.Kill(-stat.group, syscall.SIGKILL)
				}
				_ = syscall.Kill(pid, syscall.SIGKILL)
			} else if !ok {
				zombies = 0
			}
		}
		time.Sleep(100 * time.Microsecond) // dying takes a while
	}
}

// keeperWasKilled tells whether the keeper has died already, and not by itself,
// which it does only when nothing is left.
func (p *spawned) keeperWasKilled() bool {
	const exited = 1 // CLD_EXITED
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, p.keeper.Pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0 && info.Code != exited
}

// killStrays kills what is left when the program has killed the keeper. It is
// known by the environment that it was started with, which a program can hide.
func (p *spawned) killStrays() {
	const looks = 3 // reading /proc is no snapshot
	for empty, end := 0, time.Now().Add(sweepLimit); empty < looks && time.Now().Before(end); {
		empty++
		for pid := range allProcesses() {
			if !p.marks(pid) {
				continue
			}
			if stat, ok := readStat(pid); ok && stat.alive() && pid != p.keeper.Pid {
				empty = 0
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// marks tells whether a process was started with the environment of this child,
// whose folder no other child has.
func (p *spawned) marks(pid int) bool {
	return p.directory != "" && bytes.Contains(ofAnyThread(pid, "environ"), []byte("="+p.directory+"\x00"))
}

// ofAnyThread returns a file of a process in /proc. Where the first thread has
// ended, those of the others still tell.
func ofAnyThread(pid int, name string) []byte {
	folder := "/proc/" + strconv.Itoa(pid) + "/"
	text, _ := os.ReadFile(folder + name)
	if len(text) > 0 {
		return text
	}
	threads, _ := os.ReadDir(folder + "task")
	for _, thread := range threads {
		if text, _ = os.ReadFile(folder + "task/" + thread.Name() + "/" + name); len(text) > 0 {
			break
		}
	}
	return text
}

// allProcesses yields the numbers in /proc.
func allProcesses() iter.Seq[int] {
	return func(yield func(int) bool) {
		entries, _ := os.ReadDir("/proc")
		for _, entry := range entries {
			if pid, err := strconv.Atoi(entry.Name()); err == nil && !yield(pid) {
				return
			}
		}
	}
}

// stat is what is needed of /proc/PID/stat, see proc_pid_stat(5).
type stat struct {
	state   byte
	group   int
	threads int
	own     time.Duration // CPU time
	waited  time.Duration // that of its children that were waited for
}

// alive tells whether anything of the process runs. One whose first thread has
// ended looks like a zombie while its other threads go on.
func (s stat) alive() bool { return s.state != 'Z' || s.threads > 1 }

// clockTick is the unit of times in /proc/PID/stat: USER_HZ is 100 on every
// architecture that Go runs on.
const clockTick = time.Second / 100

func readStat(pid int) (stat, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The name in parentheses may hold anything, also a parenthesis.
	_, rest, ok := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 18 {
		return stat{}, false
	}
	var numbers [18]int64
	for _, i := range []int{2, 11, 12, 13, 14, 17} { // pgrp, utime, stime, cutime, cstime, num_threads
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil {
			return stat{}, false
		}
		numbers[i] = n
	}
	return stat{
		state:   fields[0][0],
		group:   int(numbers[2]),
		threads: int(numbers[17]),
		own:     time.Duration(numbers[11]+numbers[12]) * clockTick,
		waited:  time.Duration(numbers[13]+numbers[14]) * clockTick,
	}, true
}

// childrenOf returns the children of all threads of a process. A kernel without
// CONFIG_PROC_CHILDREN can't tell.
func childrenOf(pid int) []int {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	entries, _ := os.ReadDir(tasks)
	var pids []int
	for _, entry := range entries {
		text, err := os.ReadFile(tasks + entry.Name() + "/children")
		if err != nil {
			continue
		}
		for _, field := range bytes.Fields(text) {
			if n, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}
