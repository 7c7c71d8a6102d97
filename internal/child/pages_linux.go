package child

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Bits of an entry of /proc/PID/pagemap, from Documentation/admin-guide/mm/pagemap.rst.
const (
	pagePresent   = 1 << 63
	pageOfFile    = 1 << 61
	pageExclusive = 1 << 56
	entryBytes    = 8
)

const (
	// mostRanges is how many the kernel takes in one call, UIO_MAXIOV.
	mostRanges = 1024
	// widestGap is how many pages between two that are copied are copied with them.
	// Each child has them as memory of its own then.
	widestGap = 1
)

var pageBytes = uint64(os.Getpagesize())

// pageRange are pages by number: the first, and the one after the last.
type pageRange struct{ first, end uint64 }

// CopiedBy returns the pages that a child of the nursery has of its own by now. The
// others it shares with the nursery. It is nil where the system doesn't tell.
func (n *Nursery) CopiedBy(p *Process) Pages {
	f, ok := p.life.(*forked)
	if !ok {
		return nil
	}
	<-f.begun
	ranges, err := copiedPages(pidOf(f.program))
	if err != nil {
		return nil // as where /proc is hidden: a child is only slower
	}
	var pages Pages
	for _, r := range ranges[:min(len(ranges), mostRanges)] {
		pages = binary.NativeEndian.AppendUint64(pages, r.first*pageBytes)
		pages = binary.NativeEndian.AppendUint64(pages, (r.end-r.first)*pageBytes)
	}
	return pages
}

func copiedPages(pid int) ([]pageRange, error) {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	table, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid))
	if err != nil {
		return nil, err
	}
	defer table.Close()
	var ranges []pageRange
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var first, end uint64
		var rights string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &first, &end, &rights); err != nil || !strings.HasPrefix(rights, "rw-p") {
			continue
		}
		more, err := copiedOf(table, pageRange{first / pageBytes, end / pageBytes})
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, more...)
	}
	return ranges, lines.Err()
}

// copiedOf returns those of one mapping.
func copiedOf(table io.ReaderAt, mapping pageRange) (ranges []pageRange, err error) {
	entries := make([]byte, (mapping.end-mapping.first)*entryBytes)
	if _, err := table.ReadAt(entries, int64(mapping.first*entryBytes)); err != nil {
		return nil, err
	}
	for page := mapping.first; page < mapping.end; page++ {
		entry := binary.NativeEndian.Uint64(entries[(page-mapping.first)*entryBytes:])
		if entry&(pagePresent|pageOfFile|pageExclusive) != pagePresent|pageExclusive {
			continue
		}
		if last := len(ranges) - 1; last >= 0 && page-ranges[last].end <= widestGap {
			ranges[last].end = page + 1
		} else {
			ranges = append(ranges, pageRange{page, page + 1})
		}
	}
	return ranges, nil
}

// CopyAtOnce has each child copy these pages right after the fork, and not each of
// them when it comes to it.
func (n *Nursery) CopyAtOnce(pages Pages) error {
	if len(pages) == 0 {
		return nil
	}
	file, err := unix.MemfdCreate("thirdrail-pages", unix.MFD_CLOEXEC)
	if err == nil {
		defer unix.Close(file)
		_, err = unix.Write(file, pages)
	}
	if err != nil {
		return fmt.Errorf("child: a file for the nursery: %w", err)
	}
	if err = n.request(forkPages, int64(len(pages)), nil, file); err != nil {
		return fmt.Errorf("%w: %w", ErrNurseryDead, err)
	}
	return nil
}
