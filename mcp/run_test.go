package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

var pixel = []byte("\x89PNG\r\n\x1a\n pixel")

// runSource has a tool of each kind.
func runSource(t testing.TB) *fakeSource {
	fails := func(context.Context, lossless.Value) (codemode.Result, error) {
		return codemode.Result{IsError: true, Content: []codemode.Content{{Text: "no such row"}}}, nil
	}
	image := func(mime string) codemode.Handler {
		return func(context.Context, lossless.Value) (codemode.Result, error) {
			return codemode.Result{Content: []codemode.Content{{MIME: mime, Data: pixel}}}, nil
		}
	}
	return newSource(
		tool(t, "db", "echo", echo),
		tool(t, "db", "send-row", echo),
		tool(t, "db", "fails", fails),
		tool(t, "pics", "image", image("image/png")),
		tool(t, "pics", "sound", image("audio/wav")),
		tool(t, "pics", "file", image("application/pdf")),
	)
}

// runCases are programs, and what a client gets of them.
var runCases = []struct {
	name, code string
	text       string   // the whole text, or its beginning if it ends with …
	in         []string // parts of the text
	value      string
	kind       thirdrail.FailureKind
	calls      string
	content    int // parts beside the text
}{
	{name: "a value", code: "return {'n': 1}", text: `{"n":1}`, value: `{"n":1}`, calls: "[]"},
	{name: "output and a value", code: "print('a')\nprint('b')\n1 + 1", text: "a\nb\n[value] 2", value: "2", calls: "[]"},
	{name: "output alone", code: "print('a')", text: "a\n[no value returned]", calls: "[]"},
	{name: "nothing", code: "x = 1", text: "[the program ran once, made no calls, printed nothing and returned nothing; return a value to see one]", calls: "[]"},
	{name: "nothing but a call", code: "await db.echo(n=1)\nx = 1", text: "[the program ran once, made 1 call (db.echo), printed nothing and returned nothing; return a value to see one]", calls: "[db.echo 1]"},
	{name: "calls", code: "import asyncio\nr = await asyncio.gather(*(db.echo(n=n) for n in range(3)), db.send_row())\nreturn [x.get('n') for x in r]", text: "[0,1,2,null]", value: "[0,1,2,null]", calls: "[db.echo 3 db.send-row 1]"},
	{name: "an integer", code: "return (await db.echo(n=9007199254740993))['n'] + 1", text: "9007199254740994", calls: "[db.echo 1]"},
	{name: "order", code: "return await db.echo(z=1, a=2, m=3)", text: `{"z":1,"a":2,"m":3}`, calls: "[db.echo 1]"},
	{name: "a fence", code: "Here it is:\n```python\nreturn 1\n```\n", text: "1", value: "1", calls: "[]"},
	{name: "a syntax error", code: "  x=1", in: []string{"[exception] ", "IndentationError"}, kind: thirdrail.Exception, calls: "[]"},
	{name: "a line of a notebook", code: "!pip install x", in: []string{"[exception] line 1", "nothing can be installed"}, kind: thirdrail.Exception, calls: "[]"},
	{name: "an exception after calls", code: "await db.echo()\nawait db.echo()\nprint('so far')\n1/0", in: []string{"so far\n[exception] ", "ZeroDivisionError", "[before that it made 2 calls (db.echo ×2); what was done is done]"}, kind: thirdrail.Exception, calls: "[db.echo 2]"},
	{name: "a tool that fails", code: "await db.fails()", in: []string{"ToolError", "no such row"}, kind: thirdrail.Exception, calls: "[db.fails 1]"},
	{name: "a tool that fails, caught", code: "try:\n    await db.fails()\nexcept ToolError as e:\n    return [str(e), e.tool]", text: `["no such row","fails"]`, calls: "[db.fails 1]"},
	{name: "a wrong argument makes no call", code: "await db.echo(1, 2)", in: []string{"ToolError"}, kind: thirdrail.Exception, calls: "[]"},
	{name: "an image", code: "return await pics.image()", text: `{"content":0,"mime":"image/png","size":14}`, calls: "[pics.image 1]", content: 1},
	{name: "an image twice is one", code: "i = await pics.image()\nreturn [i, i]", text: `[{"content":0,"mime":"image/png","size":14},{"content":0,…`, calls: "[pics.image 1]", content: 1},
	{name: "an image that stays", code: "i = await pics.image()\nreturn i.size", text: "14", calls: "[pics.image 1]"},
	{name: "sound and a file", code: "return [await pics.sound(), await pics.file()]", text: `[{"content":0,"mime":"audio/wav","size":14},{"content":1,…`, calls: "[pics.file 1 pics.sound 1]", content: 2},
	{name: "too deep for a client", code: "v = []\nfor _ in range(2000): v = [v]\nreturn v", in: []string{"[invalid-output] ", "1000 levels"}, kind: thirdrail.InvalidOutput, calls: "[]"},
	{name: "what a run leaves is gone", code: "return 'x' in globals()", text: "false", calls: "[]"},
	{name: "search", code: "return (await tools_search('row'))[0].split('(')[0]", text: `"db.send_row"`, calls: "[]"},
}

func TestRunCode(t *testing.T) {
	s := newServer(t, runSource(t), Options{})
	for _, protocol := range protocols {
		p := connect(t, s, protocol, nil)
		for _, c := range runCases {
			t.Run(protocol+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				result := p.run(c.code)
				got := textOf(t, result)
				if want, cut := strings.CutSuffix(c.text, "…"); c.text != "" && got != want && !(cut && strings.HasPrefix(got, want)) {
					t.Errorf("text %q, want %q", got, c.text)
				}
				for _, part := range c.in {
					if !strings.Contains(got, part) {
						t.Errorf("text %q lacks %q", got, part)
					}
				}
				if result.IsError != (c.kind != "") {
					t.Errorf("isError is %t", result.IsError)
				}
				report := reportOf(t, result)
				if c.value != "" && report.Value.String() != c.value {
					t.Errorf("value %s, want %s", report.Value, c.value)
				}
				if (report.Error == nil) != (c.kind == "") || report.Error != nil && report.Error.Kind != c.kind {
					t.Errorf("error %v, want %q", report.Error, c.kind)
				}
				if got := callsText(report.Calls); got != c.calls {
					t.Errorf("calls %s, want %s", got, c.calls)
				}
				if len(result.Content) != 1+c.content {
					t.Errorf("%d parts, want %d", len(result.Content), 1+c.content)
				}
			})
		}
	}
}

func callsText(calls []Call) string {
	var list []string
	for _, c := range calls {
		list = append(list, fmt.Sprintf("%s.%s %d", c.Server, c.Tool, c.Count))
	}
	return fmt.Sprint(list)
}

// TestStructuredIsExact looks at the bytes: a client that can, reads every digit, and
// members in their order.
func TestStructuredIsExact(t *testing.T) {
	p := connect(t, newServer(t, runSource(t), Options{}), newest, nil)
	p.run("return await db.echo(z=9007199254740993, a=0.1)")
	if want := `"value":{"z":9007199254740993,"a":0.1}`; !strings.Contains(p.crossed(), want) {
		t.Errorf("%s is not in what crossed:\n%s", want, p.crossed())
	}
}

// TestContent looks at what parts are.
func TestContent(t *testing.T) {
	p := connect(t, newServer(t, runSource(t), Options{}), newest, nil)
	result := p.run("return [await pics.image(), await pics.sound(), await pics.file()]")
	image, ok := result.Content[1].(*sdk.ImageContent)
	if !ok || image.MIMEType != "image/png" || string(image.Data) != string(pixel) {
		t.Errorf("image %#v", result.Content[1])
	}
	if sound, ok := result.Content[2].(*sdk.AudioContent); !ok || sound.MIMEType != "audio/wav" {
		t.Errorf("sound %#v", result.Content[2])
	}
	file, ok := result.Content[3].(*sdk.EmbeddedResource)
	if !ok || file.Resource.MIMEType != "application/pdf" || string(file.Resource.Blob) != string(pixel) {
		t.Errorf("file %#v", result.Content[3])
	}
}

// TestWrongArguments: what can't be run says what to send.
func TestWrongArguments(t *testing.T) {
	s := newServer(t, runSource(t), Options{})
	for _, protocol := range protocols {
		p := connect(t, s, protocol, nil)
		for _, arguments := range []map[string]any{{}, {"program": "return 1"}, {"code": 7}, {"code": nil}} {
			result, err := p.call(t.Context(), arguments, nil)
			if err != nil || !result.IsError || !strings.Contains(textOf(t, result), `the program as its member "code", a string`) {
				t.Errorf("%v: %v, %v", arguments, result, err)
			}
		}
	}
}

// TestCutOutput: what is cut is told, with the reason not to run it again.
func TestCutOutput(t *testing.T) {
	p := connect(t, newServer(t, runSource(t), Options{TextBytes: 4000}), newest, nil)
	result := p.run("for i in range(20000): print('line', i)\nreturn 'done'")
	text := textOf(t, result)
	for _, part := range []string{"line 0\n", "line 19999\n", " bytes of the output are shown. The program ran once; don't run it again", `[value] "done"`} {
		if !strings.Contains(text, part) {
			t.Errorf("text %q lacks %q", text, part)
		}
	}
	if len(text) > 4400 {
		t.Errorf("the text has %d bytes", len(text))
	}
	report := reportOf(t, result)
	if report.Cut == nil || report.Cut.Total < 200000 || report.Cut.Shown > 4000 || report.Logs[0] != "line 0" || report.Logs[len(report.Logs)-1] != "line 19999" {
		t.Errorf("cut %v, logs %.300q", report.Cut, report.Logs)
	}
	result = p.run("return 'x' * 100000")
	if text := textOf(t, result); len(text) > 4400 || !strings.Contains(text, "of 100002 bytes of the value are shown. The program ran once") {
		t.Errorf("text %q", text)
	}
	if value := reportOf(t, result).Value; len(value.Bytes()) != 100002 {
		t.Errorf("the structured value has %d bytes", len(value.Bytes()))
	}
	result = p.run("print('x' * 100000)")
	if report := reportOf(t, result); report.Cut == nil || len(report.Logs) != 2 || len(report.Logs[0]) > 4000 || report.Cut.Total != 100001 {
		t.Errorf("cut %v, logs %.300q", report.Cut, report.Logs)
	}
}

// TestLimits: a limit's failure is a result with the remedy, soon.
func TestLimits(t *testing.T) {
	options := Options{Code: codemode.Options{Limits: thirdrail.Limits{Wall: 300 * time.Millisecond}}}
	p := connect(t, newServer(t, runSource(t), options), newest, nil)
	result := p.run("while True: pass")
	if text := textOf(t, result); !result.IsError || !strings.Contains(text, "[timeout] ") || !strings.Contains(text, "wall time limit of 300ms") {
		t.Errorf("text %q", text)
	}
}

// TestCancel: cancelling the request ends the run and its calls.
func TestCancel(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			h := newHang()
			p := connect(t, newServer(t, newSource(tool(t, "db", "hang", h.handle)), Options{}), protocol, nil)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := p.call(ctx, map[string]any{"code": "await db.hang()"}, nil)
				ended <- err
			}()
			within(t, h.began, "the call")
			began := time.Now()
			cancel()
			within(t, h.ended, "the end of the call")
			if took := time.Since(began); took > time.Second {
				t.Errorf("the call ended after %v", took)
			}
			if err := within(t, ended, "the end of the request"); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if text := textOf(t, p.run("return 1")); text != "1" {
				t.Errorf("after it, a run gives %q", text)
			}
		})
	}
}

// TestServerCloses: closing the server ends what goes on.
func TestServerCloses(t *testing.T) {
	h := newHang()
	s := newServer(t, newSource(tool(t, "db", "hang", h.handle)), Options{})
	p := connect(t, s, legacy, nil)
	ended := make(chan error, 1)
	go func() {
		_, err := p.call(t.Context(), map[string]any{"code": "await db.hang()"}, nil)
		ended <- err
	}()
	within(t, h.began, "the call")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	within(t, h.ended, "the end of the call")
	within(t, ended, "the end of the request")
}

// TestManyClients: fifty clients share the tools, and not each other's runs.
func TestManyClients(t *testing.T) {
	s := newServer(t, runSource(t), Options{})
	ended := make(chan error, 50)
	for i := range 50 {
		p := connect(t, s, protocols[i%2], nil)
		go func() {
			code := fmt.Sprintf("print('client', %d)\nreturn (await db.echo(n=%d))['n']", i, i)
			result, err := p.call(t.Context(), map[string]any{"code": code}, nil)
			if err == nil {
				if text, want := result.Content[0].(*sdk.TextContent).Text, fmt.Sprintf("client %d\n[value] %d", i, i); text != want {
					err = fmt.Errorf("client %d got %q", i, text)
				}
			}
			ended <- err
		}()
	}
	for range 50 {
		if err := within(t, ended, "a client's result"); err != nil {
			t.Error(err)
		}
	}
}

// TestCallTimes: calls are reported with how long they took together.
func TestCallTimes(t *testing.T) {
	const each = 20 * time.Millisecond
	takes := func(_ context.Context, _ lossless.Value) (codemode.Result, error) {
		<-time.After(each)
		return codemode.Text("done"), nil
	}
	p := connect(t, newServer(t, newSource(tool(t, "db", "takes", takes)), Options{}), newest, nil)
	calls := reportOf(t, p.run("await db.takes()\nawait db.takes()")).Calls
	if len(calls) != 1 || calls[0].Count != 2 || calls[0].Milliseconds < 40 {
		t.Errorf("calls %+v", calls)
	}
}
