package confine

import "golang.org/x/sys/unix"

// architecture is how seccomp_data names this machine.
const architecture = unix.AUDIT_ARCH_AARCH64

// Calls that only some machines have. This one was born without the old ones.
var oldFork, oldModes, oldModules, oldWatches, hardware, oddities []uint32
