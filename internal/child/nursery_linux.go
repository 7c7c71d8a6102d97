package child

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Nursery is a process that forks children, see thirdrail_child/nursery.py. The
// host sends it one packet for each, with the child's descriptors, and it tells how
// they end. Its own end is the end of all of them.
type Nursery struct {
	process *Process
	life    *spawned
	control *net.UnixConn
	output  lastOutput

	mu        sync.Mutex
	children  map[int64]*forked // by the host's number
	processes map[int64]*forked // by the nursery's numbers of their processes
	next      int64
	gone      bool
	retired   bool

	dead    chan struct{} // closed when nothing of it lives any more
	program int           // the number of its process, as the host sees it
	own     int64         // bytes of memory that were its own when it was ready
	size    atomic.Int64  // bytes that it has mapped
}

// CanFork tells whether a nursery can work here: its children need a PID namespace,
// and a small program to hold it.
func (s *Starter) CanFork() bool { return s.isolation.ownNamespace() && s.keeper != nil }

// message is what a nursery says before it forks. Each has one of these.
type message struct {
	Ready  bool
	Failed string
}

const (
	messageBytes = 4 << 10
	// wholeDescriptor is the size of one descriptor in a control message.
	wholeDescriptor = 4
)

// StartNursery starts a nursery and returns when it can fork. The context bounds that.
func (s *Starter) StartNursery(ctx context.Context, options NurseryOptions) (*Nursery, error) {
	if !s.CanFork() {
		return nil, errors.New("child: a nursery needs a PID namespace, which can't be had here")
	}
	process, life, err := s.spawn(syscall.SOCK_SEQPACKET, options.Directory, options.Environment, NoGroup, "nursery")
	if err != nil {
		return nil, err
	}
	n := &Nursery{
		process: process, life: life, dead: make(chan struct{}),
		children: map[int64]*forked{}, processes: map[int64]*forked{},
	}
	connection, err := net.FileConn(process.Rail)
	if err == nil {
		n.control = connection.(*net.UnixConn)
		n.output.read(process.Stdout, process.Stderr)
		err = n.prepare(ctx, options)
	}
	if err != nil {
		return nil, errors.Join(err, n.discard())
	}
	go n.listen()
	return n, nil
}

// prepare has the nursery confine itself and import what it shall.
func (n *Nursery) prepare(ctx context.Context, options NurseryOptions) error {
	defer context.AfterFunc(ctx, func() { _ = n.control.SetDeadline(time.Now()) })()
	encode := base64.StdEncoding.EncodeToString
	setup := map[string]any{"holder": encode(keeperProgram), "forker": encode(forkerCode)}
	if options.Confinement != nil {
		setup["confinement"], setup["run"] = options.Confinement, options.Run
	}
	if err := n.ask(ctx, setup); err != nil {
		return fmt.Errorf("child: the nursery: %w", err)
	}
	pid, err := n.pid()
	if err != nil {
		return err
	}
	before := openFiles(pid)
	for _, module := range options.Preload {
		if err := n.ask(ctx, map[string]any{"import": module}); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrPreload, module, err)
		}
		if threads := len(entries(pid, "task")); threads != 1 {
			return fmt.Errorf("%w: %s left a thread running, %d of them, which a fork doesn't copy; import it in the program", ErrPreload, module, threads-1)
		}
		for file, target := range openFiles(pid) {
			if _, ok := before[file]; !ok {
				return fmt.Errorf("%w: %s left descriptor %s open (%s), which all runs would share; import it in the program",
					ErrPreload, module, file, target)
			}
		}
	}
	if err := n.ask(ctx, map[string]any{"freeze": true}); err != nil {
		return fmt.Errorf("child: the nursery: %w", err)
	}
	n.program = pid
	n.own, _ = n.look()
	return n.control.SetDeadline(time.Time{})
}

// ask sends a request of the time before the first fork, and waits for the answer.
func (n *Nursery) ask(ctx context.Context, request map[string]any) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	var answer message
	if _, err = n.control.Write(text); err == nil {
		if text, _, err = n.receive(); err == nil {
			err = json.Unmarshal(text, &answer)
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		n.life.end()
		return fmt.Errorf("it ended: %s", n.output.last())
	case answer.Failed != "":
		return errors.New(answer.Failed)
	case !answer.Ready:
		return errors.New("it answered something else than asked")
	}
	return nil
}

// pid returns the number of the nursery's own process.
func (n *Nursery) pid() (int, error) {
	children := childrenOf(n.life.keeper.Pid)
	if len(children) != 1 {
		return 0, fmt.Errorf("child: the nursery has %d processes", len(children))
	}
	return children[0], nil
}

// Dead is closed when the nursery has ended, and with it all its children.
func (n *Nursery) Dead() <-chan struct{} { return n.dead }

// receive returns the next message, and the descriptors that came with it.
func (n *Nursery) receive() ([]byte, []int, error) {
	data, rights := make([]byte, messageBytes), make([]byte, unix.CmsgSpace(2*wholeDescriptor))
	size, rightsSize, _, _, err := n.control.ReadMsgUnix(data, rights)
	if err != nil {
		return nil, nil, err
	}
	if size == 0 {
		return nil, nil, io.EOF
	}
	var files []int
	controls, err := unix.ParseSocketControlMessage(rights[:rightsSize])
	for _, control := range controls {
		more, _ := unix.ParseUnixRights(&control)
		files = append(files, more...)
	}
	return data[:size], files, err
}

// discard ends the nursery's process and closes what the host has of it.
func (n *Nursery) discard() error {
	n.life.end()
	errs := []error{n.process.Close()}
	if n.control != nil {
		errs = append(errs, n.control.Close())
	}
	n.output.wait()
	return errors.Join(errs...)
}

// kill ends the nursery's processes, whatever state they are in. The rest follows.
func (n *Nursery) kill() { _ = n.life.keeper.Kill() }

// Close ends the nursery with all its children and waits for them.
func (n *Nursery) Close() error {
	_ = n.control.CloseRead() // which ends listen
	<-n.dead
	return nil
}

// Fork has the nursery fork a child, which waits for its boot frame. Order is what it
// applies, see package confine. It joins the control group at first, by descriptor,
// unless that is NoGroup. The caller must call Wait once.
func (n *Nursery) Fork(order any, group int) (*Process, error) {
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	var files descriptors
	defer files.closeChildEnds()
	if err := files.open(syscall.SOCK_STREAM, false); err != nil {
		_ = files.closeHostEnds()
		return nil, fmt.Errorf("child: making descriptors: %w", err)
	}
	child := newForked(n)
	numbers := []int{int(files.rail.child.Fd()), int(files.stdout.child.Fd()), int(files.stderr.child.Fd())}
	if group != NoGroup {
		numbers = append(numbers, group)
	}
	if err := n.send(child, text, numbers); err != nil {
		_ = files.closeHostEnds()
		return nil, fmt.Errorf("child: asking the nursery to fork: %w", err)
	}
	return &Process{files.rail.host, files.stdout.host, files.stderr.host, child, ""}, nil
}

func (n *Nursery) send(child *forked, order []byte, files []int) error {
	n.mu.Lock()
	if n.gone {
		n.mu.Unlock()
		return ErrNurseryDead
	}
	if n.retired {
		n.mu.Unlock()
		return ErrNurseryRetired
	}
	n.next++
	child.number = n.next
	n.children[child.number] = child
	n.mu.Unlock()
	err := n.request(forkChild, child.number, order, files...)
	if err == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gone {
		return nil // its end has told the child already
	}
	n.forget(child.number)
	return fmt.Errorf("%w: %w", ErrNurseryDead, err)
}

// entries lists a folder of /proc/PID.
func entries(pid int, name string) []os.DirEntry {
	found, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), name))
	return found
}

// openFiles returns a process's descriptors and what they are.
func openFiles(pid int) map[string]string {
	found := map[string]string{}
	for _, entry := range entries(pid, "fd") {
		found[entry.Name()], _ = os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "fd", entry.Name()))
	}
	return found
}
