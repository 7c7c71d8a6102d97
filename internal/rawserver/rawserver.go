// Package rawserver is an MCP server for tests that writes its messages by hand, so
// that it can send what tidy servers never send: schemas of old drafts, odd names,
// many pages, large integers, results that break their schema, garbage, floods,
// questions, and its own end in the middle of a call.
package rawserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Variable makes a test binary that calls Main a server. Its value are words of New.
const Variable = "THIRDRAIL_RAWSERVER"

// Main serves standard input and output, and ends the process, if Variable is set. Call
// it first in TestMain.
func Main() {
	words, set := os.LookupEnv(Variable)
	if !set {
		return
	}
	s, err := New(words)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	s.Exit = os.Exit
	if err := s.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Server is a server whose behaviour is chosen by words.
type Server struct {
	// Exit ends the process in the middle; nil does nothing.
	Exit func(status int)

	modern   bool          // speaks 2026-07-28 instead of the older handshake
	silent   bool          // ignores server/discover, as it ignores all it doesn't know
	fragile  bool          // ends at server/discover
	greeting bool          // prints a line that is no message first
	deaf     bool          // never reads its input after the handshake
	stubborn bool          // doesn't end when its input is closed
	slow     time.Duration // before it answers the handshake
	slowList time.Duration // before it lists its tools
	many     int           // tools beside those that it always has
	page     int           // tools on a page; 0 means all
	onlyMany bool          // without the tools that it always has
	unlisted bool          // refuses to list

	mu        sync.Mutex
	grown     int
	refusals  int // lists that are refused from now on
	calls     map[string]int
	cancelled map[string]context.CancelFunc
	ended     []string // tools whose calls were cancelled
	questions map[string]chan json.RawMessage
	asked     int
	streams   map[*stream]bool // to send what belongs to no call
}

// A stream takes messages for the client.
type stream struct{ send func(message string) }

// New returns a server. Words are separated by blanks: modern, silent, fragile,
// greeting, deaf, stubborn, unlisted, only-many, and slow=DURATION,
// slow-list=DURATION, many=N, page=N.
func New(words string) (*Server, error) {
	s := &Server{
		calls: map[string]int{}, cancelled: map[string]context.CancelFunc{},
		questions: map[string]chan json.RawMessage{}, streams: map[*stream]bool{},
	}
	switches := map[string]*bool{
		"modern": &s.modern, "silent": &s.silent, "fragile": &s.fragile, "greeting": &s.greeting,
		"deaf": &s.deaf, "stubborn": &s.stubborn, "unlisted": &s.unlisted, "only-many": &s.onlyMany,
	}
	for _, word := range strings.Fields(words) {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "slow":
			s.slow, err = time.ParseDuration(value)
		case "slow-list":
			s.slowList, err = time.ParseDuration(value)
		case "many":
			s.many, err = strconv.Atoi(value)
		case "page":
			s.page, err = strconv.Atoi(value)
		default:
			on := switches[word]
			if on == nil {
				return nil, fmt.Errorf("rawserver: no word %q", word)
			}
			*on = true
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// A message is any message, with its parts as text.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// params are those of the requests that it knows.
type params struct {
	Cursor    string          `json:"cursor"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	RequestID json.RawMessage `json:"requestId"`
	Answers   json.RawMessage `json:"inputResponses"`
	State     string          `json:"requestState"`
	All       json.RawMessage `json:"-"` // of _meta
	Meta      struct {
		Token json.RawMessage `json:"progressToken"`
		Level json.RawMessage `json:"io.modelcontextprotocol/logLevel"`
	} `json:"_meta"`
}

// Serve serves lines.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	if s.greeting {
		fmt.Fprintln(out, "Raw server, at your service")
	}
	var mu sync.Mutex
	lines := &stream{send: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(out, text+"\n")
	}}
	s.open(lines)
	defer s.shut(lines)
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) && s.stubborn {
			select {}
		}
		if err != nil {
			return nil
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("rawserver: %w in %q", err, line)
		}
		go s.Handle(context.Background(), m, lines.send)
		if s.deaf && (m.Method == "tools/list" || m.Method == "deaf") {
			select {}
		}
	}
}

func (s *Server) open(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[one] = true
}

func (s *Server) shut(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, one)
}

// tell sends a notification that belongs to no call.
func (s *Server) tell(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.streams {
		go one.send(text)
	}
}

// Instructions are what the server says of itself.
const Instructions = "Echo before you ask."

// Handle deals with one message, and returns when it is answered.
func (s *Server) Handle(ctx context.Context, m message, send func(string)) {
	var p params
	_ = json.Unmarshal(m.Params, &p)
	var whole struct {
		Meta json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &whole)
	p.All = whole.Meta
	answer := func(result string) {
		send(`{"result":` + result + `,"jsonrpc":"2.0","id":` + string(m.ID) + `}`) // id last, as TypeScript has it
	}
	refuse := func(code int, text string) {
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, code, text))
	}
	capabilities := `{"tools":{"listChanged":true},"logging":{}},"instructions":"` + Instructions + `"`
	switch m.Method {
	case "":
		s.mu.Lock()
		question := s.questions[string(m.ID)]
		delete(s.questions, string(m.ID))
		s.mu.Unlock()
		if question != nil {
			question <- append(append([]byte{}, m.Result...), m.Error...)
		}
	case "initialize":
		time.Sleep(s.slow)
		if s.modern {
			refuse(-32022, "only 2026-07-28")
			return
		}
		answer(`{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"serverInfo":{"name":"raw","version":"1"}}`)
	case "server/discover":
		switch {
		case s.fragile:
			fmt.Fprintln(os.Stderr, "what is server/discover?")
			s.exit(4)
		case s.silent:
		case s.modern:
			time.Sleep(s.slow)
			answer(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` + capabilities + `}`)
		default:
			refuse(-32601, "no such method")
		}
	case "subscriptions/listen":
		send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}`)
		one := &stream{send: send}
		s.open(one)
		defer s.shut(one)
		<-ctx.Done()
	case "logging/setLevel", "ping":
		answer(`{}`)
	case "tools/list":
		s.list(ctx, p, answer, refuse)
	case "tools/call":
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		s.mu.Lock()
		s.calls[p.Name]++
		s.cancelled[string(m.ID)] = cancel
		s.mu.Unlock()
		s.call(ctx, p, send, answer, refuse)
	case "notifications/cancelled":
		s.mu.Lock()
		cancel := s.cancelled[string(p.RequestID)]
		s.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	default:
		if len(m.ID) > 0 {
			refuse(-32601, "no such method")
		}
	}
}

func (s *Server) exit(status int) {
	if s.Exit != nil {
		s.Exit(status)
	}
}

// list answers tools/list, a page at a time.
func (s *Server) list(ctx context.Context, p params, answer func(string), refuse func(int, string)) {
	select {
	case <-time.After(s.slowList):
	case <-ctx.Done():
		return
	}
	s.mu.Lock()
	refused := s.unlisted || s.refusals > 0
	if s.refusals > 0 {
		s.refusals--
	}
	tools := s.tools()
	s.mu.Unlock()
	if refused {
		refuse(-32603, "the list is out of order")
		return
	}
	from, _ := strconv.Atoi(p.Cursor)
	to, next := len(tools), ""
	if s.page > 0 && from+s.page < len(tools) {
		to = from + s.page
		next = fmt.Sprintf(`,"nextCursor":"%d"`, to)
	}
	answer(`{"resultType":"complete","tools":[` + strings.Join(tools[from:to], ",") + `]` + next + `}`)
}

// Calls returns how often a tool was called.
func (s *Server) Calls(tool string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[tool]
}
