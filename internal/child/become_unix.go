//go:build unix

package child

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// The reasons why the protocol's descriptor can't be used.
var (
	errNotOpen   = errors.New("it is not open")
	errNotSocket = errors.New("it is something else")
	errNotStream = errors.New("it is a socket of another type")
)

// InheritRail checks that this process was started with a Unix stream socket as
// the protocol's descriptor, and keeps it from processes that are started before
// Become.
//
// That the descriptor is open says little: where nobody gave one, the Go runtime
// takes the number for files of its own.
func InheritRail() error {
	var info unix.Stat_t
	if err := unix.Fstat(wire.ProtocolFD, &info); err != nil {
		return errNotOpen
	}
	if info.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return errNotSocket
	}
	kind, err := unix.GetsockoptInt(wire.ProtocolFD, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_STREAM {
		return errNotStream
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
