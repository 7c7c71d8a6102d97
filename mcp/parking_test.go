package mcp

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const twoQuestions = "a = await db.write(n=1)\nb = await db.drop(n=2)\nreturn [a['n'], b['n']]"

// manual returns a client that answers nothing by itself, of a server with two tools
// that are asked for.
func manual(t *testing.T, options Options) (*Server, *recorder, func(name string) *peer) {
	t.Helper()
	var seen recorder
	s := newServer(t, newSource(destructive(tool(t, "db", "write", seen.handle)), destructive(tool(t, "db", "drop", seen.handle))), options)
	return s, &seen, func(string) *peer {
		near, far := sdk.NewInMemoryTransports()
		served, err := s.sdk.Connect(t.Context(), far, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = served.Close() })
		return connectOver(t, near, newest, says("accept", nil), func(o *sdk.ClientOptions) {
			o.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true}
		})
	}
}

// answer retries a call with an answer to all that was asked.
func (p *peer) answer(code string, result *sdk.CallToolResult, action string) (*sdk.CallToolResult, error) {
	responses := sdk.InputResponseMap{}
	for id := range result.InputRequests {
		responses[id] = &sdk.ElicitResult{Action: action}
	}
	return p.CallTool(p.t.Context(), &sdk.CallToolParams{
		Name: "run_code", Arguments: map[string]any{"code": code}, InputResponses: responses, RequestState: result.RequestState,
	})
}

// TestParked: a program with two questions is parked twice, and makes each call once.
func TestParked(t *testing.T) {
	s, seen, connect := manual(t, Options{})
	p := connect("peer")
	first := p.run(twoQuestions)
	if !first.NeedsInput() || len(first.InputRequests) != 1 || first.RequestState == "" || len(first.Content) > 0 {
		t.Fatalf("result %+v", first)
	}
	second, err := p.answer(twoQuestions, first, "accept")
	if err != nil || !second.NeedsInput() || second.RequestState == first.RequestState {
		t.Fatalf("result %+v, %v", second, err)
	}
	last, err := p.answer(twoQuestions, second, "accept")
	if err != nil || last.NeedsInput() || textOf(t, last) != "[1,2]" {
		t.Fatalf("result %+v, %v", last, err)
	}
	if got := strings.Join(seen.seen(), " "); got != `{"n":1} {"n":2}` {
		t.Errorf("the tools saw %s", got)
	}
	if len(s.parking.runs) != 0 || len(s.questions) != 0 {
		t.Errorf("%d runs are parked, %d questions open", len(s.parking.runs), len(s.questions))
	}
	for _, used := range []*sdk.CallToolResult{first, second} {
		if _, err := p.answer(twoQuestions, used, "accept"); !isBadState(err) {
			t.Errorf("a used token: %v", err)
		}
	}
	if len(seen.seen()) != 2 {
		t.Errorf("the tools saw %q", seen.seen())
	}
}

func isBadState(err error) bool {
	var wire *jsonrpc.Error
	return errors.As(err, &wire) && wire.Code == jsonrpc.CodeInvalidParams && strings.Contains(wire.Message, "requestState")
}

// TestForgedStates: no token but the true one, of the true client, with the true
// program, goes on with a run. And none of the others spoils it.
func TestForgedStates(t *testing.T) {
	_, seen, connect := manual(t, Options{})
	p, other := connect("peer"), connect("other")
	parked := p.run(twoQuestions)
	data, err := base64.RawURLEncoding.DecodeString(parked.RequestState)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] ^= 1
		forged := *parked
		forged.RequestState = base64.RawURLEncoding.EncodeToString(data)
		if _, err := p.answer(twoQuestions, &forged, "accept"); !isBadState(err) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		data[i] ^= 1
	}
	for _, state := range []string{"x", "AAAA", parked.RequestState + "A", parked.RequestState[1:], strings.Repeat("A", 64)} {
		forged := *parked
		forged.RequestState = state
		if _, err := p.answer(twoQuestions, &forged, "accept"); !isBadState(err) {
			t.Errorf("%q: %v", state, err)
		}
	}
	if _, err := other.answer(twoQuestions, parked, "accept"); !isBadState(err) {
		t.Errorf("another client: %v", err)
	}
	if _, err := p.answer("return 1", parked, "accept"); !isBadState(err) {
		t.Errorf("another program: %v", err)
	}
	if len(seen.seen()) > 0 {
		t.Errorf("the tools saw %q", seen.seen())
	}
	if second, err := p.answer(twoQuestions, parked, "accept"); err != nil || !second.NeedsInput() {
		t.Errorf("the true one: %v, %v", second, err)
	}
}

// TestUnanswered: what wasn't answered is asked again.
func TestUnanswered(t *testing.T) {
	_, seen, connect := manual(t, Options{})
	p := connect("peer")
	parked := p.run(twoQuestions)
	none := *parked
	none.InputRequests = nil
	again, err := p.answer(twoQuestions, &none, "accept")
	if err != nil || !again.NeedsInput() || len(again.InputRequests) != 1 || len(seen.seen()) > 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	if declined, err := p.answer(twoQuestions, again, "decline"); err != nil || !declined.IsError || !strings.Contains(textOf(t, declined), "declined: the user") {
		t.Errorf("%v, %v", declined, err)
	}
}

// TestQuestionsTogether: what is asked at once is one result.
func TestQuestionsTogether(t *testing.T) {
	_, _, connect := manual(t, Options{})
	p := connect("peer")
	const code = "import asyncio\na, b = await asyncio.gather(db.write(n=1), db.drop(n=2))\nreturn [a['n'], b['n']]"
	result := p.run(code)
	rounds := 1
	for ; result.NeedsInput(); rounds++ {
		var err error
		if result, err = p.answer(code, result, "accept"); err != nil {
			t.Fatal(err)
		}
	}
	if textOf(t, result) != "[1,2]" || rounds > 3 {
		t.Errorf("%d rounds, text %s", rounds, textOf(t, result))
	}
}

// TestParkedExpires: a run that nobody comes back for ends.
func TestParkedExpires(t *testing.T) {
	s, seen, connect := manual(t, Options{})
	s.parking.wait = 50 * time.Millisecond
	p := connect("peer")
	parked := p.run(twoQuestions)
	within(t, s.gone(), "the end of the run")
	if _, err := p.answer(twoQuestions, parked, "accept"); !isBadState(err) || len(seen.seen()) > 0 {
		t.Errorf("error %v, the tools saw %q", err, seen.seen())
	}
}

// gone returns a channel that is closed when no question is open any more.
func (s *Server) gone() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for range cap(s.questions) { // each place is free only then
			s.questions <- struct{}{}
		}
		for range cap(s.questions) {
			<-s.questions
		}
	}()
	return gone
}

// TestParkedLate: who comes back late gets what the program made of that.
func TestParkedLate(t *testing.T) {
	s, _, connect := manual(t, Options{Waiting: 50 * time.Millisecond})
	p := connect("peer")
	parked := p.run("await db.write()")
	within(t, s.gone(), "the end of the question")
	if late, err := p.answer("await db.write()", parked, "accept"); err != nil || !late.IsError || !strings.Contains(textOf(t, late), "nobody answered within 50ms") {
		t.Errorf("%v, %v", late, err)
	}
}

// TestTooManyParked: parked runs are bounded.
func TestTooManyParked(t *testing.T) {
	s, _, connect := manual(t, Options{})
	s.parking.most = 1
	p := connect("peer")
	if first := p.run(twoQuestions); !first.NeedsInput() {
		t.Fatalf("result %+v", first)
	}
	if second := p.run(twoQuestions); second.NeedsInput() || !strings.Contains(textOf(t, second), "approval unavailable") {
		t.Errorf("result %+v", second)
	}
}

// TestCloseWhileParked: closing the server ends parked runs.
func TestCloseWhileParked(t *testing.T) {
	s, _, connect := manual(t, Options{})
	connect("peer").run(twoQuestions)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestTokenTwiceAtOnce: of two requests that bring the same answer at the same time,
// as a client whose connection broke may send, one goes on and no call is made twice.
func TestTokenTwiceAtOnce(t *testing.T) {
	_, seen, connect := manual(t, Options{})
	p := connect("peer")
	const code = "return await db.write(n=1)"
	parked := p.run(code)
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := p.answer(code, parked, "accept")
			ended <- err
		}()
	}
	first, second := within(t, ended, "an answer"), within(t, ended, "the other answer")
	if isBadState(first) == isBadState(second) {
		t.Errorf("errors %v and %v", first, second)
	}
	if got := seen.seen(); len(got) != 1 {
		t.Errorf("the tool saw %q", got)
	}
}
