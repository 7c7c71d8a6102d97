//go:build linux || darwin

package thirdrail

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const supported = true

// checkHost tells once, in the log, which limits of the host itself are stricter
// than those of Config. The child keeps the stricter ones.
func (r *Runtime) checkHost() error {
	var cpu, memory syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CPU, &cpu); err == nil && cpu.Cur < uint64(r.limits.cpuSeconds()) {
		r.logger.Warn("thirdrail: the host's own CPU limit is below Limits.CPU and holds for runs",
			"limit", cpu.Cur, "asked", r.limits.cpuSeconds())
	}
	wanted := r.limits.Memory + r.interpreter.BareBytes
	if err := syscall.Getrlimit(unix.RLIMIT_AS, &memory); err == nil && memory.Cur < uint64(wanted) {
		r.logger.Warn("thirdrail: the host's own address space limit is below Limits.Memory and holds for runs",
			"limit", memory.Cur, "asked", wanted)
	}
	return nil
}
