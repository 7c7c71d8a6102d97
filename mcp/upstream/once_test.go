package upstream

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
)

// logged is where a test looks at what was logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

// TestNoCallIsMadeTwice has a server end between a request and its answer: the
// program hears that it may have been carried out, and the next process sees no call.
func TestNoCallIsMadeTwice(t *testing.T) {
	t.Parallel()
	var log logged
	s := connect(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, lines(""))
	if _, err := callTool(t, s, t.Context(), "crash", `{}`); err == nil || !strings.Contains(err.Error(), "whether it was carried out is not known") {
		t.Errorf("error %v", err)
	}
	await(t, s, "the server is back", func() bool { return state(s) == Ready && callWorks(t, s) })
	if got := log.count(`line="out of cheese"`); got != 1 { // which each call prints
		t.Errorf("the call was made %d times", got)
	}
}

// TestNoCallIsMadeTwiceOverHTTP is the same where the connection breaks.
func TestNoCallIsMadeTwiceOverHTTP(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"", "modern"} {
		raw, err := rawserver.New(words)
		if err != nil {
			t.Fatal(err)
		}
		raw.Exit = func(int) { panic(http.ErrAbortHandler) }
		address, _ := serve(t, raw, "127.0.0.1:0")
		s := connect(t, Options{}, Server{Name: "raw", URL: "http://" + address})
		if _, err := callTool(t, s, t.Context(), "crash", `{}`); err == nil {
			t.Error("a call without an answer succeeded")
		}
		await(t, s, "the server is back", func() bool { return state(s) == Ready && callWorks(t, s) })
		if got := raw.Calls("crash"); got != 1 {
			t.Errorf("%q: the call was made %d times", words, got)
		}
	}
}

// TestPausesGrow has a server that always ends: each start comes after a longer pause.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	var log logged
	const starts = 5
	began := time.Now()
	s := connect(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, Server{Name: "dies", Command: "sh", Args: []string{"-c", "echo started >&2; exit 1"}})
	await(t, s, "the last start", func() bool { return log.count("last words: started") >= starts })
	if least, took := 20*(1+2+4+8)*time.Millisecond, time.Since(began); took < least {
		t.Errorf("%d starts took %v, want at least %v", starts, took, least)
	}
}

// TestAFloodOfErrorsIsBounded has a server write to standard error without end, once
// without a line's end.
func TestAFloodOfErrorsIsBounded(t *testing.T) {
	t.Parallel()
	var log logged
	one := lines("")
	one.Command, one.Args = "sh", []string{"-c", `head -c 8000000 /dev/zero | tr '\0' x >&2; yes noise | head -n 200000 >&2; exec "$0"`, os.Args[0]}
	s := connect(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, one)
	if !callWorks(t, s) {
		t.Errorf("%+v", s.Status())
	}
	s.Close()
	log.mu.Lock()
	defer log.mu.Unlock()
	if n := log.text.Len(); n > 2<<20 {
		t.Errorf("%d bytes were logged", n)
	}
}

// TestAPipeThatWasClosedSaysSo: one that is closed while a message waits to be read
// has ended for a reason too. Without one, a failed start would pass for a good one.
func TestAPipeThatWasClosedSaysSo(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := in.WriteString(`{"jsonrpc":"2.0","method":"notifications/cancelled"}` + "\n" + `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}` + "\n"); err != nil {
		t.Fatal(err)
	}
	in.Close()
	x, _, _ := fuzzSession()
	defer x.end(nil)
	p := &pipe{session: x, process: &process{stdout: out}, ended: make(chan struct{}), closed: make(chan struct{})}
	close(p.closed)
	p.read()
	if !p.hasEnded() || !errors.Is(p.broken, io.EOF) {
		t.Errorf("it ended with %v", p.broken)
	}
}
