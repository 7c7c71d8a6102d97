package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// queued is how many messages may wait for a server to read them.
const queued = 16

// A pipe is a connection to a process: a message is a line.
type pipe struct {
	session  *session
	process  *process
	patience time.Duration // with a server that doesn't answer server/discover

	incoming chan jsonrpc.Message
	outgoing chan []byte
	ended    chan struct{} // closed when there are no more messages
	broken   error         // why, then
	closed   chan struct{} // closed by Close
	once     sync.Once
	work     sync.WaitGroup

	mu       sync.Mutex
	calls    map[int64]*call
	discover *time.Timer // runs while server/discover has no answer
	first    int64       // its id
	heard    bool        // the server answered it, late or not
}

// overPipe starts a server, and returns the transport to it.
func (x *session) overPipe(config Server, patience time.Duration) (mcp.Transport, error) {
	p, err := start(config, x.server.log)
	if err != nil {
		return nil, err
	}
	x.pipe = &pipe{
		session: x, process: p, patience: patience,
		incoming: make(chan jsonrpc.Message), outgoing: make(chan []byte, queued),
		ended: make(chan struct{}), closed: make(chan struct{}), calls: map[int64]*call{},
	}
	return x.pipe, nil
}

// Connect makes the pipe the SDK's transport.
func (c *pipe) Connect(context.Context) (mcp.Connection, error) {
	c.work.Go(c.read)
	c.work.Go(c.write)
	return c, nil
}

func (*pipe) SessionID() string { return "" }

// read reads lines until there are no more.
func (c *pipe) read() {
	defer close(c.ended)
	c.broken = io.EOF // unless the process ended by itself
	reader := bufio.NewReaderSize(c.process.stdout, 64<<10)
	for {
		line := collector{limit: MaxMessage}
		if err := readLine(reader, line.write); err != nil {
			if !c.isClosed() {
				c.broken = c.process.reason()
			}
			return
		}
		for _, text := range c.session.receive(line.message(), nil, c.answered) {
			if !c.deliver(text) {
				return
			}
		}
	}
}

func (c *pipe) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// hasEnded tells whether there are no more messages; then broken is why.
func (c *pipe) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// deliver hands a message to the SDK. It tells whether there may be more.
func (c *pipe) deliver(text []byte) bool {
	message, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		c.session.noise.say(c.session.server.log, "the server printed what is no message", "text", short(text), "reason", err)
		return true
	}
	if response, ok := message.(*jsonrpc.Response); ok {
		c.stopDiscover(response)
	}
	select {
	case c.incoming <- message:
		return true
	case <-c.closed:
		return false
	}
}

// answered returns the call that an id belongs to, which then has its answer.
func (c *pipe) answered(id int64) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.calls[id]
	delete(c.calls, id)
	return found
}

// Read returns the next message.
func (c *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message := <-c.incoming:
		return message, nil
	case <-c.ended:
		return nil, c.broken
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write sends a message. It doesn't wait longer than its context for a server that
// reads nothing.
func (c *pipe) Write(ctx context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.note(ctx, request)
	}
	select {
	case c.outgoing <- append(text, '\n'):
		return nil
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// note remembers which call a request belongs to, and bounds the wait for an answer to
// server/discover: servers older than it may ignore what they don't know.
func (c *pipe) note(ctx context.Context, request *jsonrpc.Request) {
	id, ok := request.ID.Raw().(int64)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if one, ok := ctx.Value(callKey{}).(*call); ok {
		c.calls[id] = one
		context.AfterFunc(ctx, func() { c.answered(id) })
	}
	if request.Method == "server/discover" && c.discover == nil {
		c.first = id
		c.discover = time.AfterFunc(c.patience, func() {
			select {
			case c.incoming <- &jsonrpc.Response{ID: request.ID, Error: errors.New("server/discover was not answered")}:
			case <-c.closed:
			}
		})
	}
}

// stopDiscover notes the answer to server/discover.
func (c *pipe) stopDiscover(response *jsonrpc.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.discover != nil && response.ID.Raw() == c.first {
		c.heard = true
		c.discover.Stop()
	}
}

// tooOld tells whether the server did not answer server/discover.
func (c *pipe) tooOld() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.discover != nil && !c.heard
}

// write sends what was queued.
func (c *pipe) write() {
	for {
		select {
		case text := <-c.outgoing:
			if _, err := c.process.stdin.Write(text); err != nil {
				return // the process ends, or has ended: reading tells
			}
		case <-c.closed:
			return
		}
	}
}

// Close ends the process, and returns when nothing is left of it.
func (c *pipe) Close() error {
	c.once.Do(func() { close(c.closed) })
	c.mu.Lock()
	if c.discover != nil {
		c.discover.Stop()
	}
	c.mu.Unlock()
	c.process.shutdown()
	c.work.Wait()
	return nil
}
