package upstream

//lint:file-ignore SA1019 logging is deprecated from protocol 2026-07-28 on, but today's clients read it (SEP-2577)

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

const (
	// handshakeLimit is how long a server may take from its start to its first answer.
	// Some are installed on their first start.
	handshakeLimit = 2 * time.Minute
	// steady is how long a server must have run for the next pause to be short again.
	steady = 30 * time.Second
	// maxPause is the longest pause before a server is started again.
	maxPause = time.Minute
	// between is the shortest time from one list of tools to the next.
	between = 100 * time.Millisecond
)

// older is the last version of the protocol that begins with a handshake.
const older = "2025-11-25"

// errLost is why a session is replaced by another while it still takes calls.
var errLost = errors.New("changes of its tools are no longer told")

// A server is one server, with the goroutine that keeps it.
type server struct {
	config  Server
	options Options
	log     *slog.Logger
	changed func()

	settled chan struct{} // closed after the first start, whether it succeeded or not
	once    sync.Once
	old     bool          // it doesn't answer server/discover, so begin with the older handshake
	patient time.Duration // with a server that doesn't answer server/discover

	mu      sync.Mutex
	state   State
	err     error
	stale   bool
	known   []byte // the list that tools are made of
	tools   []Tool
	said    string   // the server's instructions
	session *session // nil while there is none
}

// keep starts the server, and starts it again when it ends.
func (s *server) keep(ctx context.Context) {
	pause := s.options.pause
	var previous *session
	var work sync.WaitGroup
	defer work.Wait()
	replace := func() {
		if old := previous; old != nil {
			previous = nil
			work.Go(func() { old.retire(); old.close() })
		}
	}
	defer func() { replace(); s.replace(nil) }()
	for ctx.Err() == nil {
		began := time.Now()
		x, again, err := s.open(ctx)
		if again {
			continue
		}
		if err == nil {
			s.replace(x)
			replace()
			err = s.serve(ctx, x)
			s.old = s.old || x.pipe != nil && x.pipe.tooOld()
			if errors.Is(err, errLost) && ctx.Err() == nil {
				previous = x // it takes calls until there is another
			} else {
				s.replace(nil)
				x.close()
			}
		}
		if ctx.Err() != nil {
			return
		}
		if previous == nil || !errors.Is(err, errLost) {
			s.replace(nil)
			s.down(err)
			replace()
		}
		if time.Since(began) > steady {
			pause = s.options.pause
		}
		if !wait(ctx, pause) {
			return
		}
		pause = min(2*pause, max(maxPause, s.options.pause))
	}
}

// wait waits, and tells whether the context didn't end meanwhile.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// open connects to the server. Again means to try at once: the server can't take the
// newest handshake.
func (s *server) open(ctx context.Context) (x *session, again bool, err error) {
	x = newSession(ctx, s)
	var transport mcp.Transport
	if s.config.URL != "" {
		transport, err = x.overHTTP(s.config, s.options.HTTPClient)
	} else {
		transport, err = x.overPipe(s.config, s.patient)
	}
	if err != nil {
		x.end(err)
		return nil, false, err
	}
	limited, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	version := ""
	if s.old {
		version = older
	}
	err = x.connect(limited, transport, version)
	if err == nil {
		return x, false, nil
	}
	if line := x.pipe; line != nil {
		if line.hasEnded() {
			if !errors.Is(line.broken, io.EOF) {
				err = line.broken // and not that we closed it
			}
			again = line.tooOld() && !s.old && ctx.Err() == nil
		}
		s.old = s.old || again
		s.patient = min(2*s.patient, handshakeLimit)
		_ = line.Close()
	}
	var unreached *url.Error
	if errors.As(err, &unreached) {
		err = fmt.Errorf("%s can't be reached: %w", s.config.URL, unreached.Err)
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it didn't answer within %v", handshakeLimit)
	}
	x.end(err)
	return nil, again, err
}

// serve lists the server's tools, again when they change, until the session ends.
func (s *server) serve(ctx context.Context, x *session) error {
	x.logInfo()
	x.work.Go(func() {
		if err := x.client.Wait(); err != nil {
			x.end(err)
		} else {
			x.end(errors.New("it closed the connection"))
		}
	})
	pause := s.options.pause
	for {
		err := s.refresh(x)
		var retry <-chan time.Time
		if err != nil && x.ctx.Err() == nil {
			if x.pipe == nil {
				return err // perhaps it is no longer there: connect anew
			}
			retry = time.After(pause)
			pause = min(2*pause, max(maxPause, s.options.pause))
		} else {
			pause = s.options.pause
		}
		if !wait(x.ctx, between) {
			return context.Cause(x.ctx)
		}
		select {
		case <-x.ctx.Done():
			return context.Cause(x.ctx)
		case <-x.lost:
			return errLost
		case <-x.list:
		case <-retry:
		}
	}
}

// logInfo asks a server that logs to log what is worth knowing.
func (x *session) logInfo() {
	handshake := x.client.InitializeResult()
	if handshake.Capabilities == nil || handshake.Capabilities.Logging == nil || handshake.ProtocolVersion >= stateless {
		return
	}
	x.work.Go(func() {
		ctx, cancel := context.WithTimeout(x.ctx, listLimit)
		defer cancel()
		_ = x.client.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "info"})
	})
}

// refresh lists the tools. The last good list stays when that fails.
func (s *server) refresh(x *session) error {
	list, err := x.fetch(x.ctx)
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	known := joined(list)
	s.mu.Lock()
	same := s.known != nil && bytes.Equal(known, s.known)
	s.mu.Unlock()
	var tools []Tool
	if err == nil && !same {
		tools = s.toolsOf(list)
	}
	s.mu.Lock()
	if err != nil {
		s.err, s.stale = err, s.known != nil
		if s.known == nil {
			s.state = Failed
		}
	} else {
		if !same {
			s.known, s.tools = known, tools
		}
		s.state, s.err, s.stale = Ready, nil, false
	}
	s.mu.Unlock()
	s.settle()
	if err != nil {
		s.log.Warn("the server's tools can't be listed; the last list stays", "reason", err)
	}
	return err
}

func joined(list []lossless.Value) []byte {
	all := []byte{'['}
	for _, one := range list {
		all = append(append(all, one.Bytes()...), ',')
	}
	return all
}

// down notes that there is no server.
func (s *server) down(err error) {
	s.mu.Lock()
	s.err = err
	s.state, s.stale = Failed, s.known != nil
	if s.known != nil {
		s.state = Restarting
	}
	level := slog.LevelInfo // it never was ready, which Status tells
	if s.state == Restarting {
		level = slog.LevelWarn
	}
	s.mu.Unlock()
	s.log.Log(context.Background(), level, "the server is not there, and is tried again", "reason", err)
	s.settle()
}

// settle tells that something changed.
func (s *server) settle() {
	s.once.Do(func() { close(s.settled) })
	s.changed()
}

func (s *server) replace(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session = x; x != nil {
		s.said = x.client.InitializeResult().Instructions
	}
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{Name: s.config.Name, State: s.state, Err: s.err, Stale: s.stale, Tools: len(s.tools), Instructions: s.said}
}

func (s *server) list() []Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tools)
}
