package child

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// descendants yields the child's living processes, those left out that are ours. It
// is no snapshot: one that is born meanwhile may be missed.
func (p *Process) descendants() iter.Seq2[int, stat] { return descendants(p.life) }

func descendants(l life) iter.Seq2[int, stat] {
	return func(yield func(int, stat) bool) {
		for queue := l.tops(); len(queue) > 0; queue = queue[1:] {
			next := queue[0]
			found, ok := readStat(next.pid)
			if !ok {
				continue
			}
			if !next.ours && !yield(next.pid, found) {
				return
			}
			for _, pid := range childrenOf(next.pid) {
				queue = append(queue, top{pid: pid})
			}
		}
	}
}

// CPU returns the CPU time that the child's processes have used, those that have
// ended included and the keeper left out, as the kernel counts it: in steps of
// 10 ms. A process counts when it lives, and when its parent has waited for it. CPU
// is 0 where it can't be told.
func (p *Process) CPU() time.Duration { return cpuOf(p.life) }

func cpuOf(l life) time.Duration {
	var total time.Duration
	for _, top := range l.tops() {
		if found, ok := readStat(top.pid); ok && top.ours {
			total += found.waited
		}
	}
	for _, one := range descendants(l) {
		total += one.waited + one.own
	}
	return total
}

// Threads returns how many threads the child's processes have together.
func (p *Process) Threads() int {
	total := 0
	for _, one := range p.descendants() {
		if one.alive() {
			total += one.threads
		}
	}
	return total
}

// Memory returns what the child's processes hold in memory together. Pages that
// several of them share are told apart only when the sum is over enough, because
// that takes long: then each counts by its part. Where the host has no right to see
// the parts, pages of files count for nobody, and others for all that share them.
func (p *Process) Memory(enough int64) int64 {
	var pids []int
	var resident, own int64
	page := int64(os.Getpagesize())
	for pid := range p.descendants() {
		pids = append(pids, pid)
		fields := bytes.Fields(procFile(pid, "statm")) // size, resident, shared, …, in pages
		if len(fields) > 2 {
			all, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
			resident += all * page
			own += (all - shared) * page
		}
	}
	if resident <= enough {
		return resident
	}
	parts := int64(0)
	for _, pid := range pids {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
		if errors.Is(err, fs.ErrPermission) {
			return own
		}
		parts += kibibytes(text, "\nPss:") + kibibytes(text, "\nSwapPss:")
	}
	return parts
}

// Unlinked returns the size of the files that the child's processes have open and
// nobody can find any more. It is 0 where the host has no right to see that.
func (p *Process) Unlinked() int64 {
	total := int64(0)
	seen := map[[2]uint64]bool{}
	for pid := range p.descendants() {
		folder := "/proc/" + strconv.Itoa(pid) + "/fd/"
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			path := folder + entry.Name()
			target, err := os.Readlink(path)
			if err != nil || !strings.HasPrefix(target, p.directory+"/") {
				continue // a socket, a pipe, a file of somebody else
			}
			var file unix.Stat_t
			if unix.Stat(path, &file) == nil && file.Nlink == 0 && !seen[[2]uint64{uint64(file.Dev), file.Ino}] {
				seen[[2]uint64{uint64(file.Dev), file.Ino}] = true
				total += file.Blocks * 512
			}
		}
	}
	return total
}

// usage returns what the child's living processes have used until now.
func (p *spawned) usage() Usage {
	used := Usage{CPU: cpuOf(p)}
	for pid := range descendants(p) {
		// VmHWM is the largest resident set, see proc_pid_status(5). A process that has
		// just ended has no memory.
		used.PeakMemory = max(used.PeakMemory, kibibytes(procFile(pid, "status"), "\nVmHWM:"))
	}
	return used
}

func procFile(pid int, name string) []byte {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + name)
	return text
}

// kibibytes returns the number after a name in a text of /proc, in bytes, or 0.
func kibibytes(text []byte, name string) int64 {
	_, rest, _ := bytes.Cut(text, []byte(name))
	number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		return 0
	}
	return n * 1024
}
