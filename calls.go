package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// calls runs the functions that a program calls, at most Limits.CallsInFlight at
// once, and sends their replies.
type calls struct {
	ctx        context.Context // ends with the run
	namespaces map[string]Funcs
	limits     Limits
	numbers    lossless.Numbers
	out        io.Writer       // descriptor 3
	owner      *sync.WaitGroup // the runtime's, which waits for functions that ignore their context

	writing sync.Mutex

	mu       sync.Mutex
	nextID   int64
	made     int64
	inFlight int
	room     chan struct{} // not nil while full; closed when a call ends
	closed   bool
}

func newCalls(ctx context.Context, namespaces map[string]Funcs, limits Limits, numbers lossless.Numbers, out io.Writer, owner *sync.WaitGroup) *calls {
	return &calls{
		ctx:        ctx,
		namespaces: namespaces,
		limits:     limits,
		numbers:    numbers,
		out:        out,
		owner:      owner,
	}
}

// take starts a call, unless its id is not the next one. An answer is due for
// every call that is taken.
func (c *calls) take(call *wire.Call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || call.ID != c.nextID {
		return false
	}
	c.nextID++
	f, err := c.find(call)
	if err == nil {
		c.made++
	}
	c.inFlight++
	c.owner.Add(1)
	go func() {
		defer c.owner.Done()
		defer c.end()
		c.answer(call, f, err)
	}()
	return true
}

// full returns nil, or a channel that is closed when a call has ended, as long as
// as many as allowed are in flight.
func (c *calls) full() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.inFlight < c.limits.CallsInFlight {
		return nil
	}
	if c.room == nil {
		c.room = make(chan struct{})
	}
	return c.room
}

func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	if c.room != nil {
		close(c.room)
		c.room = nil
	}
}

// close takes no more calls.
func (c *calls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// count returns how many calls reached a function.
func (c *calls) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made
}

// find returns the function that is called, or an error that names what exists.
func (c *calls) find(call *wire.Call) (Func, error) {
	funcs, ok := c.namespaces[call.Global]
	if !ok {
		return nil, fmt.Errorf("unknown binding: there is no namespace %s; there is: %s",
			quoted(call.Global), listed(c.namespaces))
	}
	f, ok := funcs[call.Name]
	if !ok {
		return nil, fmt.Errorf("unknown binding: %s has no function %s; it has: %s",
			call.Global, quoted(call.Name), listed(funcs))
	}
	return f, nil
}

// shownNames and shownBytes bound what a message repeats of names.
const (
	shownNames = 20
	shownBytes = 64
)

func quoted(name string) string {
	if len(name) > shownBytes {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(name[:shownBytes], ""))
	}
	return fmt.Sprintf("%q", name)
}

func listed[V any](names map[string]V) string {
	if len(names) == 0 {
		return "nothing"
	}
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, quoted(name))
	}
	slices.Sort(list)
	if len(list) > shownNames {
		list = append(list[:shownNames], fmt.Sprintf("and %d more", len(list)-shownNames))
	}
	return strings.Join(list, ", ")
}

// answer runs a function and sends its reply, unless the run has ended meanwhile.
func (c *calls) answer(call *wire.Call, f Func, err error) {
	var value lossless.Value
	// Deferred, since a function may end its goroutine (runtime.Goexit).
	defer func() { c.reply(call.ID, value, err) }()
	if err == nil {
		err = errPanic
		value, err = c.invoke(f, call.Args)
	}
}

func (c *calls) reply(id int64, value lossless.Value, err error) {
	if c.ctx.Err() != nil {
		return
	}
	var line []byte
	if err == nil {
		line, err = c.replyValue(id, value)
	}
	if err != nil {
		line = wire.Append(nil, &wire.ReplyError{ID: id, Message: rejection(err)})
	}
	_ = c.send(line) // a child that is gone needs no reply
}

// errPanic is what a program sees of a function that panicked, or never returned
// otherwise. What it panicked with may be a secret of the host's.
var errPanic = errors.New("the host's function failed unexpectedly")

func (c *calls) invoke(f Func, args lossless.Value) (value lossless.Value, err error) {
	defer func() {
		if recover() != nil {
			value, err = lossless.Value{}, errPanic
		}
	}()
	return f(c.ctx, args)
}

// replyValue encodes a reply under the run's number profile.
func (c *calls) replyValue(id int64, value lossless.Value) ([]byte, error) {
	if !value.Exists() {
		value = lossless.Null
	}
	value, err := lossless.Parse(value.Bytes(), lossless.Options{Numbers: c.numbers})
	if err != nil {
		return nil, fmt.Errorf("the function's result is not lossless JSON: %w", err)
	}
	line := wire.Append(nil, &wire.ReplyValue{ID: id, Value: value})
	if int64(len(line))-1 > c.limits.FrameBytes {
		return nil, errFrameLimit("the function's result", len(line)-1, c.limits.FrameBytes)
	}
	return line, nil
}

// send writes a whole line. It may have to wait until the child reads.
func (c *calls) send(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(line)
	return err
}

// rejection returns the text of an error as a program may see it: never empty,
// valid, and of bounded size.
func rejection(err error) string {
	text := errorText(err)
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return cutMiddle(text)
}
