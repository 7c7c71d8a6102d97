//go:build unix

package child

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// ErrNoRail says that nobody gave this process the protocol's descriptor.
var ErrNoRail = fmt.Errorf("descriptor %d is not a Unix stream socket", wire.ProtocolFD)

// InheritRail checks that this process was started with a Unix stream socket as
// the protocol's descriptor, and keeps it from processes that are started before
// Become. Otherwise it returns ErrNoRail.
//
// That the descriptor is open says little: where nobody gave one, the Go runtime
// takes the number for files of its own.
func InheritRail() error {
	var info unix.Stat_t
	if err := unix.Fstat(wire.ProtocolFD, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return ErrNoRail
	}
	kind, err := unix.GetsockoptInt(wire.ProtocolFD, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_STREAM {
		return ErrNoRail
	}
	unix.CloseOnExec(wire.ProtocolFD)
	return nil
}

// Become turns this process into a child of whoever started it: no keeper stands
// between them, and the descriptors, the environment and the working directory
// stay as they are. It returns only when that fails.
func Become(i *interpreter.Interpreter) error {
	code, err := codeFile(i.Code)
	if err != nil {
		return fmt.Errorf("child: keeping the child's code: %w", err)
	}
	defer code.Close()
	for _, fd := range []uintptr{wire.ProtocolFD, code.Fd()} {
		if _, err := unix.FcntlInt(fd, unix.F_SETFD, 0); err != nil {
			return os.NewSyscallError("fcntl", err)
		}
	}
	arguments := append(Arguments(i.Path), strconv.Itoa(int(code.Fd())), "-1", "none")
	return fmt.Errorf("child: starting %s: %w", i.Path, syscall.Exec(i.Path, arguments, os.Environ()))
}
