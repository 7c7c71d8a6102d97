package mcp

//lint:file-ignore SA1019 logging is deprecated from protocol 2026-07-28 on, but today's clients read it (SEP-2577)

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// reports is a handler that tells of its progress.
func reports(ctx context.Context, _ lossless.Value) (codemode.Result, error) {
	caller, _ := upstream.CallerOf(ctx)
	caller.Progress(ctx, 1, 2, "half")
	caller.Log(ctx, "warning", "db", json.RawMessage(`{"disk":"full"}`))
	return codemode.Text(fmt.Sprint(caller.WantsProgress())), nil
}

// heard calls run_code with a token of progress, if it isn't nil, and returns what
// came as progress and as logs, all before the result.
func (p *peer) heard(code string, token any, level sdk.LoggingLevel) (progress, logs []string, text string) {
	p.t.Helper()
	meta := sdk.Meta{}
	if token != nil {
		meta["progressToken"] = token
	}
	if level != "" {
		if p.protocol >= newest {
			meta[sdk.MetaKeyLogLevel] = level
		} else if err := p.SetLoggingLevel(p.t.Context(), &sdk.SetLoggingLevelParams{Level: level}); err != nil {
			p.t.Fatal(err)
		}
	}
	result, err := p.call(p.t.Context(), map[string]any{"code": code}, meta)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := 0.0
	for _, n := range p.progress {
		if fmt.Sprint(n.ProgressToken) != fmt.Sprint(token) || n.Progress <= last {
			p.t.Errorf("progress %v of the token %v after %v, want the token %v", n.Progress, n.ProgressToken, last, token)
		}
		last = n.Progress
		progress = append(progress, n.Message)
	}
	for _, n := range p.logs {
		logs = append(logs, fmt.Sprint(n.Level, " ", n.Logger, " ", n.Data))
	}
	return progress, logs, textOf(p.t, result)
}

func TestProgressAndLogs(t *testing.T) {
	s := newServer(t, newSource(tool(t, "db", "reports", reports)), Options{})
	const code = "print('one')\nprint('two')\nreturn await db.reports()"
	for _, protocol := range protocols {
		for _, token := range []any{"a token", 7} {
			progress, logs, text := connect(t, s, protocol, nil).heard(code, token, "")
			if got := strings.Join(progress, "|"); got != "one|two|[1/2] half" || len(logs) > 0 || text != "one\ntwo\n[value] \"true\"" {
				t.Errorf("%s: progress %q, logs %q, text %q", protocol, got, logs, text)
			}
		}
		progress, logs, text := connect(t, s, protocol, nil).heard(code, nil, "info")
		if got := strings.Join(logs, "|"); got != "info run_code one|info run_code two|warning db map[disk:full]" || len(progress) > 0 || !strings.HasSuffix(text, `"false"`) {
			t.Errorf("%s: progress %q, logs %q, text %q", protocol, progress, got, text)
		}
		if _, logs, _ := connect(t, s, protocol, nil).heard(code, nil, "warning"); len(logs) != 1 {
			t.Errorf("%s: logs %q", protocol, logs)
		}
	}
}

// TestFloodOfOutput: notifications are bounded, and what isn't told is in the result.
func TestFloodOfOutput(t *testing.T) {
	s := newServer(t, newSource(), Options{})
	progress, _, text := connect(t, s, legacy, nil).heard("for i in range(3000): print(i)", "t", "")
	if len(progress) != maxNotices+1 || !strings.HasPrefix(progress[maxNotices], "[no more is shown") || !strings.Contains(text, "2999") {
		t.Errorf("%d notifications, the last %q, text %.200q", len(progress), progress[len(progress)-1], text)
	}
}

// TestTokensThatAreNotExact: a token that wasn't read exactly is nobody's.
func TestTokensThatAreNotExact(t *testing.T) {
	for token, want := range map[any]any{"x": "x", 7.0: 7.0, 1.5: nil, 1e17: nil, nil: nil} {
		if got := exactToken(token); got != want {
			t.Errorf("%v: %v", token, got)
		}
	}
}
