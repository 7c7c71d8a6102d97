package upstream

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/codemode"
)

func TestArgumentsAndResultsKeepEveryByte(t *testing.T) {
	t.Parallel()
	const args = `{"z":9007199254740993,"a":"é😀","m":[1.10,-0,1e2],"n":{"z":null,"a":{}},"k":12345678901234567890123}`
	eachKind(t, "", func(t *testing.T, s *Servers) {
		result := must(t, s, t.Context(), "echo", args)
		if got, want := result.Structured.String(), parse(t, args).String(); got != want {
			t.Errorf("structured\n got %s\nwant %s", got, want)
		}
		if got := result.Content[0].Text; got != parse(t, args).String() {
			t.Errorf("what the server saw\n got %s\nwant %s", got, parse(t, args))
		}
	})
}

func TestResults(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		ctx := t.Context()
		if got := must(t, s, ctx, "broken", `{}`); got.Structured.String() != `{"other":1}` {
			t.Errorf("a result that breaks its schema: %+v", got)
		}
		if got := must(t, s, ctx, "wrapped", `{}`); !got.Wrapped || got.Structured.String() != `{"result":[1,2]}` {
			t.Errorf("a wrapped result: %+v", got)
		}
		if got := must(t, s, ctx, "fail", `{}`); !got.IsError || got.Content[0].Text != "the disk is full" {
			t.Errorf("a failure: %+v", got)
		}
		if got := must(t, s, ctx, "garbage", `{}`); got.Content[0].Text != "after garbage" {
			t.Errorf("after garbage: %+v", got)
		}
		if got := must(t, s, ctx, "text", `{"text":"007"}`); got.Structured.Exists() || got.Content[0].Text != "007" {
			t.Errorf("text: %+v", got)
		}
		if _, err := callTool(t, s, ctx, "refuse", `{}`); err == nil || err.Error() != "the arguments are odd" {
			t.Errorf("an error of the protocol: %v", err)
		}
		if _, err := callTool(t, s, ctx, "twice", `{}`); err == nil || !strings.Contains(err.Error(), "can't cross without loss: lossless: duplicate object name") {
			t.Errorf("a name that is there twice: %v", err)
		}
		checkContent(t, must(t, s, ctx, "content", `{}`).Content)
		if got := fmt.Sprint(s.Status()[0].State); got != "ready" {
			t.Errorf("the server is %s after all that", got)
		}
	})
}

func checkContent(t *testing.T, got []codemode.Content) {
	t.Helper()
	want := []codemode.Content{
		{Text: "one"},
		{MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")},
		{MIME: "audio/wav", Data: []byte("RIFF")},
		{Text: "inside"},
		{MIME: "application/octet-stream", Data: []byte{0, 1, 2}, Name: "c.bin"},
		{Text: `{"type":"resource_link","uri":"file:///a/d","name":"d"}`},
		{Text: `{"type":"hologram","id":9007199254740993}`},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("content\n got %v\nwant %v", got, want)
	}
}

func TestAnAnswerThatIsTooLargeFailsOnlyItsCall(t *testing.T) {
	t.Parallel()
	for _, http := range []bool{false, true} {
		t.Run(fmt.Sprintf("http %v", http), func(t *testing.T) {
			one := lines("")
			if http {
				one = overHTTP(t, "")
			}
			s := connect(t, Options{}, one)
			_, err := callTool(t, s, t.Context(), "giant", fmt.Sprintf(`{"bytes":%d}`, MaxMessage+1))
			if err == nil || !strings.Contains(err.Error(), "larger than 32 MiB") {
				t.Errorf("a giant answer: %v", err)
			}
			if got := must(t, s, t.Context(), "giant", fmt.Sprintf(`{"bytes":%d}`, MaxMessage/4)).Content[0].Text; len(got) != MaxMessage/4 {
				t.Errorf("a large answer has %d bytes", len(got))
			}
		})
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := callTool(t, s, ctx, "sleep", `{}`)
			done <- err
		}()
		waitForTally(t, s, `"sleep":1`)
		began := time.Now()
		cancel()
		if err := <-done; err == nil {
			t.Error("a cancelled call succeeded")
		}
		waitForTally(t, s, `"cancelled":["sleep"]`)
		if took := time.Since(began); took > time.Second {
			t.Errorf("the server knew after %v", took)
		}
	})
}

// waitForTally asks the server until its tally has a text.
func waitForTally(t *testing.T, s *Servers, want string) {
	t.Helper()
	over := time.Now().Add(limit)
	for {
		got := must(t, s, t.Context(), "tally", `{}`).Structured.String()
		if strings.Contains(got, want) {
			return
		}
		if time.Now().After(over) {
			t.Fatalf("the server never says %s, but %s", want, got)
		}
	}
}
