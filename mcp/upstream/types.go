// Package upstream is other people's MCP servers, as codemode tools.
package upstream

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/codemode"
)

// Tool is one tool of a server.
type Tool struct {
	codemode.Tool
	Title                string
	Destructive          *bool
	ReadOnly, Idempotent bool
	OpenWorld            *bool
	Meta                 json.RawMessage
}

// State is how a server is.
type State string

// The states.
const (
	Ready      State = "ready"
	Starting   State = "starting"
	Failed     State = "failed"
	Restarting State = "restarting"
)

// Status is the state of one server.
type Status struct {
	Name  string
	State State
	Err   error
	Stale bool
	Tools int
}

// Caller is what the outer request can do for an inner call.
type Caller interface {
	WantsProgress() bool
	Progress(ctx context.Context, progress, total float64, message string)
	Log(ctx context.Context, level, logger string, data json.RawMessage)
	Elicit(ctx context.Context, server string, params *sdk.ElicitParams) (*sdk.ElicitResult, error)
}

type callerKey struct{}

// WithCaller returns a context with a Caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the Caller of a context.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}
