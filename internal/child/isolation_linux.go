package child

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes returns how the keeper is started: in a session of its own, so that
// no terminal signal reaches it, and ended by the kernel when the host ends.
func (i Isolation) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	switch i {
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

// probeIsolation starts the interpreter in each kind of namespace and takes the
// first that works.
func (s *Starter) probeIsolation(ctx context.Context) Isolation {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return ProcessGroup
	}
	defer null.Close()
	for _, i := range []Isolation{PIDNamespace, UserPIDNamespace} {
		if s.canIsolate(ctx, i, null) {
			return i
		}
	}
	return ProcessGroup
}

// canIsolate tells whether a process in i is the first of its namespace, and may
// fork there.
func (s *Starter) canIsolate(ctx context.Context, i Isolation, null *os.File) bool {
	const program = "import posix\n" +
		"p = posix.fork()\n" +
		"if p == 0: posix._exit(0)\n" +
		"posix._exit(0 if posix.getpid() == 1 and posix.waitpid(p, 0)[1] == 0 else 1)"
	process, err := s.startProcess(
		[]string{s.interpreter.Path, "-I", "-S", "-c", program},
		&os.ProcAttr{Env: []string{}, Files: []*os.File{null, null, null}, Sys: i.attributes()},
	)
	if err != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = process.Kill() })
	defer stop()
	state, err := process.Wait()
	return err == nil && state.Success()
}

// killRest ends the keeper and everything that descends from it.
func (i Isolation) killRest(keeper *os.Process) {
	if !i.ownNamespace() {
		sweep(keeper.Pid)
	}
	_ = keeper.Kill()
}

// sweep kills all descendants of a subreaper. As long as it lives, none of them
// can leave its tree. Each round first stops what it finds, so that a process
// that forks all the time is caught between two forks.
func sweep(keeper int) {
	for round := 0; round < 1000; round++ {
		found := descendants(keeper)
		if len(found) == 0 {
			return
		}
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

// descendants returns the living processes below a process, from /proc.
func descendants(root int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if stat, ok := readStat(pid); ok && stat.state != 'Z' {
			children[stat.parent] = append(children[stat.parent], pid)
		}
	}
	var found []int
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		found = append(found, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
	}
	slices.Sort(found)
	return found
}

// stat is what is needed of /proc/PID/stat, see proc_pid_stat(5).
type stat struct {
	state  byte
	parent int
	cpu    time.Duration // its own and that of its children that were waited for
}

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
	if !ok || len(fields) < 15 {
		return stat{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
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
	return stat{fields[0][0], parent, time.Duration(ticks) * clockTick}, true
}

// CPU returns the CPU time that the child's living processes have used, with that
// of their ended children, as the kernel counts it: in steps of 10 ms. It is 0
// where it can't be told.
func (p *Process) CPU() time.Duration {
	var total time.Duration
	for _, pid := range p.programs() {
		if stat, ok := readStat(pid); ok {
			total += stat.cpu
		}
	}
	return total
}

// programs returns the processes right below the keeper: the program's, and
// orphans that came to the keeper.
func (p *Process) programs() []int {
	pid := strconv.Itoa(p.keeper.Pid)
	text, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	if err != nil {
		return descendants(p.keeper.Pid) // a kernel without CONFIG_PROC_CHILDREN
	}
	var pids []int
	for _, field := range bytes.Fields(text) {
		if n, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}

// peakBytes returns the largest resident set. Linux counts it in KiB.
func peakBytes(usage *syscall.Rusage) int64 { return int64(usage.Maxrss) * 1024 }
