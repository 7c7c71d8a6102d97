package upstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

func TestProgressRisesAndHasATokenOfItsOwn(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		r := &recorder{progress: true}
		result := must(t, s, WithCaller(t.Context(), r), "progress", `{}`)
		if token, err := result.Structured.Get("token").Text(); err != nil || token == "" {
			t.Errorf("the token is %s", result.Structured)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if got := fmt.Sprint(r.values, r.steps); got != "[1 2.5 3] [step 1 step 2.5 step 3]" {
			t.Error(got)
		}
	})
}

func TestNobodyWhoWantsProgressNoToken(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{}, lines(""))
	for _, ctx := range []context.Context{t.Context(), WithCaller(t.Context(), &recorder{})} {
		if got := must(t, s, ctx, "progress", `{}`).Structured.String(); got != `{"token":null}` {
			t.Error(got)
		}
	}
}

func TestLogsReachTheCaller(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		r := &recorder{}
		must(t, s, WithCaller(t.Context(), r), "log", `{}`)
		r.mu.Lock()
		defer r.mu.Unlock()
		if got := fmt.Sprint(r.logs); got != `[warning disk {"z":9007199254740993,"a":1}]` {
			t.Error(got)
		}
	})
}

func TestQuestionsReachTheCaller(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		r := &recorder{answer: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"zone": "b", "amount": 3}}, nil
		}}
		result := must(t, s, WithCaller(t.Context(), r), "ask", `{}`)
		if got := result.Structured.String(); !strings.Contains(got, `"action":"accept"`) || !strings.Contains(got, `"zone":"b"`) {
			t.Errorf("the server got %s", got)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.asked) != 1 {
			t.Fatalf("asked %d times", len(r.asked))
		}
		schema, err := lossless.Of(r.asked[0].RequestedSchema)
		if err != nil || schema.String() != rawserver.Question {
			t.Errorf("schema %s, %v", schema, err)
		}
		if r.asked[0].Message != "Which zone?" || r.asked[0].Meta != nil {
			t.Errorf("%+v", r.asked[0])
		}
	})
}

func TestAUserWhoDeclinesIsToldAsThat(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		r := &recorder{answer: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}}
		got := must(t, s, WithCaller(t.Context(), r), "ask", `{}`).Structured.String()
		if !strings.Contains(got, `"action":"decline"`) {
			t.Error(got)
		}
	})
}

// TestNobodyToAskIsNoDecision has a server ask where nobody answers: it gets an error
// in the older protocol, and the program gets one in the newest, which has no other way.
func TestNobodyToAskIsNoDecision(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		for _, ctx := range []context.Context{t.Context(), WithCaller(t.Context(), &recorder{})} {
			result, err := callTool(t, s, ctx, "ask", `{}`)
			told := result.Structured.String()
			if err != nil {
				told = err.Error()
			}
			if !strings.Contains(told, "approval unavailable: ") || strings.Contains(told, "decline") || strings.Contains(told, "cancel") {
				t.Errorf("%s", told)
			}
		}
	})
}

// TestAQuestionNeverReachesAnotherUser has a server ask over lines, where a question
// does not say which call it belongs to, while two users' programs call it.
func TestAQuestionNeverReachesAnotherUser(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{}, lines(""))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = callTool(t, s, WithCaller(ctx, &recorder{}), "sleep", `{}`)
	}()
	waitForTally(t, s, `"sleep":1`)
	r := &recorder{answer: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return nil, errors.New("asked all the same")
	}}
	got := must(t, s, WithCaller(t.Context(), r), "ask", `{}`).Structured.String()
	if !strings.Contains(got, "several users") {
		t.Error(got)
	}
	cancel()
	<-done
}

// TestAQuestionEndsWithItsCall has a user who never answers.
func TestAQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		r := &recorder{answer: func(asked context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			cancel()
			<-asked.Done()
			close(ended)
			return nil, asked.Err()
		}}
		if _, err := callTool(t, s, WithCaller(ctx, r), "ask", `{}`); err == nil {
			t.Error("the call succeeded")
		}
		<-ended
	})
}

func TestAFloodIsNoTrouble(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		r := &recorder{progress: true}
		if got := must(t, s, WithCaller(t.Context(), r), "flood", `{"n":2000}`).Content[0].Text; got != "done" {
			t.Error(got)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.values) != 2000 || len(r.logs) != 2000 {
			t.Errorf("%d values, %d logs", len(r.values), len(r.logs))
		}
	})
}
