package thirdrail

import (
	"context"
	"fmt"
	"time"
)

// clampBy returns the limits that hold for a run under those of the host.
func (l Limits) clampBy(h hostLimits, bareBytes int64) Limits {
	if h.cpu > 0 {
		l.CPU = min(l.CPU, h.cpu)
	}
	if h.memory > 0 {
		l.Memory = min(l.Memory, max(h.memory-bareBytes, 0))
	}
	return l
}

// checkHost tells once, in the log, which limits of the host itself are stricter
// than those of Config, and refuses those that nothing could run under.
func (r *Runtime) checkHost(ctx context.Context) error {
	if h := r.host; h.cpu > 0 && h.cpu < r.limits.CPU {
		r.logger.Warn("thirdrail: this process's own CPU limit (RLIMIT_CPU) is below Limits.CPU and holds for runs",
			"limit", h.cpu, "asked", r.limits.CPU)
	}
	bare := r.interpreter.BareBytes
	held := r.limits.clampBy(r.host, bare)
	if held.Memory == r.limits.Memory {
		return r.checkMemory(ctx, held.Memory)
	}
	r.logger.Warn("thirdrail: this process's own address space limit (RLIMIT_AS) is below Limits.Memory and holds for runs",
		"limit", r.host.memory, "asked", r.limits.Memory+bare)
	if err := r.checkMemory(ctx, held.Memory); err != nil {
		return fmt.Errorf("%w; this process is limited to %d bytes of address space (RLIMIT_AS, ulimit -v), of which the bare interpreter takes %d",
			err, r.host.memory, bare)
	}
	return nil
}

// plentyOfMemory is more than what any interpreter takes for a program that does
// nothing. Only a limit below it is worth the time to find out.
const plentyOfMemory = 64 << 20

// checkMemory refuses a Memory that is too little for the interpreter itself.
func (r *Runtime) checkMemory(ctx context.Context, memory int64) error {
	if memory >= plentyOfMemory {
		return nil
	}
	least, err := r.leastMemory(ctx)
	if err != nil {
		return err
	}
	if memory < least {
		return misuse("Limits.Memory is %d; Python %s itself needs %d, as measured, and a program needs more",
			memory, r.interpreter.Version, least)
	}
	return nil
}

// leastMemory returns the least Memory, in whole MiB, under which the interpreter
// runs a program that does nothing. It is measured once, by trying.
func (r *Runtime) leastMemory(ctx context.Context) (int64, error) {
	r.measuring.Lock()
	defer r.measuring.Unlock()
	if r.least > 0 {
		return r.least, nil
	}
	const mebibyte = 1 << 20
	works, last := int64(plentyOfMemory/mebibyte+1), (*Result)(nil)
	for fails := int64(0); works-fails > 1; {
		middle := (works + fails) / 2
		result := r.try(ctx, middle*mebibyte)
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("thirdrail: measuring the memory of the interpreter: %w", context.Cause(ctx))
		}
		if result.Failure == nil {
			works = middle
		} else {
			fails, last = middle, result
		}
	}
	if works*mebibyte > plentyOfMemory {
		return 0, fmt.Errorf("thirdrail: the interpreter can't run an empty program in %d bytes of memory: %w", int64(plentyOfMemory), last.Err())
	}
	// What is mapped differs by some pages from start to start.
	r.least = (works + 1) * mebibyte
	return r.least, nil
}

// try runs a program that does next to nothing in so much memory.
func (r *Runtime) try(ctx context.Context, memory int64) *Result {
	limits := DefaultLimits()
	limits.Memory, limits.Wall = memory, 10*time.Second
	one := &run{
		runtime:    r,
		request:    Request{Program: "print()"},
		limits:     limits,
		namespaces: &boundNamespaces{},
		began:      time.Now(),
	}
	return one.do(ctx)
}
