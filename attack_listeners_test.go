//go:build linux

package thirdrail

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// listeners are the host's sockets, of every family that a host listens on. Each
// sends the canary to who connects or says something, and counts.
type listeners struct {
	canary  string
	serving sync.WaitGroup
	counts  map[string]*atomic.Int64
}

func newListeners(t *testing.T, aims *targets) *listeners {
	t.Helper()
	l := &listeners{canary: aims.canary, counts: map[string]*atomic.Int64{}}
	t.Cleanup(l.serving.Wait)
	path := filepath.Join(aims.folder, "stream")
	l.stream(t, aims, "tcp", "tcp4", "127.0.0.1:0")
	l.stream(t, aims, "tcp6", "tcp6", "[::1]:0")
	l.stream(t, aims, "unix", "unix", path)
	l.stream(t, aims, "abstract", "unix", "@"+aims.canary[len("canary-"):]+"-stream")
	l.packets(t, aims, "udp", "udp4", "127.0.0.1:0")
	l.packets(t, aims, "udp6", "udp6", "[::1]:0")
	l.packets(t, aims, "unixDatagram", "unixgram", filepath.Join(aims.folder, "datagram"))
	l.packets(t, aims, "abstractDatagram", "unixgram", "@"+aims.canary[len("canary-"):]+"-datagram")
	for _, name := range []string{"stream", "datagram"} {
		must(t, os.Chmod(filepath.Join(aims.folder, name), 0o777))
	}
	return l
}

// stream listens for connections. A Unix one also passes a descriptor of the file
// with the canary.
func (l *listeners) stream(t *testing.T, aims *targets, name, network, address string) {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Logf("no listener for %s: %v", name, err) // such as a machine without IPv6
		aims.aims[name] = 0
		return
	}
	t.Cleanup(func() { _ = listener.Close() })
	aims.aims[name] = addressOf(listener.Addr())
	count := l.count(name)
	file := filepath.Join(aims.folder, "secret")
	l.serving.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			l.serve(connection, file)
		}
	})
}

func (l *listeners) serve(connection net.Conn, file string) {
	defer connection.Close()
	unixConnection, ok := connection.(*net.UnixConn)
	if !ok {
		_, _ = connection.Write([]byte(l.canary))
		return
	}
	passed, err := os.Open(file)
	if err != nil {
		return
	}
	defer passed.Close()
	_, _, _ = unixConnection.WriteMsgUnix([]byte(l.canary), unix.UnixRights(int(passed.Fd())), nil)
}

func (l *listeners) packets(t *testing.T, aims *targets, name, network, address string) {
	t.Helper()
	connection, err := net.ListenPacket(network, address)
	if err != nil {
		t.Logf("no listener for %s: %v", name, err)
		aims.aims[name] = 0
		return
	}
	t.Cleanup(func() { _ = connection.Close() })
	aims.aims[name] = addressOf(connection.LocalAddr())
	count := l.count(name)
	l.serving.Go(func() {
		buffer := make([]byte, 100)
		for {
			_, sender, err := connection.ReadFrom(buffer)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			count.Add(1)
			if sender != nil && sender.String() != "" {
				_, _ = connection.WriteTo([]byte(l.canary), sender)
			}
		}
	})
}

func (l *listeners) count(name string) *atomic.Int64 {
	l.counts[name] = &atomic.Int64{}
	return l.counts[name]
}

// addressOf is a port, or the name of a socket without the @ that means NUL.
func addressOf(address net.Addr) any {
	switch address := address.(type) {
	case *net.TCPAddr:
		return address.Port
	case *net.UDPAddr:
		return address.Port
	case *net.UnixAddr:
		if address.Name[0] == '@' {
			return address.Name[1:]
		}
		return address.Name
	}
	return nil
}

func (l *listeners) state(state map[string]string) {
	for name, count := range l.counts {
		state["heard by "+name] = fmt.Sprint(count.Load())
	}
}

// objects are the host's things that have no path: SysV memory, semaphores and
// messages, a POSIX queue, a key. Each has the canary in it where it can hold one.
type objects struct {
	memory, semaphores, messages, queue int
	key                                 int
}

// message is a struct msgbuf, see msgop(2).
type message struct {
	kind int
	text [64]byte
}

func newObjects(t *testing.T, aims *targets) *objects {
	t.Helper()
	o := &objects{}
	var err error
	o.memory, err = unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o666)
	must(t, err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(o.memory, unix.IPC_RMID, nil) })
	memory, err := unix.SysvShmAttach(o.memory, 0, 0)
	must(t, err)
	copy(memory, aims.canary)
	must(t, unix.SysvShmDetach(memory))
	o.semaphores = get(t, unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, unix.IPC_CREAT|0o666)
	t.Cleanup(func() { _, _, _ = unix.Syscall6(unix.SYS_SEMCTL, uintptr(o.semaphores), 0, unix.IPC_RMID, 0, 0, 0) })
	o.messages = get(t, unix.SYS_MSGGET, unix.IPC_PRIVATE, unix.IPC_CREAT|0o666, 0)
	t.Cleanup(func() { _, _, _ = unix.Syscall(unix.SYS_MSGCTL, uintptr(o.messages), unix.IPC_RMID, 0) })
	text := message{kind: 1}
	copy(text.text[:], aims.canary)
	get(t, unix.SYS_MSGSND, uintptr(o.messages), uintptr(unsafe.Pointer(&text)), uintptr(len(text.text)))
	o.openQueue(t, aims)
	aims.makeShared(t)
	// A key of this user, as those that Kerberos and disk encryption keep.
	name := aims.canary[len("canary-"):]
	o.key, err = unix.AddKey("user", name, []byte(aims.canary), unix.KEY_SPEC_USER_KEYRING)
	if err != nil {
		t.Logf("no key: %v", err)
	} else {
		t.Cleanup(func() { _, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, o.key, unix.KEY_SPEC_USER_KEYRING, 0, 0) })
	}
	aims.aims["memory"], aims.aims["semaphores"], aims.aims["messages"] = o.memory, o.semaphores, o.messages
	aims.aims["queue"], aims.aims["key"] = name, name
	return o
}

// sharedMemory is where libc keeps POSIX shared memory and semaphores.
const sharedMemory = "/dev/shm"

// makeShared makes POSIX shared memory with the canary in it, and a semaphore of
// the same name. A semaphore is 32 bytes here: its value and who waits for it.
func (a *targets) makeShared(t *testing.T) {
	t.Helper()
	name := a.canary[len("canary-"):]
	for path, content := range map[string]string{name: a.canary, "sem." + name: "\x01" + strings.Repeat("\x00", 31)} {
		path = filepath.Join(sharedMemory, path)
		t.Cleanup(func() { _ = os.Remove(path) })
		must(t, os.WriteFile(path, []byte(content), 0o600))
		must(t, os.Chmod(path, 0o666))
	}
	a.aims["shared"] = name
}

// openQueue makes a POSIX message queue with the canary in it.
func (o *objects) openQueue(t *testing.T, aims *targets) {
	t.Helper()
	name, err := unix.BytePtrFromString(aims.canary[len("canary-"):])
	must(t, err)
	attributes := [8]int{1: 1, 2: 64} // one message of 64 bytes
	number, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_RDWR, 0o666,
		uintptr(unsafe.Pointer(&attributes)), 0, 0)
	if errno != 0 {
		t.Fatalf("mq_open: %v", errno)
	}
	o.queue = int(number)
	must(t, unix.Fchmod(o.queue, 0o666)) // whatever the umask
	t.Cleanup(func() {
		_ = unix.Close(o.queue)
		_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0)
	})
	text := []byte(aims.canary)
	_, _, errno = unix.Syscall6(unix.SYS_MQ_TIMEDSEND, number, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), 0, 0, 0)
	if errno != 0 {
		t.Fatalf("mq_timedsend: %v", errno)
	}
}

// get is a system call that returns a number.
func get(t *testing.T, call, a, b, c uintptr) int {
	t.Helper()
	number, _, errno := unix.Syscall(call, a, b, c)
	if errno != 0 {
		t.Fatalf("system call %d: %v", call, errno)
	}
	return int(number)
}

func (o *objects) state(state map[string]string) {
	var memory unix.SysvShmDesc
	_, err := unix.SysvShmCtl(o.memory, unix.IPC_STAT, &memory)
	state["shared memory"] = fmt.Sprint(memory.Perm.Mode, memory.Nattch, memory.Lpid == int32(os.Getpid()), err)
	value, _, errno := unix.Syscall6(unix.SYS_SEMCTL, uintptr(o.semaphores), 0, 12, 0, 0, 0) // GETVAL
	state["semaphore"] = fmt.Sprint(value, errno)
	var attributes [8]int
	_, _, errno = unix.Syscall(unix.SYS_MQ_GETSETATTR, uintptr(o.queue), 0, uintptr(unsafe.Pointer(&attributes)))
	state["messages in the queue"] = fmt.Sprint(attributes[3], errno)
}
