package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// A session is one connection to a server.
type session struct {
	server *server
	client *mcp.ClientSession
	noise  limited // of what is no message

	ctx  context.Context // ends with the session
	end  context.CancelCauseFunc
	list chan struct{} // holds one: the tools may have changed
	lost chan struct{} // holds one: changes of the tools are no longer told

	mu      sync.Mutex
	last    int              // the last call's number
	calls   map[string]*call // those without a result, by token
	idle    chan struct{}    // closed when retiring and without calls
	retired bool
	open    int // requests of the server without an answer
	strange int // requests of the server that no client knows

	pipe *pipe          // nil over HTTP
	work sync.WaitGroup // what ends with the session
}

// A call is one request to the server, on its way.
type call struct {
	token  string
	caller Caller // nil where there is none
	ctx    context.Context

	mu       sync.Mutex
	result   lossless.Value // as text, absent until it is there
	progress float64
	some     bool // some progress was told
}

type callKey struct{}

func newSession(ctx context.Context, s *server) *session {
	x := &session{
		server: s, calls: map[string]*call{}, idle: make(chan struct{}),
		list: make(chan struct{}, 1), lost: make(chan struct{}, 1),
	}
	x.ctx, x.end = context.WithCancelCause(ctx)
	return x
}

// connect makes the handshake over a transport.
func (x *session) connect(ctx context.Context, t mcp.Transport, version string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "thirdrail", Title: "Thirdrail", Version: "1"}, &mcp.ClientOptions{
		Logger: x.server.log,
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}},
		ElicitationHandler: x.elicit,
		// The list is asked for when the notification is read; this tells the SDK to
		// subscribe to it.
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {},
	})
	client.AddReceivingMiddleware(x.countAnswers)
	var err error
	x.client, err = client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
	return err
}

// countAnswers counts the requests of the server that have been answered.
func (x *session) countAnswers(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		switch method {
		case "ping", "roots/list", "sampling/createMessage", "elicitation/create":
			defer func() {
				x.mu.Lock()
				defer x.mu.Unlock()
				x.open--
			}()
		}
		return next(ctx, method, request)
	}
}

// close ends the session and, where it has one, the process.
func (x *session) close() {
	x.end(context.Canceled)
	if x.pipe != nil {
		_ = x.pipe.Close() // first, so that the SDK doesn't wait to write
	}
	_ = x.client.Close()
	x.work.Wait()
}

// reason returns why the session ended, nil if it hasn't.
func (x *session) reason() error {
	if x.pipe != nil && x.pipe.hasEnded() {
		return x.pipe.broken
	}
	return context.Cause(x.ctx)
}

// fail ends the session because of what the server did.
func (x *session) fail(reason error) { x.end(reason) }

// ask has the tools listed soon.
func (x *session) ask() { signal(x.list) }

// signal puts one into a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// begin makes a call. Its context ends with the session too.
func (x *session) begin(ctx context.Context, caller Caller) (*call, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.retired {
		return nil, errors.New("the connection was replaced")
	}
	x.last++
	c := &call{token: "thirdrail-" + strconv.Itoa(x.last), caller: caller}
	c.ctx = context.WithValue(ctx, callKey{}, c)
	x.calls[c.token] = c
	return c, nil
}

// finish ends a call.
func (x *session) finish(c *call) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.calls, c.token)
	x.settleIdle()
}

func (x *session) settleIdle() {
	if x.retired && len(x.calls) == 0 {
		select {
		case <-x.idle:
		default:
			close(x.idle)
		}
	}
}

// retire takes no more calls, and returns when those that there are have ended.
func (x *session) retire() {
	x.mu.Lock()
	x.retired = true
	x.settleIdle()
	x.mu.Unlock()
	select {
	case <-x.idle:
	case <-x.ctx.Done():
	}
}

func (x *session) find(token string) *call {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.calls[token]
}

func (c *call) keep(result lossless.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result = result
}

func (c *call) kept() lossless.Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result
}

// progressed hands on a progress notification whose value has risen.
func (c *call) progressed(params lossless.Value) {
	progress, err := params.Get("progress").Float64()
	if err != nil || c.caller == nil || !c.caller.WantsProgress() {
		return
	}
	total, _ := params.Get("total").Float64()
	message, _ := params.Get("message").Text()
	c.mu.Lock()
	risen := !c.some || progress > c.progress
	if risen {
		c.some, c.progress = true, progress
	}
	c.mu.Unlock()
	if risen {
		c.caller.Progress(c.ctx, progress, total, message)
	}
}

// logged hands on what the server logged: to the call that it came with, else to the
// one caller that is there, else to the log.
func (x *session) logged(params lossless.Value, of *call) {
	level, _ := params.Get("level").Text()
	logger, _ := params.Get("logger").Text()
	data := params.Get("data")
	if of == nil {
		of, _ = x.onlyCaller()
	}
	if of != nil && of.caller != nil {
		of.caller.Log(of.ctx, level, logger, json.RawMessage(data.Bytes()))
		return
	}
	x.noise.say(x.server.log, "the server logged", "level", level, "logger", logger, "data", short(data.Bytes()))
}

// onlyCaller returns a call with the Caller that all calls have. It is nil where there
// is none, or where they differ, which it tells.
func (x *session) onlyCaller() (only *call, several bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.calls {
		switch {
		case only == nil:
			only = c
		case only.caller != c.caller:
			return nil, true
		}
	}
	return only, false
}

// elicit hands a server's question to the call that it belongs to.
func (x *session) elicit(ctx context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	params := *request.Params
	if schema, ok := params.Meta[metaSchema].(string); ok {
		params.RequestedSchema = json.RawMessage(schema)
	}
	c, _ := ctx.Value(callKey{}).(*call) // where the question was the answer to a call
	if token, ok := params.Meta[metaCall].(string); ok && c == nil {
		c = x.find(token)
	}
	several := false
	if c == nil {
		c, several = x.onlyCaller()
	}
	params.Meta = nil
	switch {
	case several:
		return nil, unavailable{errSeveral}
	case c == nil || c.caller == nil:
		return nil, unavailable{errNobody}
	}
	// The question ends with the call, and when the server takes it back.
	asked, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer stop()
	answer, err := c.caller.Elicit(asked, x.server.config.Name, &params)
	if err != nil {
		return nil, unavailable{err}
	}
	if answer == nil {
		return nil, unavailable{fmt.Errorf("there was no answer")}
	}
	return answer, nil
}
