package mcp

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// through returns a server over a true server behind it, which is a process or at a URL.
func through(t *testing.T, overHTTP bool, options Options) *Server {
	t.Helper()
	one := upstream.Server{Name: "raw", Command: os.Args[0], Env: map[string]string{rawserver.Variable: ""}}
	if overHTTP {
		raw, err := rawserver.New("modern")
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(raw)
		t.Cleanup(web.Close)
		one = upstream.Server{Name: "raw", URL: web.URL}
	}
	servers, err := upstream.Connect(t.Context(), upstream.Config{Servers: []upstream.Server{one}}, upstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { servers.Close() })
	return newServer(t, servers, options)
}

// TestThrough has programs call a true server, over both ways to it.
func TestThrough(t *testing.T) {
	for i, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			p := connect(t, through(t, i == 1, Options{}), protocol, nil)
			if _, text := p.listed(); !strings.Contains(text, rawserver.Instructions) {
				t.Errorf("the description lacks the server's instructions: %s", text)
			}
			checkCancel(t, p)
			checkMeta(t, p)
			checkEnd(t, p, i == 1)
			p.run("await raw.grow()")
			for {
				within(t, p.changed, "list_changed")
				if _, text := p.listed(); strings.Contains(text, "async def grown_0(") {
					return
				}
			}
		})
	}
}

// checkCancel cancels a request while an inner call waits: the server behind knows
// within a second.
func checkCancel(t *testing.T, p *peer) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := p.call(ctx, map[string]any{"code": "await raw.sleep()"}, nil)
		ended <- err
	}()
	tally := "while %s:\n    t = await raw.tally()\nimport time\nreturn time.time()"
	p.run("t = {'calls': {}}\n" + fmt.Sprintf(tally, "'sleep' not in t['calls']"))
	began := time.Now()
	cancel()
	within(t, ended, "the end of the request")
	knew := p.run("t = {'cancelled': []}\n" + fmt.Sprintf(tally, "'sleep' not in t['cancelled']"))
	at, err := reportOf(t, knew).Value.Float64()
	if took := at - float64(began.UnixNano())/1e9; err != nil || took > 1 {
		t.Errorf("the server knew after %v s, %v", took, err)
	}
}

// checkMeta looks at what crosses beside a call and its result.
func checkMeta(t *testing.T, p *peer) {
	t.Helper()
	result, err := p.call(t.Context(), map[string]any{"code": "m = await raw.meta()\nreturn [m.get('traceparent'), m.get('big'), m.get('n'), m.get('progressToken') == 'outer']"},
		sdk.Meta{"traceparent": "00-1", "big": 1e17, "n": 7, "progressToken": "outer"})
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, result); got != `["00-1",null,7,false]` {
		t.Errorf("the server got %s", got)
	}
	if want := `[{"server":"raw","tool":"meta","_meta":{"ui":{"z":9007199254740993,"a":2}}}]`; !strings.Contains(p.crossed(), `"thirdrail.dev/results":`+want) {
		t.Errorf("%s is not in what crossed", want)
	}
	if result := p.run("return await raw.text(text='x')"); result.Meta[metaResults] != nil {
		t.Errorf("what is of another run came with %v", result.Meta)
	}
}

// checkEnd has a process end in the middle of a call, which raises.
func checkEnd(t *testing.T, p *peer, overHTTP bool) {
	t.Helper()
	if overHTTP {
		return
	}
	got := textOf(t, p.run("try: await raw.crash()\nexcept ToolError as e: return str(e)"))
	if !strings.Contains(got, "whether it was carried out is not known") || !strings.Contains(got, "it is being started again") {
		t.Errorf("text %s", got)
	}
	const again = `
import asyncio
while True:
    try:
        return await raw.text(text="back")
    except ToolError as e:
        if "try again" not in str(e): raise
        await asyncio.sleep(0.01)`
	if got := textOf(t, p.run(again)); got != `"back"` {
		t.Errorf("after it: %s", got)
	}
}

// TestInstructionsOfDeniedTools: what speaks of a tool that isn't there is left out.
func TestInstructionsOfDeniedTools(t *testing.T) {
	source := newSource(tool(t, "db", "read", echo), tool(t, "db", "write", echo))
	source.status = []upstream.Status{{Name: "db", State: upstream.Ready, Stale: true, Instructions: "Be kind. Use write."}}
	_, text := connect(t, newServer(t, source, Options{}), legacy, nil).listed()
	if !strings.Contains(text, "Be kind.") || !strings.Contains(text, "may be out of date: db.") {
		t.Errorf("tools %s", text)
	}
	policy := Policy{Rules: []Rule{{"db", "write", Deny}}}
	if _, text := connect(t, newServer(t, source, Options{Policy: policy}), legacy, nil).listed(); strings.Contains(text, "Be kind.") {
		t.Errorf("tools %s", text)
	}
}

// TestMetasAreBounded: the newest stay, and what is left out is counted.
func TestMetasAreBounded(t *testing.T) {
	var m metas
	for i := range maxMetas + 5 {
		m.add("db", fmt.Sprint(i), parse(t, `{"a":1}`))
	}
	m.add("db", "none", parse(t, `{"a":1}`).Get("b"))
	got := m.meta()
	if list := got[metaResults].([]resultMeta); len(list) != maxMetas || list[0].Tool != "5" || got[metaLeftOut] != 5 {
		t.Errorf("%d, the first of %s, %v left out", len(list), list[0].Tool, got[metaLeftOut])
	}
	m.add("db", "large", parse(t, `"`+strings.Repeat("x", maxMetaBytes)+`"`))
	if got := m.meta(); got[metaResults] != nil || got[metaLeftOut] != maxMetas+6 {
		t.Errorf("%v", got)
	}
}
