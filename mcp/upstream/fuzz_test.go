package upstream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// hostileMessages are what servers send, should not send, and what was sent wrongly.
var hostileMessages = []string{
	"", " ", "hello", "[]", "[1]", "{}", "null", `{"id":1}`,
	`{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"n":9007199254740993}}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"x-mcp-header":1}},{"name":5}]}}`,
	`{"id":1,"result":5}`, `{"id":"1","result":{}}`, `{"id":1e400,"result":{}}`, `{"id":1.0,"result":{}}`, `{"id":7,"result":{"a":1}}`,
	`{"id":1,"result":{"a":1,"a":2}}`, `{"id":{"a":` + "\n" + `1},"x":1,"x":2}`, `{"id":[1],"x":1,"x":2}`, `{"id":"\ud800","x":1}`,
	`{"id":1,"error":{"code":-1,"message":"x"}}`, `[{"id":1,"result":{}},{"method":"ping","id":2}]`,
	`{"method":"notifications/progress","params":{"progressToken":"thirdrail-1","progress":1}}`,
	`{"method":"notifications/progress","params":{"progressToken":"thirdrail-1","progress":1e999}}`,
	`{"method":"notifications/message","params":{"level":5,"data":{"z":1}}}`, `{"method":"notifications/message"}`,
	`{"method":"notifications/tools/list_changed"}`, `{"method":"notifications/cancelled","params":{"requestId":1}}`,
	`{"method":"elicitation/create","id":1,"params":{"requestedSchema":{"z":1,"a":"\u0000"},"_meta":5}}`,
	`{"method":"elicitation/create","id":1}`, `{"method":"elicitation/create","id":1,"params":{"requestedSchema":"\ud800"}}`,
	`{"id":1,"result":{"inputRequests":{"q":{"method":"elicitation/create","params":{}},"r":5}}}`,
	`{"method":5,"id":null}`, "{\"id\":1,\"result\":{\"a\":\"\x00\"}}", strings.Repeat("[", 20000),
}

// fuzzSession is a session with a call, 1, and what is handed on of it.
func fuzzSession() (*session, *call, *recorder) {
	x := newSession(context.Background(), &server{log: slog.New(slog.DiscardHandler)})
	r := &recorder{progress: true}
	c, _ := x.begin(context.Background(), r)
	return x, c, r
}

// checkMessage fails unless the SDK can have a message as a line or an event.
func checkMessage(t *testing.T, text []byte, from int) {
	t.Helper()
	if !json.Valid(text) || bytes.ContainsAny(text, "\r\n") {
		t.Errorf("the SDK would see %q", text)
	}
	if len(text) > 16*from+1000 {
		t.Errorf("%d bytes became %d", from, len(text))
	}
	_, _ = jsonrpc.DecodeMessage(text)
}

// FuzzMessage has a server send any line.
func FuzzMessage(f *testing.F) {
	for _, text := range hostileMessages {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, limit := range []int{MaxMessage, len(text) / 2} { // whole, and as one that is too large
			x, c, r := fuzzSession()
			line := collector{limit: limit}
			line.write(bytes.Clone(text))
			for _, message := range x.receive(line.message(), c, func(id int64) *call {
				if id == 1 {
					return c
				}
				return nil
			}) {
				checkMessage(t, message, len(text))
			}
			for i := 1; i < len(r.values); i++ {
				if r.values[i] <= r.values[i-1] {
					t.Errorf("progress %v", r.values)
				}
			}
			x.end(nil)
		}
	})
}

// FuzzEvents has a server send any stream of events.
func FuzzEvents(f *testing.F) {
	for _, text := range hostileMessages {
		f.Add([]byte("id: 1\ndata: " + text + "\n\n"))
	}
	f.Add([]byte("data\ndata:\n\nevent: other\ndata: {}\n\n: x\nretry: 5\n\nid\n\n\r\n\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		x, c, _ := fuzzSession()
		defer x.end(nil)
		body := io.NopCloser(bytes.NewReader(stream))
		events := &eventReader{session: x, of: c, answers: func(int64) *call { return c }, body: body, reader: bufio.NewReaderSize(body, 16)}
		seen, err := io.ReadAll(events)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(seen) {
			if text, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				checkMessage(t, bytes.TrimSuffix(text, []byte("\n")), len(stream))
			}
		}
	})
}

// endless gives the same text over and over, n bytes in all, and then looks at how
// much memory is in use.
type endless struct {
	text string
	n    int
	used uint64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		e.used = heap()
		return 0, io.EOF
	}
	some := 0
	for some+len(e.text) <= len(p) {
		some += copy(p[some:], e.text)
	}
	e.n -= some
	return some, nil
}

func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestEndlessLinesAreBounded has events whose lines have no end, and are no data.
func TestEndlessLinesAreBounded(t *testing.T) {
	const sent = 32 << 20
	for name, text := range map[string]string{"a line without a colon": "aaaaaaaa", "a comment": ":       ", "fields": "event: y\n"} {
		x, c, _ := fuzzSession()
		source := &endless{text: text, n: sent}
		events := &eventReader{session: x, of: c, body: io.NopCloser(source), reader: bufio.NewReaderSize(source, 16<<10)}
		before := heap()
		if _, err := io.ReadAll(events); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		x.end(nil)
		if source.used > before+sent/8 {
			t.Errorf("%s: %d bytes are kept", name, source.used-before)
		}
	}
}
