package child

import (
	"encoding/binary"
	"fmt"
	"io"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What the host and native/forker.c send each other, in the machine's byte order.

// forkRequest is what the forker is asked for. A child's order follows it.
type forkRequest struct {
	Kind   forkRequestKind
	Number int64
}

type forkRequestKind int64

const (
	forkChild forkRequestKind = 1 + iota // Number is that of the child
	forkPages                            // Number is how many bytes the file with them has
	forkEnd                              // Number is that of a process to kill
)

// request sends a request with what follows it, and descriptors.
func (n *Nursery) request(kind forkRequestKind, number int64, order []byte, files ...int) error {
	text, err := binary.Append(make([]byte, 0, 16+len(order)), binary.NativeEndian, forkRequest{kind, number})
	if err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	_, _, err = n.control.WriteMsgUnix(append(text, order...), rights, nil)
	return err
}

// forkReport is what the forker tells.
type forkReport struct {
	Kind forkReportKind
	// Number is that of the child, or that of the process that has ended, as the
	// nursery sees it.
	Number int64
	Values [3]int64
}

type forkReportKind int64

const (
	forkForked  forkReportKind = 1 + iota // the program's process, the holder's; with a pidfd of each
	forkRefused                           // where, and the error's number
	forkEnded                             // wait status, microseconds of CPU time, bytes of memory at the most
)

var forkReportBytes = binary.Size(forkReport{})

// forkSteps are what the forker does for a child, by the number that it tells.
var forkSteps = []string{"receiving its files", "unshare", "starting the first process of its namespace", "fork", "pidfd_open"}

// forkRemedies say what to raise where the kernel gives no more.
var forkRemedies = map[syscall.Errno]string{
	unix.EAGAIN: "; no more processes may be made: raise RLIMIT_NPROC (ulimit -u) or pids.max of the control group, or have fewer runs at once",
	unix.ENOSPC: "; no more namespaces may be made: raise sysctl user.max_pid_namespaces, or have fewer runs at once",
	unix.EMFILE: "; no more files may be open: raise RLIMIT_NOFILE (ulimit -n), or have fewer runs at once",
}

// forkRefusal returns why a child could not be forked.
func forkRefusal(step, number int64) string {
	name := "a step of the forker"
	if step >= 0 && step < int64(len(forkSteps)) {
		name = forkSteps[step]
	}
	errno := syscall.Errno(number)
	return fmt.Sprintf("%s: %s%s", name, errno, forkRemedies[errno])
}

// listen takes what the forker tells until it ends, and then ends what is left.
func (n *Nursery) listen() {
	for {
		report, files, err := n.receiveReport()
		if err != nil {
			break
		}
		n.take(report, files)
	}
	n.mu.Lock()
	n.gone = true
	n.mu.Unlock()
	_ = n.discard()
	for _, child := range n.children { // nobody adds any more
		child.lost()
	}
	close(n.dead)
}

func (n *Nursery) receiveReport() (report forkReport, files []int, err error) {
	data, files, err := n.receive()
	if err != nil {
		return report, nil, err
	}
	if _, err := binary.Decode(data, binary.NativeEndian, &report); err != nil {
		closeFiles(files)
		return report, nil, fmt.Errorf("child: the nursery sent %d bytes where %d are a report: %w", len(data), forkReportBytes, io.ErrUnexpectedEOF)
	}
	return report, files, nil
}

// take hands a report to the child that it is of.
func (n *Nursery) take(report forkReport, files []int) {
	defer func() { closeFiles(files) }()
	v := report.Values
	n.mu.Lock()
	defer n.mu.Unlock()
	switch report.Kind {
	case forkForked:
		if f := n.children[report.Number]; f != nil {
			n.processes[v[0]], n.processes[v[1]] = f, f
			f.begin(v[1], files)
			files = nil
		}
	case forkRefused:
		if f := n.children[report.Number]; f != nil {
			f.refuse(forkRefusal(v[0], v[1]))
			n.forget(report.Number)
		}
	case forkEnded:
		f := n.processes[report.Number]
		if f == nil {
			return // of one that was refused
		}
		delete(n.processes, report.Number)
		if f.first == report.Number {
			f.finish()
			n.forget(f.number)
			return
		}
		f.report(syscall.WaitStatus(v[0]), Usage{time.Duration(v[1]) * time.Microsecond, v[2]})
		// What the program has left ends with the first process of its namespace.
		f.endHolder()
	}
}

// forget leaves a child out. The caller holds the lock.
func (n *Nursery) forget(number int64) {
	delete(n.children, number)
	n.endIfDone()
}
