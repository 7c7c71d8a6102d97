package rawserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

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

// capabilities are those that it declares.
const capabilities = `{"tools":{"listChanged":true},"logging":{}}`

// Instructions are what the server says of itself.
const Instructions = "Echo before you ask."

const instructions = `,"instructions":"` + Instructions + `"`

// A reply answers one request, or refuses it.
type reply struct {
	id   json.RawMessage
	send func(string)
}

// answer sends a result. The id comes last, as TypeScript has it.
func (r reply) answer(result string) {
	r.send(`{"result":` + result + `,"jsonrpc":"2.0","id":` + string(r.id) + `}`)
}

func (r reply) refuse(code int, text string) {
	r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, r.id, code, text))
}

// Handle deals with one message, and returns when it is answered.
func (s *Server) Handle(ctx context.Context, m message, send func(string)) {
	var p params
	_ = json.Unmarshal(m.Params, &p)
	var whole struct {
		Meta json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &whole)
	p.All = whole.Meta
	r := reply{m.ID, send}
	switch m.Method {
	case "":
		s.hear(m)
	case "initialize":
		s.initialize(r)
	case "server/discover":
		s.discover(r)
	case "subscriptions/listen":
		send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}`)
		one := &stream{send: send}
		s.open(one)
		defer s.shut(one)
		<-ctx.Done()
	case "logging/setLevel", "ping":
		r.answer(`{}`)
	case "tools/list":
		s.list(ctx, p, r)
	case "tools/call":
		s.call(ctx, p, r)
	case "notifications/cancelled":
		s.cancel(p)
	default:
		if len(m.ID) > 0 {
			r.refuse(-32601, "no such method")
		}
	}
}

// hear takes the answer to a question.
func (s *Server) hear(m message) {
	s.mu.Lock()
	question := s.questions[string(m.ID)]
	delete(s.questions, string(m.ID))
	s.mu.Unlock()
	if question != nil {
		question <- append(append([]byte{}, m.Result...), m.Error...)
	}
}

// initialize is the older handshake.
func (s *Server) initialize(r reply) {
	time.Sleep(s.slow)
	if s.modern {
		r.refuse(-32022, "only 2026-07-28")
		return
	}
	r.answer(`{"protocolVersion":"2025-11-25","capabilities":` + capabilities + instructions + `,"serverInfo":{"name":"raw","version":"1"}}`)
}

// discover is how a client of 2026-07-28 begins.
func (s *Server) discover(r reply) {
	switch {
	case s.fragile:
		fmt.Fprintln(os.Stderr, "what is server/discover?")
		s.exit(4)
	case s.silent:
	case s.modern:
		time.Sleep(s.slow)
		r.answer(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` + capabilities + instructions + `}`)
	default:
		r.refuse(-32601, "no such method")
	}
}

// cancel ends a call as its caller asks.
func (s *Server) cancel(p params) {
	s.mu.Lock()
	cancel := s.cancelled[string(p.RequestID)]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
