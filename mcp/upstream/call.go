package upstream

//lint:file-ignore SA1019 logging is deprecated from protocol 2026-07-28 on, but today's clients read it (SEP-2577)

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// stateless is the first version of the protocol whose requests carry what sessions
// carried before.
const stateless = "2026-07-28"

// call calls a tool. Its errors are for the program to read.
func (s *server) call(ctx context.Context, tool string, args lossless.Value) (codemode.Result, error) {
	x, err := s.current()
	if err != nil {
		return codemode.Result{}, err
	}
	caller, _ := CallerOf(ctx)
	params := &mcp.CallToolParams{Name: tool, Meta: mcp.Meta{}}
	if caller != nil {
		for name, value := range caller.Meta() {
			if !Reserved(name) {
				params.Meta[name] = value
			}
		}
	}
	if args.Exists() {
		params.Arguments = args
	}
	raw, err := x.do(ctx, caller, func(ctx context.Context, c *call) error {
		if caller != nil && caller.WantsProgress() {
			params.SetProgressToken(c.token) // ours: one from outside may mean two calls here
		}
		if caller != nil && x.client.InitializeResult().ProtocolVersion >= stateless {
			params.Meta[mcp.MetaKeyLogLevel] = "info"
		}
		_, err := x.client.CallTool(ctx, params)
		return err
	})
	if err != nil {
		return codemode.Result{}, s.explain(ctx, x, err)
	}
	return resultOf(raw)
}

// do makes one request of a session, and returns its result as the server sent it.
func (x *session) do(ctx context.Context, caller Caller, send func(context.Context, *call) error) (lossless.Value, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(x.ctx, func() { cancel(context.Cause(x.ctx)) })
	defer stop()
	c, err := x.begin(ctx, caller)
	if err != nil {
		return lossless.Value{}, err
	}
	defer x.finish(c)
	if err := send(c.ctx, c); err != nil {
		return lossless.Value{}, err
	}
	if raw := c.kept(); raw.Exists() {
		return raw, nil
	}
	return lossless.Value{}, errors.New("the server's result is no object")
}

// explain says an error of the SDK in words for a program.
func (s *server) explain(ctx context.Context, x *session, err error) error {
	var refused *jsonrpc.Error
	var nobody unavailable
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &nobody):
		return nobody
	case errors.As(err, &refused):
		return errors.New(refused.Message)
	case x.reason() != nil:
		err = x.reason()
		fallthrough
	case errors.Is(err, mcp.ErrConnectionClosed):
		return fmt.Errorf("the server %q ended during the call, so whether it was carried out is not known (%w); it is being started again",
			s.config.Name, err)
	}
	return fmt.Errorf("the server %q could not be called: %w", s.config.Name, err)
}

// current returns the session that takes calls.
func (s *server) current() (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		return s.session, nil
	}
	if s.state == Starting {
		return nil, fmt.Errorf("the server %q is still starting; try again in a while", s.config.Name)
	}
	return nil, fmt.Errorf("the server %q is not running (%v); it is being started again, so try again in a while", s.config.Name, s.err)
}
