package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// run is one program. It lives as long as a request listens to it, or as it is
// parked.
type run struct {
	server    *Server
	catalogue *catalogue // of when it began
	code      string     // as the model sent it
	program   string
	about     string // what the model says that it does
	client    client
	calls     calls
	approvals approvals
	metas     metas

	ctx    context.Context
	cancel context.CancelCauseFunc

	done    chan struct{} // closed when what follows is there
	outcome *codemode.Outcome
	err     error

	mu       sync.Mutex
	audience *audience // nil while the run is parked
	meta     map[string]any
	asked    int // questions so far
	open     map[string]*question
	arrived  chan struct{} // has a token after a question was put into open
}

// runKey is the key of a run in the context of its calls.
type runKey struct{}

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// runCode answers run_code.
func (s *Server) runCode(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	code, about, err := readArguments(req.Params.Arguments)
	if err != nil {
		return s.refusal(err.Error()), nil
	}
	if req.Params.RequestState != "" {
		return s.resume(ctx, req, code)
	}
	program, refusal := codemode.Clean(code)
	if refusal != "" {
		return s.refusal(refusal), nil
	}
	if s.life.Err() != nil {
		return nil, context.Cause(s.life)
	}
	r := &run{
		server:    s,
		catalogue: s.current.Load(),
		code:      code,
		program:   program,
		about:     about,
		client:    clientOf(req),
		done:      make(chan struct{}),
		open:      map[string]*question{},
		arrived:   make(chan struct{}, 1),
	}
	r.approvals.run = r
	r.ctx, r.cancel = context.WithCancelCause(context.WithValue(s.life, runKey{}, r))
	a := r.attach(ctx, req)
	s.work.Go(r.do)
	return r.serve(a)
}

// readArguments returns the members of run_code's arguments.
func readArguments(arguments []byte) (code, about string, err error) {
	value, err := lossless.Parse(arguments, lossless.Options{})
	if err != nil {
		return "", "", fmt.Errorf(`the arguments of run_code must be a JSON object with the program as its member "code" (%w)`, err)
	}
	if code, err = value.Get("code").Text(); err != nil {
		return "", "", errors.New(`the arguments of run_code must be a JSON object with the program as its member "code", a string`)
	}
	about, _ = value.Get("description").Text()
	return code, about, nil
}

// do runs the program to its end.
func (r *run) do() {
	defer close(r.done)
	defer r.cancel(nil)
	options := r.server.options.Code
	session := r.catalogue.set.Session()
	result, err := r.server.runtime.Run(r.ctx, thirdrail.Request{
		Program:        r.program,
		Namespaces:     session.Namespaces(),
		Limits:         options.Limits,
		LastExpression: !options.NoLastExpression,
		OnLog:          r.printed,
	})
	if err != nil {
		r.err = err
		return
	}
	r.outcome = session.Outcome(result)
}

// attach makes a request the one that hears the run.
func (r *run) attach(ctx context.Context, req *sdk.CallToolRequest) *audience {
	a := newAudience(ctx, req)
	r.server.telling.Go(a.send)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.audience, r.meta = a, exactMeta(req.Params.GetMeta())
	return a
}

// serve answers a request with the end of the run, or with its questions where the
// client has to be asked so. When the request ends before, so does the run.
func (r *run) serve(a *audience) (*sdk.CallToolResult, error) {
	defer func() {
		r.mu.Lock()
		r.audience = nil
		r.mu.Unlock()
		a.close()
	}()
	for {
		select {
		case <-r.done:
			return r.result()
		case <-a.ctx.Done():
			r.cancel(context.Cause(a.ctx))
			<-r.done
			return nil, a.ctx.Err()
		case <-r.arrived:
			if result := r.park(); result != nil {
				return result, nil
			}
		}
	}
}

// result returns what became of the program.
func (r *run) result() (*sdk.CallToolResult, error) {
	if errors.Is(r.err, thirdrail.ErrMisuse) && !errors.Is(r.err, thirdrail.ErrClosed) {
		return r.server.refusal(r.err.Error()), nil
	}
	if r.err != nil {
		return nil, r.err
	}
	result := newResult(r.outcome, r.calls.list(), r.server.options.TextBytes)
	result.Meta = r.metas.meta()
	return result, nil
}

// refusal is the result of what can't be run.
func (s *Server) refusal(message string) *sdk.CallToolResult {
	return newResult(&codemode.Outcome{Failure: &thirdrail.Failure{Kind: thirdrail.Exception, Message: message}}, nil, s.options.TextBytes)
}
