package child

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keeperFD is where the keeper's program is open in this process. It is above the
// descriptors that a new process gets, which would otherwise cover it before it
// is executed.
const keeperFD = 64

// openKeeper keeps the keeper's program in a sealed file without a name, and
// returns it with the path to execute it by. Both are nothing where it can't be
// executed: on another architecture, without /proc, or where memory files may not
// be programs (vm.memfd_noexec). start.py then keeps the namespace itself,
// which is slower.
func (s *Starter) openKeeper(ctx context.Context) (*os.File, string) {
	if len(keeperProgram) == 0 {
		return nil, ""
	}
	low, err := codeFile(keeperProgram)
	if err != nil {
		return nil, ""
	}
	defer low.Close()
	fd, err := unix.FcntlInt(low.Fd(), unix.F_DUPFD_CLOEXEC, keeperFD)
	if err != nil {
		return nil, ""
	}
	file := os.NewFile(uintptr(fd), "thirdrail-keeper")
	path := "/proc/self/fd/" + strconv.Itoa(fd)
	if err := s.tryKeeper(ctx, path); err != nil {
		_ = file.Close()
		return nil, ""
	}
	return file, path
}

// tryKeeper has a keeper start what is no program, and looks whether it reports
// the status of that.
func (s *Starter) tryKeeper(ctx context.Context, path string) error {
	const notStarted = 127 << 8
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	process, err := s.startProcess(path, keeperArguments(2, []string{"/"}), &os.ProcAttr{
		Env:   []string{},
		Files: []*os.File{null, null, write},
		Sys:   s.isolation.attributes(),
	})
	_ = write.Close()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = process.Kill() })()
	var status [4]byte
	_, err = io.ReadFull(read, status[:])
	if _, waitErr := process.Wait(); err == nil {
		err = waitErr
	}
	if got := binary.NativeEndian.Uint32(status[:]); err == nil && got != notStarted {
		err = fmt.Errorf("child: the keeper reported %d, want %d", got, notStarted)
	}
	return err
}

// keeperArguments returns the keeper's command line for a program's.
func keeperArguments(statusFD int, program []string) []string {
	return append([]string{"thirdrail-keeper", strconv.Itoa(statusFD)}, program...)
}
