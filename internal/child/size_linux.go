package child

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Size returns the space that the workspace takes on the disk, where an empty file
// or folder counts as leastBytes. It stops once it is over most, and leaves out
// what can't be read, and what lies deeper than a path can say. The program may
// change everything meanwhile: nothing outside is counted.
func (w *Workspace) Size(leastBytes, most int64) (int64, error) {
	root, err := unix.Open(w.Path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: w.Path, Err: err}
	}
	defer unix.Close(root)
	total := int64(0)
	linked := map[uint64]bool{} // files with several names
	for folders := []string{"."}; len(folders) > 0 && total <= most; {
		name := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		fd, err := unix.Openat2(root, name, &unix.OpenHow{
			Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
		})
		if errors.Is(err, unix.ENOSYS) {
			return total, err
		}
		if err != nil {
			continue
		}
		folder := os.NewFile(uintptr(fd), name)
		for total <= most {
			names, err := folder.Readdirnames(batch)
			for _, entry := range names {
				var file unix.Stat_t
				if unix.Fstatat(fd, entry, &file, unix.AT_SYMLINK_NOFOLLOW) != nil || linked[file.Ino] {
					continue
				}
				total += max(file.Blocks*512, leastBytes)
				switch {
				case file.Mode&unix.S_IFMT == unix.S_IFDIR:
					folders = append(folders, path.Join(name, entry))
				case file.Nlink > 1:
					linked[file.Ino] = true
				}
			}
			if err != nil {
				break // the end, or it is gone
			}
		}
		_ = folder.Close()
	}
	return total, nil
}
