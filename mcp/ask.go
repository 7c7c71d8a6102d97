package mcp

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// maxQuestions is how often one run may ask. Clients of the newest protocol answer
// about ten rounds themselves.
const maxQuestions = 64

// unavailable is a question that nobody could be asked. Its text is for the program.
// It is never a decision of the user's.
type unavailable struct{ reason string }

// Error begins with the words that models know.
func (u unavailable) Error() string { return "approval unavailable: " + u.reason }

// errNoAnswer ends a question that stayed open for too long.
var errNoAnswer = errors.New("nobody answered")

// question is one that waits for a request that brings its answer.
type question struct {
	params *sdk.ElicitParams
	answer chan answer // with room for one
}

type answer struct {
	result *sdk.ElicitResult
	err    error
}

// Elicit asks the client's user for a server, whose question it stays.
func (r *run) Elicit(ctx context.Context, server string, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	own := *params
	own.Meta = nil // what is in it is between that server and us
	own.Message = fmt.Sprintf("The server %s asks: %s", plain(server, 60), cutText(params.Message, 4000))
	return r.ask(ctx, &own)
}

// ask asks the client's user, and waits for the answer with the wall clock stopped.
// An error is an unavailable, or that of ctx.
func (r *run) ask(ctx context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	if reason := r.client.cantAsk(params.Mode); reason != "" {
		return nil, unavailable{reason}
	}
	select {
	case r.server.questions <- struct{}{}:
		defer func() { <-r.server.questions }()
	default:
		return nil, unavailable{"too many questions wait for an answer already; try again later"}
	}
	id, err := r.countQuestion()
	if err != nil {
		return nil, err
	}
	defer thirdrail.Waiting(ctx)()
	waiting := r.server.options.Waiting
	asking, cancel := context.WithTimeoutCause(ctx, waiting, errNoAnswer)
	defer cancel()
	var result *sdk.ElicitResult
	if r.client.byResult {
		result, err = r.askByResult(asking, id, params)
	} else {
		result, err = r.askDirectly(asking, params)
	}
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case context.Cause(asking) == errNoAnswer:
		return nil, unavailable{fmt.Sprintf("nobody answered within %v", waiting)}
	}
	var known unavailable
	if errors.As(err, &known) {
		return nil, known
	}
	return nil, unavailable{plain(err.Error(), 400)}
}

func (r *run) countQuestion() (id string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == maxQuestions {
		return "", unavailable{fmt.Sprintf("this run has asked %d times already", maxQuestions)}
	}
	r.asked++
	return fmt.Sprintf("question-%d", r.asked), nil
}

// askDirectly asks in the middle of the request, as protocols up to 2025-11-25 do.
func (r *run) askDirectly(ctx context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	a := r.hear()
	if a == nil {
		return nil, unavailable{"no request waits for this run"}
	}
	// The request's own context leads the question to its stream.
	asking, cancel := context.WithCancel(a.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	return a.session.Elicit(asking, params)
}

// askByResult puts the question into the next result, and waits for the request that
// brings the answer.
func (r *run) askByResult(ctx context.Context, id string, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	q := &question{params: params, answer: make(chan answer, 1)}
	r.mu.Lock()
	r.open[id] = q
	r.tell()
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.open, id)
	}()
	select {
	case a := <-q.answer:
		return a.result, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// tell has serve look at the open questions. The caller holds mu.
func (r *run) tell() {
	select {
	case r.arrived <- struct{}{}:
	default:
	}
}

var _ upstream.Caller = (*run)(nil)
