//go:build linux || darwin

package thirdrail

import (
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const supported = true

// hostLimits are limits of this process that hold for its children too, see
// getrlimit(2). A zero field is no limit.
type hostLimits struct {
	cpu       time.Duration // of each process
	memory    int64         // bytes of address space of each process
	files     int64         // that this process may have open
	processes int64         // of this user
	fileSize  int64         // bytes of each file that is written
}

func readHostLimits() hostLimits {
	return hostLimits{
		cpu:       time.Duration(min(softLimit(unix.RLIMIT_CPU), int64(math.MaxInt64/time.Second))) * time.Second,
		memory:    softLimit(unix.RLIMIT_AS),
		files:     softLimit(unix.RLIMIT_NOFILE),
		processes: softLimit(unix.RLIMIT_NPROC),
		fileSize:  softLimit(unix.RLIMIT_FSIZE),
	}
}

// softLimit returns the limit that is in force, or 0 if there is none. A limit of
// nothing at all is told as 1, which is as little use.
func softLimit(which int) int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(which, &limit); err != nil || limit.Cur > math.MaxInt64 {
		return 0
	}
	return max(int64(limit.Cur), 1)
}

// What a run takes of the files that this process may have open: four pipes and
// sockets with both ends while it starts, its process, and what removing its
// folder needs. The host needs some itself.
const (
	filesPerRun  = 14
	filesForHost = 16
)

// runsByFiles returns how many runs the limit of open files allows at once. It is
// less than one when there are too few for any.
func (h hostLimits) runsByFiles() int64 {
	if h.files == 0 {
		return math.MaxInt64
	}
	open, _ := os.ReadDir("/dev/fd")
	return (h.files - int64(len(open)) - filesForHost) / filesPerRun
}

// hint names the limits that are so low that starting an interpreter may have
// failed for them. It is empty, or goes on from an error's text.
func (h hostLimits) hint() string {
	var low []string
	if h.memory > 0 && h.memory < 1<<30 {
		low = append(low, fmt.Sprintf("%d bytes of address space (RLIMIT_AS, ulimit -v)", h.memory))
	}
	if h.processes > 0 && h.processes < 1<<10 && os.Getuid() != 0 {
		low = append(low, fmt.Sprintf("%d processes of this user (RLIMIT_NPROC, ulimit -u)", h.processes))
	}
	if h.files > 0 && h.files < 64 {
		low = append(low, fmt.Sprintf("%d open files (RLIMIT_NOFILE, ulimit -n)", h.files))
	}
	if h.cpu > 0 && h.cpu < 2*time.Second {
		low = append(low, fmt.Sprintf("%v of CPU time (RLIMIT_CPU, ulimit -t)", h.cpu))
	}
	if h.fileSize > 0 && h.fileSize < 1<<20 {
		low = append(low, fmt.Sprintf("%d bytes a file (RLIMIT_FSIZE, ulimit -f)", h.fileSize))
	}
	if len(low) == 0 {
		return ""
	}
	return "; this process is limited to " + strings.Join(low, " and ") + ", which may be too little"
}
