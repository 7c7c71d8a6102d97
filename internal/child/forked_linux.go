package child

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// forked is the life of a child that a nursery forked.
type forked struct {
	nursery *Nursery
	number  int64         // by which the host knows it
	first   int64         // what the nursery calls the first process of its namespace
	begun   chan struct{} // closed when it is known whether there is a process
	over    chan struct{} // closed when the program's process has ended
	gone    chan struct{} // closed when nothing of the child lives

	program, holder int // pidfds, −1 where there is none
	result          programReport
	once            sync.Once
	exit            Exit
}

// nurseryPatience is how long a nursery may take to tell of a child's begin and end.
const nurseryPatience = 5 * time.Second

func newForked(n *Nursery) *forked {
	return &forked{
		nursery: n, program: -1, holder: -1,
		begun: make(chan struct{}), over: make(chan struct{}), gone: make(chan struct{}),
	}
}

// begin takes the pidfds of the program and of the first process of its namespace. A
// host that can have no more descriptors gets none.
func (f *forked) begin(first int64, files []int) {
	f.first = first
	if len(files) == 2 {
		f.program, f.holder = files[0], files[1]
	} else {
		closeFiles(files)
	}
	closeOnce(f.begun)
}

// refuse tells that the nursery could not fork.
func (f *forked) refuse(reason string) {
	f.exit.Refusal = reason
	f.lost()
}

func (f *forked) report(status syscall.WaitStatus, used Usage) {
	if !f.result.known {
		f.result = programReport{known: true, status: status, used: used}
	}
	closeOnce(f.over)
}

func (f *forked) finish() {
	closeOnce(f.begun)
	closeOnce(f.over)
	closeOnce(f.gone)
}

// lost tells that nothing lives and nothing more will be told.
func (f *forked) lost() { f.finish() }

// closeOnce closes a channel that only one goroutine closes.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

func (f *forked) ended() <-chan struct{} { return f.over }

// end ends all of the child, and waits for it.
func (f *forked) end() Exit {
	f.once.Do(func() {
		// A nursery that answers no more, as when somebody has stopped it, is ended as
		// a whole.
		defer time.AfterFunc(nurseryPatience, f.nursery.kill).Stop()
		<-f.begun
		f.endHolder()
		<-f.gone
		closeFiles([]int{f.program, f.holder})
		f.exit.Code, f.exit.Usage = -1, f.result.used
		if f.result.known {
			f.exit.set(f.result.status)
		}
	})
	return f.exit
}

// endHolder kills the first process of the namespace, and the kernel the rest with it.
func (f *forked) endHolder() {
	switch {
	case f.holder >= 0:
		_ = unix.PidfdSendSignal(f.holder, unix.SIGKILL, nil, 0)
	case f.first != 0:
		_ = f.nursery.request(forkEnd, f.first, nil)
	}
}

func closeFiles(files []int) {
	for _, file := range files {
		if file >= 0 {
			_ = unix.Close(file)
		}
	}
}

// tops are the program's process, and the one that gets what has lost its parent.
func (f *forked) tops() []top {
	select {
	case <-f.begun:
	default:
		return nil
	}
	var list []top
	for _, one := range []struct {
		file int
		ours bool
	}{{f.program, false}, {f.holder, true}} {
		if pid := pidOf(one.file); pid > 0 {
			list = append(list, top{pid, one.ours})
		}
	}
	return list
}

// pidOf returns the number of a pidfd's process, or 0.
func pidOf(file int) int {
	if file < 0 {
		return 0
	}
	text, _ := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(file))
	_, rest, _ := bytes.Cut(text, []byte("\nPid:\t"))
	number, _, _ := bytes.Cut(rest, []byte("\n"))
	pid, _ := strconv.Atoi(string(number))
	return pid
}
