package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say how servers are kept. The zero value works.
type Options struct {
	// Logger is told what servers write to standard error, and what goes wrong with
	// them. Nil means that nobody is.
	Logger *slog.Logger
	// StartLimit is how long Connect waits for servers. Those that take longer join
	// later. Zero means 10 s.
	StartLimit time.Duration
	// HTTPClient is for servers at a URL. Its Timeout is not used. Nil means one of
	// its own.
	HTTPClient *http.Client

	pause   time.Duration // before a server is started again, the first time
	patient time.Duration // with a server that doesn't answer server/discover
}

// State is how a server is.
type State string

// The states of a server.
const (
	Starting   State = "starting"   // for the first time
	Ready      State = "ready"      // its tools are listed
	Failed     State = "failed"     // it never was ready, and is tried again
	Restarting State = "restarting" // it was ready, and is started again
)

// Status is how a server is, and why.
type Status struct {
	Name  string
	State State
	// Err is what went wrong last, nil if nothing did.
	Err error
	// Stale tells that Tools are of a list from before something went wrong.
	Stale bool
	// Tools is how many tools it has.
	Tools int
	// Instructions are what the server last said of itself for models. Empty where it
	// says nothing.
	Instructions string
}

// Servers are the servers of a Config. They are safe for concurrent use.
type Servers struct {
	servers []*server
	changed chan struct{}
	cancel  context.CancelFunc
	work    sync.WaitGroup
	client  *http.Client // to close, if it is its own
}

// Connect starts and connects to all servers at the same time, and returns when each is
// ready or has failed, or StartLimit is over, or ctx ends. The servers don't end with
// ctx: call Close. The error is for a Config that can't be used; what goes wrong with
// a server is in its Status.
func Connect(ctx context.Context, config Config, options Options) (*Servers, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.StartLimit == 0 {
		options.StartLimit = 10 * time.Second
	}
	if options.pause == 0 {
		options.pause = 500 * time.Millisecond
	}
	if options.patient == 0 {
		options.patient = 5 * time.Second
	}
	all := &Servers{changed: make(chan struct{}, 1)}
	if options.HTTPClient == nil {
		all.client = &http.Client{}
		if transport, ok := http.DefaultTransport.(*http.Transport); ok {
			all.client.Transport = transport.Clone()
		}
		options.HTTPClient = all.client
	}
	names := map[string]bool{}
	for _, one := range config.Servers {
		if one.Disabled {
			continue
		}
		if err := one.check(); err != nil {
			return nil, fmt.Errorf("the server %q: %w", one.Name, err)
		}
		if names[one.Name] {
			return nil, fmt.Errorf("the server %q is there twice; give each its own name", one.Name)
		}
		names[one.Name] = true
		all.servers = append(all.servers, &server{
			config: one, options: options, log: options.Logger.With("server", one.Name),
			changed: func() { signal(all.changed) }, settled: make(chan struct{}),
			state: Starting, patient: options.patient,
		})
	}
	keeping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	all.cancel = cancel
	for _, s := range all.servers {
		all.work.Go(func() { s.keep(keeping) })
	}
	all.wait(ctx, options.StartLimit)
	return all, nil
}

// wait waits for all servers to be ready or to have failed.
func (s *Servers) wait(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, one := range s.servers {
		select {
		case <-one.settled:
		case <-ctx.Done():
			return
		}
	}
}

// Tools returns the last good list of tools of each server, by the servers' names and
// then the tools' own.
func (s *Servers) Tools() []Tool {
	var tools []Tool
	for _, one := range s.servers {
		tools = append(tools, one.list()...)
	}
	slices.SortStableFunc(tools, func(a, b Tool) int { return strings.Compare(a.Namespace, b.Namespace) })
	return tools
}

// About returns the instructions of the servers that have some, by name.
func (s *Servers) About() map[string]string { return About(s.Status()) }

// About returns the instructions in a list of Status, by name.
func About(all []Status) map[string]string {
	about := map[string]string{}
	for _, one := range all {
		if one.Instructions != "" {
			about[one.Name] = one.Instructions
		}
	}
	return about
}

// Changed returns a channel that holds one value after tools or a Status changed.
func (s *Servers) Changed() <-chan struct{} { return s.changed }

// Status returns how each server is, in the order of the Config.
func (s *Servers) Status() []Status {
	all := make([]Status, 0, len(s.servers))
	for _, one := range s.servers {
		all = append(all, one.status())
	}
	return all
}

// Close ends all servers that were started, and all connections. It returns when
// nothing is left of them.
func (s *Servers) Close() error {
	s.cancel()
	s.work.Wait()
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	return nil
}
