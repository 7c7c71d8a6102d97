package rawserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// A call is one call of a tool.
type call struct {
	reply
	server    *Server
	ctx       context.Context
	params    params
	arguments struct {
		N, Bytes int
		Text     string
	}
}

// call answers tools/call: with what the tool does, or with the name of one that does
// nothing.
func (s *Server) call(ctx context.Context, p params, r reply) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.calls[p.Name]++
	s.cancelled[string(r.id)] = cancel
	s.mu.Unlock()
	c := &call{reply: r, server: s, ctx: ctx, params: p}
	_ = json.Unmarshal(p.Arguments, &c.arguments)
	for _, one := range always {
		if one.name == p.Name {
			one.act(c)
			return
		}
	}
	c.plain(p.Name)
}

// structured answers with a value, and with the value as text.
func (c *call) structured(value string) {
	text, _ := json.Marshal(value)
	c.answer(`{"resultType":"complete","content":[{"type":"text","text":` + string(text) + `}],"structuredContent":` + value + `}`)
}

// plain answers with text.
func (c *call) plain(value string) {
	text, _ := json.Marshal(value)
	c.answer(`{"content":[{"type":"text","text":` + string(text) + `}]}`)
}

// progress tells of progress, if the caller gave a token.
func (c *call) progress(value, message string) {
	if token := string(c.params.Meta.Token); token != "" {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s,"total":3,"message":%q}}`, token, value, message))
	}
}

// structured and answered return what always gives the same.
func structured(value string) func(*call) { return func(c *call) { c.structured(value) } }
func answered(result string) func(*call)  { return func(c *call) { c.answer(result) } }

// content has a part of each kind, and of one that there isn't.
const content = `{"content":[` +
	`{"type":"text","text":"one"},` +
	`{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},` +
	`{"type":"audio","data":"UklGRg","mimeType":"audio/wav"},` +
	`{"type":"resource","resource":{"uri":"file:///a/b.txt","text":"inside"}},` +
	`{"type":"resource","resource":{"uri":"file:///a/c.bin?x=1","blob":"AAEC"}},` +
	`{"type":"resource_link","uri":"file:///a/d","name":"d"},` +
	`{"type":"hologram","id":9007199254740993}]}`

func (c *call) echo() { c.structured(string(c.params.Arguments)) }

func (c *call) text() { c.plain(c.arguments.Text) }

func (c *call) giant() { c.plain(strings.Repeat("x", c.arguments.Bytes)) }

func (c *call) refused() { c.refuse(-32602, "the arguments are odd") }

func (c *call) tally() {
	s := c.server
	s.mu.Lock()
	calls, _ := json.Marshal(s.calls)
	ended, _ := json.Marshal(append([]string{}, s.ended...))
	s.mu.Unlock()
	c.structured(fmt.Sprintf(`{"calls":%s,"cancelled":%s}`, calls, ended))
}

// sleep waits to be cancelled, and never answers.
func (c *call) sleep() {
	<-c.ctx.Done()
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.ended = append(c.server.ended, c.params.Name)
}

func (c *call) crash() {
	fmt.Fprintln(os.Stderr, "out of cheese")
	c.server.exit(3)
	c.plain("still here")
}

func (c *call) flood() {
	for i := range c.arguments.N {
		c.progress(fmt.Sprint(i), "flood")
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"flood %d"}}`, i))
		c.send(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
	}
	c.plain("done")
}

func (c *call) garbage() {
	c.send(`Loading model 3/7 …`)
	c.send(`{"jsonrpc":"2.0","id":"nobody's","result":{}}`)
	c.plain("after garbage")
}

// rise tells of progress, which falls once.
func (c *call) rise() {
	for _, value := range []string{"1", "2.5", "2", "3"} {
		c.progress(value, "step "+value)
	}
	c.structured(fmt.Sprintf(`{"token":%s}`, orNull(string(c.params.Meta.Token))))
}

func (c *call) log() {
	c.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"disk","data":{"z":9007199254740993,"a":1}}}`)
	c.structured(fmt.Sprintf(`{"level":%s}`, orNull(string(c.params.Meta.Level))))
}

// meta gives back the _meta of the request, and one of its own.
func (c *call) meta() {
	c.answer(`{"resultType":"complete","content":[],"structuredContent":` + orNull(string(c.params.All)) +
		`,"_meta":{"ui":{"z":9007199254740993,"a":2},"io.modelcontextprotocol/x":1,"fastmcp":{}}}`)
}

// grow adds a tool.
func (c *call) grow() {
	c.change(0)
	c.plain("grown")
}

// spoil adds a tool too; the next list is refused, the one after it isn't.
func (c *call) spoil() {
	c.change(1)
	c.plain("spoiled")
}

// change adds a tool, refuses so many lists, and tells of it.
func (c *call) change(refusals int) {
	s := c.server
	s.mu.Lock()
	s.grown++
	s.refusals = max(s.refusals, refusals)
	s.mu.Unlock()
	s.tell(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
}

func (c *call) pings() {
	for i := range c.arguments.N {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, 1_000_000+i))
	}
	c.plain("pinged")
}

// Question is the schema of what the tool ask asks.
const Question = `{"type":"object","properties":{"zone":{"type":"string"},"amount":{"type":"integer"}},"required":["zone"]}`

// ask asks the user, in the way of the protocol's version, and answers with the answer.
func (c *call) ask() {
	question := `{"mode":"form","message":"Which zone?","requestedSchema":` + Question + `}`
	if c.server.modern {
		if len(c.params.Answers) == 0 {
			c.answer(`{"resultType":"input_required","requestState":"s1","inputRequests":{"q":{"method":"elicitation/create","params":` + question + `}}}`)
			return
		}
		c.structured(fmt.Sprintf(`{"state":%q,"answer":%s}`, c.params.State, c.params.Answers))
		return
	}
	s := c.server
	s.mu.Lock()
	s.asked++
	id := fmt.Sprint(s.asked)
	heard := make(chan json.RawMessage, 1)
	s.questions[id] = heard
	s.mu.Unlock()
	c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":` + question + `}`)
	select {
	case text := <-heard:
		c.structured(fmt.Sprintf(`{"answer":%s}`, text))
	case <-c.ctx.Done():
	}
}

func orNull(text string) string {
	if text == "" {
		return "null"
	}
	return text
}
