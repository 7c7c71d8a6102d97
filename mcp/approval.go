package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

const (
	// maxApproved is how many calls one answer can allow.
	maxApproved = 1000
	// shownCalls is of how many calls a question shows the arguments.
	shownCalls = 5
	// shownArguments is how many bytes of the arguments of one call it shows.
	shownArguments = 1000
	// together is how long a question waits for calls of the same tool that are on
	// their way, so that a loop or a gather is one question.
	together = 30 * time.Millisecond
)

// approvals are the answers of a client's user during one run. They are kept by the
// true names of server and tool.
type approvals struct {
	run interface {
		ask(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error)
		purpose() string
	}

	mu     sync.Mutex
	byTool map[[2]string]*approval
}

// approval is that of one tool.
type approval struct {
	waiting []*waitingCall // in the order in which they came; the first one asks
	left    int            // calls that were approved and not made yet
	refusal error          // once there is one, it stands for the run
}

// waitingCall is a call that needs an approval.
type waitingCall struct {
	args    lossless.Value
	turn    chan struct{} // has a token when it is to ask
	decided chan struct{} // closed when refusal is what was decided
	refusal error
}

// allow returns nil when a call may be made, and else why not.
func (a *approvals) allow(ctx context.Context, tool upstream.Tool, args lossless.Value) error {
	a.mu.Lock()
	one := a.of(tool)
	switch {
	case one.refusal != nil:
		defer a.mu.Unlock()
		return one.refusal
	case one.left > 0:
		defer a.mu.Unlock()
		if one.left--; one.left == 0 {
			one.refusal = spent(tool)
		}
		return nil
	}
	call := &waitingCall{args: args, decided: make(chan struct{}), turn: make(chan struct{}, 1)}
	one.waiting = append(one.waiting, call)
	if len(one.waiting) == 1 {
		call.turn <- struct{}{}
	}
	a.mu.Unlock()
	defer thirdrail.Waiting(ctx)()
	for {
		select {
		case <-call.decided:
			return call.refusal
		case <-call.turn:
			a.askFor(ctx, tool, one)
		case <-ctx.Done(): // and with it all calls of the run
			return context.Cause(ctx)
		}
	}
}

func (a *approvals) of(tool upstream.Tool) *approval {
	if a.byTool == nil {
		a.byTool = map[[2]string]*approval{}
	}
	key := [2]string{tool.Namespace, tool.Name}
	if a.byTool[key] == nil {
		a.byTool[key] = &approval{}
	}
	return a.byTool[key]
}

// askFor asks for the calls of a tool that wait. The first of them asks, and then
// has its decision.
func (a *approvals) askFor(ctx context.Context, tool upstream.Tool, one *approval) {
	timer := time.NewTimer(together)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	a.mu.Lock()
	params := approvalForm(tool, one.waiting, a.run.purpose())
	a.mu.Unlock()
	result, err := a.run.ask(ctx, params)
	a.mu.Lock()
	defer a.mu.Unlock()
	one.answer(tool, result, err)
	if len(one.waiting) > 0 {
		one.waiting[0].turn <- struct{}{}
	}
}

// answer gives the calls that wait what was decided.
func (one *approval) answer(tool upstream.Tool, result *sdk.ElicitResult, err error) {
	name := fmt.Sprintf("%s.%s", tool.Namespace, tool.Name)
	switch {
	case err != nil:
		var u unavailable
		if errors.As(err, &u) {
			err = unavailable{fmt.Sprintf("%s needs the user's approval, and %s", name, u.reason)}
		}
		one.refusal = err
	case result.Action == "decline":
		one.refusal = fmt.Errorf("declined: the user does not allow this call of %s; don't try it again in this run", name)
	case result.Action != "accept":
		one.refusal = fmt.Errorf("not approved: the user dismissed the question whether %s may be called", name)
	default:
		n := approvedCalls(result.Content)
		for ; n > 0 && len(one.waiting) > 0; n-- {
			close(one.waiting[0].decided)
			one.waiting = one.waiting[1:]
		}
		one.left = n
		if n == 0 && approvedCalls(result.Content) > 1 {
			one.refusal = spent(tool)
		}
	}
	if one.refusal == nil {
		return
	}
	for _, call := range one.waiting {
		call.refusal = one.refusal
		close(call.decided)
	}
	one.waiting = nil
}

// spent refuses calls beyond those that were approved. The user set that bound, and
// isn't asked to move it.
func spent(tool upstream.Tool) error {
	return fmt.Errorf("approval used up: the calls of %s.%s that the user allowed in this run are made; return what is done and what is left",
		tool.Namespace, tool.Name)
}

// approvedCalls returns how many calls an accepted form allows. An empty one, or one
// that makes no sense, allows the one that was asked for.
func approvedCalls(content map[string]any) int {
	switch n := content["calls"].(type) {
	case float64:
		if n == math.Trunc(n) && n >= 1 && n <= maxApproved {
			return int(n)
		}
	case int:
		if n >= 1 && n <= maxApproved {
			return n
		}
	}
	return 1
}

// approvalForm is the question whether calls that wait may be made.
func approvalForm(tool upstream.Tool, waiting []*waitingCall, purpose string) *sdk.ElicitParams {
	var b strings.Builder
	fmt.Fprintf(&b, "A program wants to call %s of the server %s", plain(tool.Name, 100), plain(tool.Namespace, 60))
	if title := plain(cmp.Or(tool.Title, tool.Tool.Title), 200); title != "" {
		fmt.Fprintf(&b, " (%q)", title)
	}
	if len(waiting) > 1 {
		fmt.Fprintf(&b, ", %d times", len(waiting))
	}
	b.WriteString(".\n")
	if purpose != "" {
		fmt.Fprintf(&b, "What the model says about the program: %q\n", purpose)
	}
	for _, call := range waiting[:min(len(waiting), shownCalls)] {
		fmt.Fprintf(&b, "Arguments: %s\n", argumentText(call.args))
	}
	proposed := len(waiting)
	if len(waiting) > shownCalls {
		fmt.Fprintf(&b, "The arguments of %d more calls are not shown.\n", len(waiting)-shownCalls)
		proposed = 1 // nobody allows unseen what they only didn't change
	}
	return &sdk.ElicitParams{
		Mode:    "form",
		Message: b.String(),
		RequestedSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"calls":{"type":"integer","title":"Calls to allow",`+
			`"description":"How many calls of this tool to allow in this run, whatever their arguments. With 1, each is asked for.",`+
			`"minimum":1,"maximum":%d,"default":%d}}}`, maxApproved, proposed)),
	}
}

// argumentText writes arguments for a person: in full where they are short, and
// nothing in them moves or hides a letter.
func argumentText(args lossless.Value) string {
	var b strings.Builder
	for _, r := range cutLine(args.String(), shownArguments) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// purpose is what the model says that the program does.
func (r *run) purpose() string { return plain(r.about, 200) }
