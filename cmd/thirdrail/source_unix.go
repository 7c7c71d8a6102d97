//go:build unix

package main

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// An interruptibleFile is a file whose Read ends with a context, also when nothing
// comes: a read of standard input can't be ended otherwise.
type interruptibleFile struct {
	file *os.File
	ctx  context.Context
	wake *os.File // hung up when the context has ended
}

// untilDone returns a file whose reads end with ctx. The caller calls stop when the
// file isn't read any more.
func untilDone(ctx context.Context, file *os.File) (reader *interruptibleFile, stop func(), err error) {
	wake, other, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	detach := context.AfterFunc(ctx, func() { _ = other.Close() })
	return &interruptibleFile{file, ctx, wake}, func() {
		if detach() {
			_ = other.Close()
		}
		_ = wake.Close()
	}, nil
}

// Read waits until there is something to read, and reads it.
func (f *interruptibleFile) Read(p []byte) (int, error) {
	files := []unix.PollFd{{Fd: int32(f.file.Fd()), Events: unix.POLLIN}, {Fd: int32(f.wake.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(files, -1)
		switch {
		case f.ctx.Err() != nil:
			return 0, context.Cause(f.ctx)
		case errors.Is(err, unix.EINTR), err == nil && files[0].Revents == 0:
			continue
		case err != nil:
			return 0, os.NewSyscallError("poll", err)
		}
		return f.file.Read(p)
	}
}
