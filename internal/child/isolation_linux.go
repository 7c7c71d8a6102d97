package child

import (
	"bytes"
	"iter"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes returns how the keeper is started: in a session of its own, so that
// no terminal signal reaches it, and told by the kernel when the host ends. In a
// namespace its death ends all others. A subreaper has to end them first, so it
// gets a signal that it can catch (start.py).
func (i Isolation) attributes() *syscall.SysProcAttr {
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
	return attr
}

// isolations are what this system has, the best first.
var isolations = []Isolation{PIDNamespace, UserPIDNamespace, ProcessGroup}

// killRest ends the keeper and everything that came from it.
func (p *Process) killRest() {
	if !p.isolation.ownNamespace() {
		sweep(func() []int { return p.descendants() })
	}
	_ = p.keeper.Kill()
}

// sweep kills all processes that find finds, until it finds none. Each round first
// stops them, so that a process that forks all the time is caught between two
// forks. Reading /proc is no snapshot: a process can be born behind the reader
// and outlive its parent. So one look that finds nothing isn't enough.
func sweep(find func() []int) {
	const looks = 3
	empty := 0
	for round := 0; round < 1000 && empty < looks; round++ {
		found := find()
		if len(found) == 0 {
			empty++
			continue
		}
		empty = 0
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if round > 3 {
			time.Sleep(time.Millisecond) // zombies wait for the keeper to reap them
		}
	}
}

// descendants returns the living processes below the keeper, from /proc. As long
// as the keeper lives, nothing can leave its tree. A program may kill it, though:
// what is left then is known by the environment that it was started with.
func (p *Process) descendants() []int {
	children := map[int][]int{}
	var strays []int
	for pid := range allProcesses() {
		stat, ok := readStat(pid)
		if !ok || !stat.alive() {
			continue
		}
		children[stat.parent] = append(children[stat.parent], pid)
		if pid != p.keeper.Pid && p.marks(pid) {
			strays = append(strays, pid)
		}
	}
	var found []int
	for queue := append(strays, p.keeper.Pid); len(queue) > 0; queue = queue[1:] {
		found = append(found, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
	}
	found = append(found, strays...)
	slices.Sort(found)
	return slices.Compact(found)
}

// marks tells whether a process was started with the environment of this child,
// whose folder no other child has.
func (p *Process) marks(pid int) bool {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && p.directory != "" && bytes.Contains(environment, []byte("="+p.directory+"\x00"))
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
	parent  int
	threads int
	cpu     time.Duration // its own and that of its children that were waited for
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
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return stat{}, false
	}
	threads, err := strconv.Atoi(string(fields[17]))
	if err != nil {
		return stat{}, false
	}
	var ticks int64
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return stat{}, false
		}
		ticks += n
	}
	return stat{fields[0][0], parent, threads, time.Duration(ticks) * clockTick}, true
}

// CPU returns the CPU time that the child's processes have used, the keeper and
// those that have ended included, as the kernel counts it: in steps of 10 ms. A
// process counts when it lives, and when its parent has waited for it. CPU is 0
// where it can't be told.
func (p *Process) CPU() time.Duration {
	var total time.Duration
	for queue := []int{p.keeper.Pid}; len(queue) > 0; queue = queue[1:] {
		if stat, ok := readStat(queue[0]); ok {
			total += stat.cpu
			queue = append(queue, childrenOf(queue[0])...)
		}
	}
	return total
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

// usage returns what the child's living processes have used until now.
func (p *Process) usage() Usage {
	used := Usage{CPU: p.CPU()}
	for _, program := range childrenOf(p.keeper.Pid) {
		used.PeakMemory = max(used.PeakMemory, peakMemory(program))
	}
	return used
}

// peakMemory returns the largest resident set that a process has had: VmHWM of
// /proc/PID/status, see proc_pid_status(5).
func peakMemory(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte("\nVmHWM:"))
	number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	kibibytes, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		return 0 // a process that has just ended has no memory
	}
	return kibibytes * 1024
}
