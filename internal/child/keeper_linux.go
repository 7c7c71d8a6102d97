package child

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
)

// openKeeper keeps the keeper's program in a sealed file without a name, and
// returns it. It is nil where it can't be executed: on another architecture, without /proc, or where memory files may not
// be programs (vm.memfd_noexec). start.py then keeps the namespace itself,
// which is slower.
func (s *Starter) openKeeper(ctx context.Context) *os.File {
	if len(keeperProgram) == 0 {
		return nil
	}
	file, err := codeFile(keeperProgram)
	if err != nil {
		return nil
	}
	if err := s.tryKeeper(ctx, file); err != nil {
		_ = file.Close()
		return nil
	}
	return file
}

// tryKeeper has a keeper start what is no program, and looks whether it reports
// the status of that.
func (s *Starter) tryKeeper(ctx context.Context, keeper *os.File) error {
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
	process, err := s.startProcess(keeperPath(2), keeperArguments(2, []string{"/"}), &os.ProcAttr{
		Env:   []string{},
		Files: []*os.File{null, null, write, keeper},
		Sys:   s.isolation.attributes(s.namespaces),
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

// keeperPath returns what a new process executes to become a keeper. The keeper's
// program is open there as the descriptor behind statusFD: only those that a new
// process is given have numbers to rely on.
func keeperPath(statusFD int) string { return "/proc/self/fd/" + strconv.Itoa(statusFD+1) }

// keeperArguments returns the keeper's command line for a program's.
func keeperArguments(statusFD int, program []string) []string {
	return append([]string{"thirdrail-keeper", strconv.Itoa(statusFD)}, program...)
}

// Holder returns the program that holds the namespace of a forked child, or nothing
// where there is none for this architecture.
func Holder() []byte { return keeperProgram }
