package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// loop writes n rows and returns what became of each.
const loop = `
import asyncio
out = []
for n in range(%d):
    try:
        out.append((await db.write(n=n))['n'])
    except ToolError as e:
        out.append(str(e).split(':')[0])
return out`

const gather = `
import asyncio
out = await asyncio.gather(*(db.write(n=n) for n in range(%d)), return_exceptions=True)
return [x['n'] if isinstance(x, dict) else str(x).split(':')[0] for x in out]`

func accept(n any) user { return says("accept", map[string]any{"calls": n}) }

// approvalCases are users, programs, and what became of them, with the count of
// questions.
var approvalCases = []struct {
	name, code string
	user       user
	text       string
	questions  int
	calls      int
}{
	{"accepted", fmt.Sprintf(loop, 1), accept(1), "[0]", 1, 1},
	{"accepted without content", fmt.Sprintf(loop, 1), says("accept", nil), "[0]", 1, 1},
	{"declined", fmt.Sprintf(loop, 1), says("decline", nil), `["declined"]`, 1, 0},
	{"dismissed", fmt.Sprintf(loop, 1), says("cancel", nil), `["not approved"]`, 1, 0},
	{"declined once for all", fmt.Sprintf(loop, 3), says("decline", nil), `["declined","declined","declined"]`, 1, 0},
	{"nobody to ask", fmt.Sprintf(loop, 2), nil, `["approval unavailable","approval unavailable"]`, 0, 0},
	{"one after the other", fmt.Sprintf(loop, 3), accept(1), "[0,1,2]", 3, 3},
	{"a loop of fifty, with a count", fmt.Sprintf(loop, 50), accept(3), "[0,1,2," + strings.TrimSuffix(strings.Repeat(`"approval used up",`, 47), ",") + "]", 1, 3},
	{"all at once", fmt.Sprintf(gather, 4), accept(4), "[0,1,2,3]", 1, 4},
	{"all at once, some", fmt.Sprintf(gather, 4), accept(2), "", 1, 2},
	{"a count that makes no sense", fmt.Sprintf(loop, 1), says("accept", map[string]any{"other": 1}), "[0]", 1, 1},
	{"what needs no approval", "return await db.read(n=1)", says("decline", nil), `{"n":1}`, 0, 0},
}

func TestApproval(t *testing.T) {
	for _, protocol := range protocols {
		for _, c := range approvalCases {
			t.Run(protocol+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				var seen recorder
				s := newServer(t, newSource(destructive(tool(t, "db", "write", seen.handle)), tool(t, "db", "read", echo)), Options{})
				p := connect(t, s, protocol, c.user)
				result := p.run(c.code)
				if got := textOf(t, result); c.text != "" && got != c.text {
					t.Errorf("text %s, want %s", got, c.text)
				}
				if len(p.asked) != c.questions {
					t.Errorf("%d questions, want %d", len(p.asked), c.questions)
				}
				if got := seen.seen(); len(got) != c.calls {
					t.Errorf("the tool saw %q, want %d calls", got, c.calls)
				}
			})
		}
	}
}

// fakeRun is a run that keeps its question.
type fakeRun struct{ asked *sdk.ElicitParams }

func (r *fakeRun) ask(_ context.Context, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	r.asked = params
	return &sdk.ElicitResult{Action: "decline"}, nil
}

func (*fakeRun) purpose() string { return (&run{about: "Clean up\nthe rows"}).purpose() }

// TestQuestion looks at what the user sees. All seven calls have come before the time
// that it waits for more is over, since time stands still until they have.
func TestQuestion(t *testing.T) { synctest.Test(t, checkQuestion) }

func checkQuestion(t *testing.T) {
	long := "x\u202e" + strings.Repeat("y", 5000)
	var r fakeRun
	all := approvals{run: &r}
	var calls sync.WaitGroup
	for n := range 7 {
		args := parse(t, fmt.Sprintf(`{"n":%d,"text":"%s"}`, n, long))
		calls.Go(func() {
			if err := all.allow(t.Context(), destructive(tool(t, "db", "write", echo)), args); err == nil {
				t.Error("a call was allowed")
			}
		})
	}
	calls.Wait()
	message := r.asked.Message
	for _, part := range []string{
		`A program wants to call write of the server db ("The write"), 7 times.`, `says about the program: "Clean up the rows"`,
		`,"text":"x\u202eyyy`, "The arguments of 2 more calls are not shown.",
	} {
		if !strings.Contains(message, part) {
			t.Errorf("the question lacks %q:\n%s", part, message)
		}
	}
	// Which of them come first is open: they were made at once.
	if shown := strings.Count(message, `Arguments: {"n":`); shown != 5 {
		t.Errorf("the arguments of %d calls are shown, want 5:\n%s", shown, message)
	}
	if strings.Contains(message, "\u202e") || len(message) > 7000 {
		t.Errorf("the question has %d bytes:\n%s", len(message), message)
	}
	if schema := fmt.Sprintf("%s", r.asked.RequestedSchema); !strings.Contains(schema, `"default":1`) {
		t.Errorf("calls that aren't shown are proposed: %s", schema)
	}
}

// TestPolicyInTheCatalogue: a denied tool is nowhere, and an allowed one isn't asked
// for.
func TestPolicyInTheCatalogue(t *testing.T) {
	policy := Policy{Rules: []Rule{{"mail", "*", Deny}, {"db", "write", Allow}, {"db", "read", Ask}}}
	s := newServer(t, newSource(
		tool(t, "mail", "send", echo), destructive(tool(t, "db", "write", echo)), tool(t, "db", "read", echo),
	), Options{Policy: policy})
	p := connect(t, s, legacy, says("decline", nil))
	list, err := p.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 || strings.Contains(list.Tools[0].Description, "mail") {
		t.Errorf("%v, %v", list, err)
	}
	for code, want := range map[string]string{
		"return 'mail' in globals()":                                 "false",
		"return await tools_search('send mail')":                     "[]",
		"return await db.write(n=1)":                                 `{"n":1}`,
		"try: await db.read()\nexcept ToolError as e: return str(e)": `"declined: the user does not allow this call of db.read; don't try it again in this run"`,
	} {
		if got := textOf(t, p.run(code)); got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
}

// TestAnswerAfterTheLimit: the time of the user's isn't the program's.
func TestAnswerAfterTheLimit(t *testing.T) {
	options := Options{Code: codemode.Options{Limits: thirdrail.Limits{Wall: 500 * time.Millisecond}}}
	slow := func(ctx context.Context, _ *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		timer := time.NewTimer(900 * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return &sdk.ElicitResult{Action: "accept"}, nil
	}
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, newSource(destructive(tool(t, "db", "write", echo))), options)
			if got := textOf(t, connect(t, s, protocol, slow).run("return await db.write(n=1)")); got != `{"n":1}` {
				t.Errorf("text %s", got)
			}
		})
	}
}

// TestNobodyAnswers: a question ends with time.
func TestNobodyAnswers(t *testing.T) {
	s := newServer(t, newSource(destructive(tool(t, "db", "write", echo))), Options{Waiting: 50 * time.Millisecond})
	deaf := func(ctx context.Context, _ *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	got := textOf(t, connect(t, s, legacy, deaf).run("try: await db.write()\nexcept ToolError as e: return str(e)"))
	if got != `"approval unavailable: db.write needs the user's approval, and nobody answered within 50ms"` {
		t.Errorf("text %s", got)
	}
}

// TestTooManyQuestions: open questions are bounded.
func TestTooManyQuestions(t *testing.T) {
	s := newServer(t, newSource(destructive(tool(t, "db", "write", echo))), Options{Questions: 1})
	s.questions <- struct{}{}
	got := textOf(t, connect(t, s, newest, accept(1)).run("await db.write()"))
	if !strings.Contains(got, "approval unavailable: db.write needs the user's approval, and too many questions") {
		t.Errorf("text %s", got)
	}
}

// TestServersQuestion: what a server asks goes to the user of the client whose run
// called it, on every protocol.
func TestServersQuestion(t *testing.T) {
	asks := func(ctx context.Context, _ lossless.Value) (codemode.Result, error) {
		caller, ok := upstream.CallerOf(ctx)
		if !ok {
			return codemode.Result{}, errors.New("no caller")
		}
		result, err := caller.Elicit(ctx, "db", &sdk.ElicitParams{Message: "Which one?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		if err != nil {
			return codemode.Result{}, err
		}
		return codemode.Text(fmt.Sprint(result.Action, " ", result.Content["name"])), nil
	}
	s := newServer(t, newSource(tool(t, "db", "asks", asks)), Options{})
	for _, protocol := range protocols {
		p := connect(t, s, protocol, says("accept", map[string]any{"name": "mine"}))
		if got := textOf(t, p.run("return await db.asks()")); got != `"accept mine"` {
			t.Errorf("%s: text %s", protocol, got)
		}
		if len(p.asked) != 1 || p.asked[0].Message != "The server db asks: Which one?" {
			t.Errorf("%s: asked %v", protocol, p.asked)
		}
		without := connect(t, s, protocol, nil)
		if got := textOf(t, without.run("try: await db.asks()\nexcept ToolError as e: return str(e)")); got != `"approval unavailable: the client can't ask its user (it has no elicitation)"` {
			t.Errorf("%s: text %s", protocol, got)
		}
	}
}

// TestCancelWhileAsking ends the question with the request.
func TestCancelWhileAsking(t *testing.T) {
	asked := make(chan struct{}, 1)
	var ended atomic.Bool
	deaf := func(ctx context.Context, _ *sdk.ElicitParams) (*sdk.ElicitResult, error) {
		asked <- struct{}{}
		<-ctx.Done()
		ended.Store(true)
		return nil, ctx.Err()
	}
	var seen recorder
	s := newServer(t, newSource(destructive(tool(t, "db", "write", seen.handle))), Options{})
	p := connect(t, s, legacy, deaf)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := p.call(ctx, map[string]any{"code": "await db.write()"}, nil)
		done <- err
	}()
	within(t, asked, "the question")
	cancel()
	if err := within(t, done, "the end"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := s.Close(); err != nil || len(seen.seen()) > 0 {
		t.Errorf("%v, the tool saw %q", err, seen.seen())
	}
}
