//go:build linux

package thirdrail

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const useUpCPU = "import os, time\nprint('up')\nwhile True: pass"

// lowLimits are limits of the host, and what comes of them.
var lowLimits = []struct {
	name    string
	rlimits map[int]uint64
	user    int
	config  Config
	program string
	check   func(hostReport) bool
	tight   bool // too tight for a host with the race detector, which needs more itself
}{
	{
		name: "files", rlimits: map[int]uint64{unix.RLIMIT_NOFILE: 256}, config: Config{MaxConcurrent: 1000}, program: "return 1",
		check: func(r hostReport) bool {
			return r.Value == "1" && r.Places > 2 && r.Places < 20 && strings.Count(r.Warnings, "RLIMIT_NOFILE") == 1
		},
	},
	{
		name: "hardly any files", rlimits: map[int]uint64{unix.RLIMIT_NOFILE: 24},
		check: func(r hostReport) bool { return strings.Contains(r.NewError, "RLIMIT_NOFILE") },
	},
	{
		name: "cpu", rlimits: map[int]uint64{unix.RLIMIT_CPU: 2}, program: useUpCPU,
		tight: true,
		check: func(r hostReport) bool {
			return r.Kind == Timeout && strings.Contains(r.Message, "CPU time limit of 2s") && strings.Count(r.Warnings, "RLIMIT_CPU") == 1
		},
	},
	{
		name: "cpu, and more asked for", rlimits: map[int]uint64{unix.RLIMIT_CPU: 50}, config: Config{Limits: Limits{CPU: 1 << 62}},
		program: "import resource\nreturn list(resource.getrlimit(resource.RLIMIT_CPU))",
		check:   func(r hostReport) bool { return r.Value == "[50,50]" },
	},
	{
		name: "address space", rlimits: map[int]uint64{unix.RLIMIT_AS: 2 << 30}, config: Config{Limits: Limits{Memory: 8 << 30}},
		program: "import resource\ntry: x = bytearray(3 << 30)\nexcept MemoryError: pass\nreturn list(resource.getrlimit(resource.RLIMIT_AS))",
		tight:   true,
		check: func(r hostReport) bool {
			return r.Value == "[2147483648,2147483648]" && strings.Count(r.Warnings, "RLIMIT_AS") == 1
		},
	},
	{
		name: "processes", user: lonely, rlimits: map[int]uint64{unix.RLIMIT_NPROC: 40}, program: "return 1",
		check: func(r hostReport) bool { return r.Value == "1" },
	},
	{
		name: "no file may be written", rlimits: map[int]uint64{unix.RLIMIT_FSIZE: 0},
		check: refusedFor("RLIMIT_FSIZE"),
	},
	{
		name: "hardly any file size", rlimits: map[int]uint64{unix.RLIMIT_FSIZE: 4 << 10},
		check: refusedFor("RLIMIT_FSIZE"),
	},
	{
		name: "file size", rlimits: map[int]uint64{unix.RLIMIT_FSIZE: 1 << 20},
		program: "try:\n    open('f', 'wb').write(bytes(2 << 20))\nexcept OSError as e:\n    return [e.errno, await tools.add(a=1)]",
		check:   func(r hostReport) bool { return r.Value == "[27,2]" },
	},
	{
		name: "no core files anyway", rlimits: map[int]uint64{unix.RLIMIT_CORE: 1 << 30},
		program: "import resource\nreturn list(resource.getrlimit(resource.RLIMIT_CORE))",
		check:   func(r hostReport) bool { return r.Value == "[0,0]" },
	},
}

// lonely is a user without rights whose processes are those of one test only: the limit
// counts all of a user, and other packages' tests have some of nobody's.
const lonely = nobody - 1

// refusedFor tells whether New refused in one line that names the limit.
func refusedFor(limit string) func(hostReport) bool {
	return func(r hostReport) bool {
		return strings.Contains(r.NewError, limit) && !strings.Contains(r.NewError, "\n")
	}
}

// TestHint names the limits that may be why an interpreter didn't start. A host with
// hardly any processes or address space can't be had: Go itself wouldn't start.
func TestHint(t *testing.T) {
	for want, h := range map[string]hostLimits{
		"":              {cpu: time.Hour, memory: 8 << 30, files: 1024, processes: 4096},
		"RLIMIT_CPU":    {cpu: time.Second},
		"RLIMIT_AS":     {memory: 100 << 20},
		"RLIMIT_NOFILE": {files: 40},
		"RLIMIT_FSIZE":  {fileSize: 1},
		"12 processes":  {processes: 12},
	} {
		if want == "12 processes" && os.Getuid() == 0 {
			want = "" // root isn't held to it
		}
		if got := h.hint(); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q in it", h, got, want)
		}
	}
}

// TestLowLimitsOfTheHost has hosts that are limited themselves.
func TestLowLimitsOfTheHost(t *testing.T) {
	python := systemPython(t)
	for _, c := range lowLimits {
		if c.tight && raceEnabled {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.Python = python
			report := runHost(t, hostScript{Rlimits: c.rlimits, Config: c.config, Program: c.program}, c.user)
			if !c.check(report) {
				t.Errorf("got %+v", report)
			}
		})
	}
}
