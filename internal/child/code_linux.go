package child

import (
	"os"

	"golang.org/x/sys/unix"
)

// codeFile keeps code where every child can read it and nobody can change it: in
// a sealed file that has no name (memfd_create(2)).
func codeFile(code []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("thirdrail-child", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "thirdrail-child")
	if _, err := f.Write(code); err != nil {
		_ = f.Close()
		return nil, err
	}
	seals := unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		_ = f.Close()
		return nil, os.NewSyscallError("fcntl", err)
	}
	return f, nil
}

// fionread asks how many bytes can be read, see ioctl_tty(2).
const fionread = unix.TIOCINQ
