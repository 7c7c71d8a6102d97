package upstream

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Caller is what the outer request of a run can do for the calls that the run makes.
// Its methods may be called from any goroutine. Values are compared with ==, so use a
// pointer, one for each run.
type Caller interface {
	// WantsProgress tells whether Progress reaches anybody. If it doesn't, servers are
	// not asked to report any.
	WantsProgress() bool
	// Meta is the _meta of the outer request. What of it is nobody's but the
	// protocol's, see Reserved, goes to no server; all else goes to each that is
	// called. It must not change afterwards. Nil means none.
	Meta() map[string]any
	// Progress hands on how far an inner call is. Its values rise within a call. Total
	// is 0 where it is not known. It must not block.
	Progress(ctx context.Context, progress, total float64, message string)
	// Log hands on what a server logged. It must not block.
	Log(ctx context.Context, level, logger string, data json.RawMessage)
	// Elicit asks the user for a server. An error says why nobody could be asked. It
	// is told to the server as a failure, never as the user's decision.
	Elicit(ctx context.Context, server string, params *mcp.ElicitParams) (*mcp.ElicitResult, error)
}

type callerKey struct{}

// WithCaller returns a context whose calls of tools have a Caller. Without one,
// progress and logs go nowhere, and servers that ask are told that nobody answers.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the Caller of a context, and whether it has one.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok && c != nil
}

// unavailable is why nobody could be asked.
type unavailable struct{ reason error }

func (u unavailable) Error() string { return "approval unavailable: " + u.reason.Error() }

func (u unavailable) Unwrap() error { return u.reason }

var (
	errNobody  = errors.New("this program runs without a user who could be asked")
	errSeveral = errors.New("the server asked while programs of several users were calling it, and does not say whom it means")
)
