package mcp

//lint:file-ignore SA1019 logging is deprecated from protocol 2026-07-28 on, but today's clients read it (SEP-2577)

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
)

// Options say how a Server works. The zero value works.
type Options struct {
	// Version is that of the program that serves, for its clients.
	Version string
	// Policy decides which tools programs may call.
	Policy Policy
	// Code are options of the tool that runs programs, such as limits of each run.
	Code codemode.Options
	// TextBytes bounds what a result shows a model of output and value, each cut in
	// its middle where both don't fit; 24 KiB. The structured value is always whole.
	TextBytes int
	// Waiting is how long a question to a user stays open; 10 min, which is also
	// what Limits.Waiting gives a run in all.
	Waiting time.Duration
	// Questions is how many questions may be open at once, of all clients together;
	// 16. Each holds a place of Config.MaxConcurrent.
	Questions int
	// Logger gets what the user should know, such as tools that are left out. Nil
	// means no logging.
	Logger *slog.Logger
}

const (
	defaultTextBytes = 24 << 10
	defaultQuestions = 16
)

func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = "(devel)"
	}
	if o.TextBytes == 0 {
		o.TextBytes = defaultTextBytes
	}
	if o.Waiting == 0 {
		o.Waiting = thirdrail.DefaultLimits().Waiting
	}
	if o.Questions == 0 {
		o.Questions = defaultQuestions
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Server serves run_code over the tools of a Source. It is safe for concurrent use,
// and must be closed.
type Server struct {
	runtime *thirdrail.Runtime
	source  Source
	options Options
	sdk     *sdk.Server

	current   atomic.Pointer[catalogue]
	told      map[string]bool // of newCatalogue: tools that were left out
	parking   *parking
	questions chan struct{} // one for each that may be open

	life context.Context
	end  context.CancelCauseFunc
	work sync.WaitGroup // runs, and follow
	// telling are the goroutines that send notifications. One may wait for a client
	// that doesn't read any more.
	telling sync.WaitGroup
}

// New returns a Server whose programs run in rt. Neither rt nor the source are
// closed with it.
func New(rt *thirdrail.Runtime, source Source, options Options) (*Server, error) {
	options = options.withDefaults()
	s := &Server{
		runtime:   rt,
		source:    source,
		options:   options,
		told:      map[string]bool{},
		questions: make(chan struct{}, options.Questions),
	}
	s.parking = newParking(options.Questions, options.Waiting+parkedGrace)
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "thirdrail", Title: "Thirdrail Code Mode", Version: options.Version},
		&sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{
			Tools:   &sdk.ToolCapabilities{ListChanged: true},
			Logging: &sdk.LoggingCapabilities{},
		}})
	s.life, s.end = context.WithCancelCause(context.Background())
	c, err := s.newCatalogue()
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	s.offer(c)
	s.work.Go(func() { s.follow(s.life) })
	return s, nil
}

// errClosed is why runs end with their server.
var errClosed = errors.New("the server was closed")

// ServeIO serves one client on a pair of pipes, such as standard input and output,
// and returns nil when the client is gone. When ctx ends, it ends all runs first.
func (s *Server) ServeIO(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	// The SDK waits for calls that go on, so the runs have to end before.
	defer context.AfterFunc(ctx, func() { s.end(context.Cause(ctx)) })()
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: maxMessageBytes})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the connection to the client broke: %w", err)
	}
	return nil
}

// maxMessageBytes is the longest message that a client may send.
const maxMessageBytes = 4 << 20

// Close ends all runs and all sessions, and returns when no goroutine is left.
func (s *Server) Close() error {
	s.end(errClosed)
	s.parking.close()
	var errs []error
	for session := range s.sdk.Sessions() {
		errs = append(errs, session.Close())
	}
	s.work.Wait()
	told := make(chan struct{})
	go func() {
		s.telling.Wait()
		close(told)
	}()
	timer := time.NewTimer(closePatience)
	defer timer.Stop()
	select {
	case <-told:
	case <-timer.C:
	}
	return errors.Join(errs...)
}
