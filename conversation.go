package thirdrail

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// conversation is the host's side of one child's descriptors. It reads frames and
// native output, answers calls, and knows the verdict.
//
// Two kinds of output reach it on three descriptors, and their order must not be
// lost. A child sends no log frame while native bytes wait to be read (logs.py).
// So bytes that were there before descriptor 3 was read empty were written after
// all frames found in it.
type conversation struct {
	limits  Limits
	decoder wire.Decoder
	calls   *calls
	check   func(proof lossless.Value) error // what the child must prove

	rail   *child.Stream
	native [sources]*child.Stream // none for fromFrames

	mu      sync.Mutex // guards what follows: what the streams have brought
	reader  *wire.Reader
	ledger  *ledger
	booted  bool
	deaf    bool // no frame counts any more
	atEnd   bool // descriptor 3 brings nothing more
	dropped int64

	acked    chan struct{} // closed by the first boot-ack
	railEnd  chan struct{} // closed when descriptor 3 brings nothing more
	settled  chan struct{} // closed when there is a verdict
	verdict  atomic.Pointer[verdict]
	settling sync.Once
	readers  sync.WaitGroup
}

// verdict is how a run ends. The first one stands.
type verdict struct {
	value   lossless.Value
	failure *Failure
	byChild bool      // a done frame brought it
	at      time.Time // when it was reached
}

func newConversation(p *child.Process, limits Limits, numbers lossless.Numbers, onLog func(string)) (*conversation, error) {
	c := &conversation{
		limits:  limits,
		decoder: wire.Decoder{Numbers: numbers, ValueBytes: limits.ValueBytes, ArgsBytes: limits.FrameBytes},
		ledger:  newLedger(limits.LogBytes, onLog),
		acked:   make(chan struct{}),
		railEnd: make(chan struct{}),
		settled: make(chan struct{}),
	}
	var err error
	if c.rail, err = child.NewStream(p.Rail); err != nil {
		return nil, err
	}
	if c.native[fromStdout], err = child.NewStream(p.Stdout); err != nil {
		return nil, err
	}
	if c.native[fromStderr], err = child.NewStream(p.Stderr); err != nil {
		return nil, err
	}
	c.reader = wire.NewReader(c.rail, int(limits.FrameBytes))
	return c, nil
}

// start begins to read. The goroutines end when the files are closed.
func (c *conversation) start() {
	c.readers.Go(c.readRail)
	c.readers.Go(func() { c.readNative(fromStdout) })
	c.readers.Go(func() { c.readNative(fromStderr) })
}

// settle records how the run ends, if nothing has before.
func (c *conversation) settle(v verdict) {
	c.settling.Do(func() {
		v.at = time.Now()
		c.verdict.Store(&v)
		close(c.settled)
	})
}

// readRail reads frames until the end of descriptor 3. While too many calls are in
// flight, it stops.
func (c *conversation) readRail() {
	defer close(c.railEnd)
	for {
		var full <-chan struct{}
		err := c.rail.Wait(func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			full = c.drain()
			return c.atEnd || full != nil
		})
		if err != nil || full == nil {
			return
		}
		select {
		case <-full:
		case <-c.settled:
			return
		}
	}
}

// full returns nil, or a channel that is closed when calls can be taken again.
func (c *conversation) full() <-chan struct{} {
	if c.deaf {
		return nil
	}
	return c.calls.full()
}

// drain takes the frames that have arrived. Where it stops for too many calls, it
// returns full's channel: to ask again would be too late, since a call may have
// ended in between, and nothing would come back for the frames that are left. The
// caller holds mu.
func (c *conversation) drain() (full <-chan struct{}) {
	for !c.atEnd {
		if full := c.full(); full != nil {
			return full
		}
		line, err := c.reader.Next()
		switch {
		case err == nil:
			c.take(line)
		case errors.Is(err, child.ErrWouldBlock):
			return nil
		case errors.Is(err, wire.ErrFrameTooLong):
			c.atEnd = true
			c.settle(verdict{failure: fail(WorkerExit,
				"a line on file descriptor 3 was longer than the frame limit of %d bytes", c.limits.FrameBytes)})
		default:
			c.atEnd = true
			if errors.Is(err, io.ErrUnexpectedEOF) {
				c.dropped++
			}
		}
	}
	return nil
}

// take judges one line from the child.
func (c *conversation) take(line []byte) {
	frame, err := c.decoder.Child(line)
	if err != nil || !c.takeFrame(frame) {
		c.dropped++
	}
}

// takeFrame acts on a frame, and tells whether it was due.
func (c *conversation) takeFrame(frame wire.Frame) bool {
	if ack, ok := frame.(*wire.BootAck); ok {
		return c.takeAck(ack)
	}
	if !c.booted || c.deaf {
		return false
	}
	switch f := frame.(type) {
	case *wire.Log:
		c.ledger.frame(f)
	case *wire.Call:
		return c.calls.take(f)
	case *wire.Done:
		c.deaf = true
		failure := doneFailure(f, c.limits)
		v := verdict{failure: failure, byChild: true}
		if failure == nil {
			v.value = f.Value
		}
		c.settle(v)
	default:
		return false
	}
	return true
}

func (c *conversation) takeAck(ack *wire.BootAck) bool {
	if c.booted {
		return false
	}
	c.booted = true
	if err := c.check(ack.Proof); err != nil {
		c.deaf = true
		c.settle(verdict{failure: fail(WorkerExit, "the program was not run: %v; thirdrail doctor tells what this machine can hold", err)})
		return true
	}
	close(c.acked)
	return true
}

// nativePiece is how much of descriptors 1 and 2 is read at once.
const nativePiece = 64 << 10

// nativePatience is how long native bytes wait for the frames before them, when
// those wait for a call to end. It is bounded, since the call may need the child,
// and the child may be stuck until its bytes are read.
const nativePatience = 100 * time.Millisecond

// readNative reads what goes to descriptor 1 or 2 past the log frames.
func (c *conversation) readNative(from source) {
	var full, ignored <-chan struct{}
	for {
		err := c.native[from].Wait(func() (stop bool) {
			c.mu.Lock()
			defer c.mu.Unlock()
			var more bool
			more, full = c.drainNative(from, ignored)
			return !more || full != nil
		})
		if err != nil || full == nil {
			return
		}
		timer := time.NewTimer(nativePatience)
		select {
		case <-full:
		case <-timer.C:
			ignored = full
		case <-c.settled:
			ignored = full
		}
		timer.Stop()
	}
}

// drainNative takes the bytes that have arrived, after the frames that were sent
// before them. It tells whether more may come. Where those frames wait for a call
// to end, it takes nothing and returns full's channel, unless that is ignored. The
// caller holds mu.
func (c *conversation) drainNative(from source, ignored <-chan struct{}) (more bool, full <-chan struct{}) {
	for {
		n, err := c.native[from].Arrived()
		if err != nil {
			return false, nil
		}
		if n == 0 {
			return true, nil
		}
		if full := c.drain(); full != nil && full != ignored {
			return true, full
		}
		piece := make([]byte, min(n, nativePiece))
		n, err = c.native[from].Read(piece)
		c.ledger.native(from, piece[:n])
		if err != nil {
			return errors.Is(err, child.ErrWouldBlock), nil
		}
	}
}

// finish takes what the child wrote before it ended, and returns the logs. The
// child's processes are gone.
func (c *conversation) finish() (logs []string, used, dropped int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls.close()
	c.drain()
	for from := fromStdout; from < sources; from++ {
		c.drainNative(from, nil)
	}
	c.ledger.finish()
	c.deaf = true
	return c.ledger.entries, c.ledger.used(), c.dropped
}

// boot returns the first frame.
func bootFrame(limits Limits, numbers lossless.Numbers, bareBytes int64, namespaces []wire.Namespace) *wire.Boot {
	return &wire.Boot{
		CPUSeconds:        limits.cpuSeconds(),
		AddressSpaceBytes: min(limits.Memory+bareBytes, wire.MaxInteger),
		MaxLogBytes:       limits.LogBytes,
		MaxValueBytes:     limits.ValueBytes,
		Namespaces:        namespaces,
		Numbers:           wire.NumbersOf(numbers),
		OpenLogs:          true,
	}
}

// errFrameLimit is a frame for the child that is over Limits.FrameBytes.
func errFrameLimit(what string, size int, limit int64) error {
	return fmt.Errorf("%s takes %d bytes, over the frame limit of %d", what, size, limit)
}
