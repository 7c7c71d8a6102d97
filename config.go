package thirdrail

import (
	"fmt"
	"log/slog"
	"math"
	goruntime "runtime"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// Config says how a Runtime starts and limits its children. The zero value works.
type Config struct {
	// Python is the interpreter: a path, or a name to look up on PATH. Empty
	// means python3, then python. It is found once, by New.
	Python string
	// Start is how children are started. The zero value is StartAuto.
	Start StartMethod
	// Spares is how many children are forked ahead at most; 0 means one for each
	// processor and one more. They wait while runs come, and end when none do.
	Spares int
	// Preload names modules that the fork start method imports once for all runs.
	// New refuses one that is not there, starts threads or leaves a descriptor open. A
	// generator of random numbers that one makes is seeded anew for each run.
	Preload []string
	// Numbers is the number profile of all values. The zero value is lossless.Exact.
	Numbers lossless.Numbers
	// Limits are what a run inherits where its Request has zeros.
	Limits Limits
	// Sandbox is how a program is confined.
	Sandbox Sandbox
	// MaxConcurrent is how many runs go on at once; more wait in order. Zero means
	// four times GOMAXPROCS. No more than that start at the same time. For a thousand
	// the host may need a higher limit of open files; Logger tells.
	MaxConcurrent int
	// Logger gets what the caller should know and no run can tell, such as limits
	// of the host that are below those asked for. Nil means no logging.
	Logger *slog.Logger
}

// StartMethod is how a child comes to life.
type StartMethod int

const (
	// StartAuto takes StartFork where it works, and else StartSpawn.
	StartAuto StartMethod = iota
	// StartFork forks a warm interpreter that has never run a program. It needs
	// Linux, and namespaces for processes and mounts.
	StartFork
	// StartSpawn starts a new interpreter for each run.
	StartSpawn
)

// String names the method as the command's flag --start does.
func (m StartMethod) String() string {
	switch m {
	case StartAuto:
		return "auto"
	case StartFork:
		return "fork"
	case StartSpawn:
		return "spawn"
	default:
		return fmt.Sprintf("StartMethod(%d)", int(m))
	}
}

// Limits bound one run. A zero field inherits: that of a Request from Config, that
// of Config from the default.
type Limits struct {
	// Wall is the time from sending the program to its end; 60 s. Starting the
	// interpreter has a limit of its own, 10 s.
	Wall time.Duration
	// CPU is processor time, without that of the start; 30 s. The kernel's own
	// limit is in whole seconds and rounds it up.
	CPU time.Duration
	// Memory is the address space, in bytes, beyond what a bare child maps; 1 GiB.
	Memory int64
	// LogBytes is the size of all log entries as a compact JSON array; 256 KiB.
	LogBytes int64
	// ValueBytes is the canonical size of the value; 1 MiB.
	ValueBytes int64
	// FrameBytes is the longest line that either side may send; 64 MiB.
	FrameBytes int64
	// CallsInFlight is how many calls of bindings run at once; 64. The program may
	// start more, they wait.
	CallsInFlight int
	// Processes is how many processes and threads a program may have where
	// Sandbox.AllowProcesses lets it have several; 32.
	Processes int
	// DiskBytes is the size of the workspace, and of one file elsewhere, in bytes;
	// 256 MiB. It holds where programs are confined.
	DiskBytes int64
}

// DefaultLimits returns what a run gets when neither Config nor Request say more.
func DefaultLimits() Limits {
	return Limits{
		Wall:          60 * time.Second,
		CPU:           30 * time.Second,
		Memory:        1 << 30,
		LogBytes:      256 << 10,
		ValueBytes:    1 << 20,
		FrameBytes:    64 << 20,
		CallsInFlight: 64,
		Processes:     32,
		DiskBytes:     256 << 20,
	}
}

// envelopeBytes is what a frame may need beside its value or text.
const envelopeBytes = 4 << 10

// inherit returns l with the zero fields taken from base.
func (l Limits) inherit(base Limits) Limits {
	return Limits{
		Wall:          inherited(l.Wall, base.Wall),
		CPU:           inherited(l.CPU, base.CPU),
		Memory:        inherited(l.Memory, base.Memory),
		LogBytes:      inherited(l.LogBytes, base.LogBytes),
		ValueBytes:    inherited(l.ValueBytes, base.ValueBytes),
		FrameBytes:    inherited(l.FrameBytes, base.FrameBytes),
		CallsInFlight: inherited(l.CallsInFlight, base.CallsInFlight),
		Processes:     inherited(l.Processes, base.Processes),
		DiskBytes:     inherited(l.DiskBytes, base.DiskBytes),
	}
}

func inherited[T comparable](own, base T) T {
	var zero T
	if own == zero {
		return base
	}
	return own
}

// check refuses limits that can't be kept. Every field is set.
func (l Limits) check() error {
	fields := []struct {
		name  string
		value int64
	}{
		{"Wall", int64(l.Wall)},
		{"CPU", int64(l.CPU)},
		{"Memory", l.Memory},
		{"LogBytes", l.LogBytes},
		{"ValueBytes", l.ValueBytes},
		{"FrameBytes", l.FrameBytes},
		{"CallsInFlight", int64(l.CallsInFlight)},
		{"Processes", int64(l.Processes)},
		{"DiskBytes", l.DiskBytes},
	}
	for _, f := range fields {
		if f.value < 0 {
			return misuse("Limits.%s is %d; it must be more than zero, or zero to inherit", f.name, f.value)
		}
	}
	for _, f := range fields[2:] {
		if f.value > wire.MaxInteger {
			return misuse("Limits.%s is %d; at most %d (2^53-1) crosses exactly", f.name, f.value, int64(wire.MaxInteger))
		}
	}
	if l.FrameBytes > math.MaxInt-1 || l.FrameBytes <= envelopeBytes {
		return misuse("Limits.FrameBytes is %d; it must be over %d", l.FrameBytes, envelopeBytes)
	}
	return l.checkBudgets()
}

// checkBudgets refuses budgets that their own frames can't hold.
func (l Limits) checkBudgets() error {
	marker := wire.LogTruncationMarker(l.LogBytes)
	if least, _ := lossless.StringSize(marker, math.MaxInt); l.LogBytes < int64(least) {
		return misuse("Limits.LogBytes is %d; the notice that logs were cut needs %d", l.LogBytes, least)
	}
	most := l.FrameBytes - envelopeBytes
	if l.LogBytes > most {
		return misuse("Limits.LogBytes is %d; with FrameBytes %d it can be at most %d", l.LogBytes, l.FrameBytes, most)
	}
	if l.ValueBytes > most {
		return misuse("Limits.ValueBytes is %d; with FrameBytes %d it can be at most %d", l.ValueBytes, l.FrameBytes, most)
	}
	return nil
}

// cpuSeconds returns CPU as the wire has it: whole seconds, rounded up.
func (l Limits) cpuSeconds() int64 {
	seconds := int64(l.CPU / time.Second)
	if l.CPU%time.Second != 0 {
		seconds++
	}
	return seconds
}

// spares returns how many children are forked ahead at most.
func (c Config) spares() int {
	if c.Spares == 0 {
		return goruntime.GOMAXPROCS(0) + 1
	}
	return c.Spares
}
