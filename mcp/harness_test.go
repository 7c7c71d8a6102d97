package mcp

//lint:file-ignore SA1019 logging is deprecated from protocol 2026-07-28 on, but today's clients read it (SEP-2577)

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
	"github.com/thirdrail-dev/thirdrail/internal/sharedruntime"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// shared is the Runtime of all tests.
var shared = sharedruntime.One{Config: thirdrail.Config{MaxConcurrent: 32}}

func TestMain(m *testing.M) {
	rawserver.Main()
	shared.Main(m)
}

func testRuntime(t testing.TB) *thirdrail.Runtime {
	t.Helper()
	return shared.Get(t)
}

// fakeSource is a Source whose tools are Go functions.
type fakeSource struct {
	mu      sync.Mutex
	tools   []upstream.Tool
	status  []upstream.Status
	changed chan struct{}
}

func newSource(tools ...upstream.Tool) *fakeSource {
	return &fakeSource{tools: tools, changed: make(chan struct{}, 1)}
}

func (s *fakeSource) Tools() []upstream.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tools)
}

func (s *fakeSource) Status() []upstream.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.status)
}

func (s *fakeSource) Changed() <-chan struct{} { return s.changed }

// change makes the source another one, and tells.
func (s *fakeSource) change(change func(*fakeSource)) {
	s.mu.Lock()
	change(s)
	s.mu.Unlock()
	s.changed <- struct{}{}
}

const anySchema = `{"type":"object","additionalProperties":true}`

func parse(t testing.TB, text string) lossless.Value {
	t.Helper()
	v, err := lossless.Parse([]byte(text), lossless.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// tool returns a tool that takes anything.
func tool(t testing.TB, server, name string, h codemode.Handler) upstream.Tool {
	return upstream.Tool{Tool: codemode.Tool{
		Namespace: server, Name: name, Title: "The " + name, InputSchema: parse(t, anySchema), Handler: h,
	}}
}

// destructive returns a tool that says that it is.
func destructive(tool upstream.Tool) upstream.Tool {
	tool.Destructive = new(true)
	return tool
}

// recorder is a handler that remembers its arguments and answers with them.
type recorder struct {
	mu   sync.Mutex
	args []string
}

func (r *recorder) handle(_ context.Context, args lossless.Value) (codemode.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.args = append(r.args, args.String())
	return codemode.Value(args), nil
}

func (r *recorder) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.args)
}

func echo(_ context.Context, args lossless.Value) (codemode.Result, error) {
	return codemode.Value(args), nil
}

// hang is a handler that waits for its context, and tells of its beginning and end.
type hang struct{ began, ended chan struct{} }

func newHang() *hang { return &hang{make(chan struct{}, 100), make(chan struct{}, 100)} }

func (h *hang) handle(ctx context.Context, _ lossless.Value) (codemode.Result, error) {
	h.began <- struct{}{}
	<-ctx.Done()
	h.ended <- struct{}{}
	return codemode.Result{}, ctx.Err()
}

// newServer returns a server that is closed when the test ends.
func newServer(t testing.TB, source Source, options Options) *Server {
	t.Helper()
	s, err := New(testRuntime(t), source, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// The protocols that all is tested with: one with questions in the middle of a call,
// and one where questions are results.
const (
	legacy = "2025-11-25"
	newest = "2026-07-28"
)

var protocols = []string{legacy, newest}

// peer is a client as the official SDK has it, and what it heard.
type peer struct {
	*sdk.ClientSession
	t        testing.TB
	protocol string

	mu       sync.Mutex
	progress []*sdk.ProgressNotificationParams
	logs     []*sdk.LoggingMessageParams
	asked    []*sdk.ElicitParams
	wire     strings.Builder
	changed  chan struct{}
}

// user is how a client's user answers. Nil means that the client has no elicitation.
type user func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error)

// says returns a user who always answers the same.
func says(action string, content map[string]any) user {
	return func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: action, Content: content}, nil
	}
}

// options returns those of a client that hears everything.
func (p *peer) options(answer user) *sdk.ClientOptions {
	options := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.progress = append(p.progress, req.Params)
		},
		LoggingMessageHandler: func(_ context.Context, req *sdk.LoggingMessageRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.logs = append(p.logs, req.Params)
		},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { p.changed <- struct{}{} },
	}
	if answer != nil {
		options.ElicitationHandler = func(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			p.mu.Lock()
			p.asked = append(p.asked, req.Params)
			p.mu.Unlock()
			return answer(ctx, req.Params)
		}
	}
	return options
}

// Write keeps what crossed the wire.
func (p *peer) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wire.Write(data)
}

func (p *peer) crossed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wire.String()
}

// connect returns a client in memory.
func connect(t testing.TB, s *Server, protocol string, answer user) *peer {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	served, err := s.sdk.Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = served.Close() })
	return connectOver(t, near, protocol, answer, nil)
}

func connectOver(t testing.TB, transport sdk.Transport, protocol string, answer user, change func(*sdk.ClientOptions)) *peer {
	t.Helper()
	p := &peer{t: t, protocol: protocol, changed: make(chan struct{}, 100)}
	options := p.options(answer)
	if change != nil {
		change(options)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "peer", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &sdk.LoggingTransport{Transport: transport, Writer: p}, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	if got := session.InitializeResult().ProtocolVersion; got != protocol {
		t.Fatalf("the protocol is %s, want %s", got, protocol)
	}
	p.ClientSession = session
	t.Cleanup(func() { _ = session.Close() })
	return p
}

// run calls run_code.
func (p *peer) run(code string) *sdk.CallToolResult {
	p.t.Helper()
	result, err := p.call(p.t.Context(), map[string]any{"code": code}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

func (p *peer) call(ctx context.Context, arguments map[string]any, meta sdk.Meta) (*sdk.CallToolResult, error) {
	return p.CallTool(ctx, &sdk.CallToolParams{Name: "run_code", Arguments: arguments, Meta: meta})
}

// reportOf returns the structured content of a result. Numbers in it are not exact.
func reportOf(t testing.TB, result *sdk.CallToolResult) Report {
	t.Helper()
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Report
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if len(report.Value) > 0 {
		report.Report.Value = parse(t, string(report.Value))
	}
	return report.Report
}

// textOf returns the text of a result, which is its first part.
func textOf(t testing.TB, result *sdk.CallToolResult) string {
	t.Helper()
	if len(result.Content) == 0 {
		t.Fatal("the result has no content")
	}
	text, ok := result.Content[0].(*sdk.TextContent)
	if !ok {
		t.Fatalf("the first part is a %T", result.Content[0])
	}
	return text.Text
}

// within fails the test unless something comes in time. It is long: a busy machine
// may be slow, and it only bounds a hang.
func within[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatalf("%s didn't come", what)
		panic("not reached")
	}
}
