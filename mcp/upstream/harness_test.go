package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

func TestMain(m *testing.M) {
	rawserver.Main()
	goleak.VerifyTestMain(m)
}

// limit is far beyond what any wait of these tests takes.
const limit = time.Minute

// kinds are the ways to a raw server, and the words that choose its protocol.
var kinds = []struct {
	name, words string
	http        bool
}{
	{"lines", "", false},
	{"lines, newest protocol", "modern", false},
	{"http", "", true},
	{"http, newest protocol", "modern", true},
}

// eachKind runs a test against a raw server of each kind.
func eachKind(t *testing.T, words string, test func(t *testing.T, s *Servers)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			one := lines(words + " " + kind.words)
			if kind.http {
				one = overHTTP(t, words+" "+kind.words)
			}
			test(t, connect(t, Options{}, one))
		})
	}
}

// lines is a raw server as a process of this test's binary.
func lines(words string) Server {
	return Server{Name: "raw", Command: os.Args[0], Env: map[string]string{rawserver.Variable: words}}
}

// overHTTP is a raw server at a URL.
func overHTTP(t *testing.T, words string) Server {
	t.Helper()
	raw, err := rawserver.New(words)
	if err != nil {
		t.Fatal(err)
	}
	address, _ := serve(t, raw, "127.0.0.1:0")
	return Server{Name: "raw", URL: "http://" + address}
}

// serve serves HTTP at an address until stop is called, or the test ends.
func serve(t *testing.T, handler http.Handler, address string) (actual string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("there is no port to listen at: %v", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: limit}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	stop = func() {
		server.Close()
		<-done
	}
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}

// connect connects to servers, until the test ends.
func connect(t *testing.T, options Options, servers ...Server) *Servers {
	t.Helper()
	if options.Logger == nil {
		options.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if options.StartLimit == 0 {
		options.StartLimit = limit
	}
	options.pause = 20 * time.Millisecond
	if options.patient == 0 {
		options.patient = limit
	}
	s, err := Connect(t.Context(), Config{Servers: servers}, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// await waits until a condition holds, which is looked at after each change.
func await(t *testing.T, s *Servers, what string, holds func() bool) {
	t.Helper()
	over := time.After(limit)
	for !holds() {
		select {
		case <-s.Changed():
		case <-over:
			t.Fatalf("%s: never; %+v", what, s.Status())
		}
	}
}

// tool returns the tool of a name.
func tool(t *testing.T, s *Servers, name string) Tool {
	t.Helper()
	for _, one := range s.Tools() {
		if one.Name == name {
			return one
		}
	}
	t.Fatalf("there is no tool %q; %+v", name, s.Status())
	return Tool{}
}

// has tells whether there is a tool of a name.
func has(s *Servers, name string) bool {
	return slices.ContainsFunc(s.Tools(), func(one Tool) bool { return one.Name == name })
}

// call calls a tool with arguments as text.
func callTool(t *testing.T, s *Servers, ctx context.Context, name, args string) (codemode.Result, error) {
	t.Helper()
	return tool(t, s, name).Handler(ctx, parse(t, args))
}

// must is callTool for a call that succeeds.
func must(t *testing.T, s *Servers, ctx context.Context, name, args string) codemode.Result {
	t.Helper()
	result, err := callTool(t, s, ctx, name, args)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return result
}

func parse(t *testing.T, text string) lossless.Value {
	t.Helper()
	value, err := lossless.Parse([]byte(text), lossless.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// A recorder is a Caller that remembers.
type recorder struct {
	progress bool
	meta     map[string]any
	answer   func(ctx context.Context, params *mcp.ElicitParams) (*mcp.ElicitResult, error)

	mu     sync.Mutex
	steps  []string
	values []float64
	logs   []string
	asked  []*mcp.ElicitParams
}

func (r *recorder) Meta() map[string]any { return r.meta }

func (r *recorder) WantsProgress() bool { return r.progress }

func (r *recorder) Progress(_ context.Context, progress, _ float64, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps, r.values = append(r.steps, message), append(r.values, progress)
}

func (r *recorder) Log(_ context.Context, level, logger string, data json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, strings.Join([]string{level, logger, string(data)}, " "))
}

func (r *recorder) Elicit(ctx context.Context, _ string, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	r.mu.Lock()
	r.asked = append(r.asked, params)
	r.mu.Unlock()
	if r.answer == nil {
		return nil, errors.New("the client can't ask")
	}
	return r.answer(ctx, params)
}
