//go:build unix

package child

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrWouldBlock is what a Stream's Read returns when nothing has arrived.
var ErrWouldBlock = errors.New("child: nothing to read yet")

// A Stream reads one of a Process's descriptors, either waiting in the runtime's
// poller or not at all. It belongs to one reader at a time.
type Stream struct {
	conn syscall.RawConn
}

// NewStream returns a Stream over a host's end.
func NewStream(f *os.File) (*Stream, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &Stream{conn}, nil
}

// Wait calls ready at once and whenever something has arrived, until it returns
// true or the file is closed.
func (s *Stream) Wait(ready func() bool) error {
	return s.conn.Read(func(uintptr) bool { return ready() })
}

// Read reads what has arrived. It never waits: ErrWouldBlock says that there is
// nothing, io.EOF that nothing more will come.
func (s *Stream) Read(b []byte) (n int, err error) {
	controlErr := s.conn.Control(func(fd uintptr) {
		for {
			n, err = syscall.Read(int(fd), b)
			if err != syscall.EINTR {
				return
			}
		}
	})
	switch {
	case controlErr != nil:
		return 0, controlErr
	case err == syscall.EAGAIN:
		return 0, ErrWouldBlock
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Arrived returns how many bytes can be read at once. It is 0 with io.EOF when
// nothing more will come.
func (s *Stream) Arrived() (n int, err error) {
	controlErr := s.conn.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err = unix.Poll(poll, 0); err != nil {
			return
		}
		switch events := poll[0].Revents; {
		case events&unix.POLLIN != 0:
			n, err = unix.IoctlGetInt(int(fd), fionread)
		case events != 0:
			err = io.EOF
		}
	})
	if controlErr != nil {
		return 0, controlErr
	}
	if errors.Is(err, syscall.EINTR) {
		return 0, nil
	}
	return n, err
}
