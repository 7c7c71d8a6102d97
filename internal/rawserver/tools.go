package rawserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// ordered is a schema of an old draft, whose properties are not in the order of the
// alphabet and whose limit no double holds.
const ordered = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{` +
	`"z":{"type":"integer","maximum":9007199254740993},"a":{"$ref":"#/definitions/name"},"m":{"type":"array","items":[{"type":"integer"},{"type":"string"}]}},` +
	`"definitions":{"name":{"type":"string"}}}`

// Odd are names that are no identifiers.
var Odd = []string{"send-email", "2fa.enable", "import", "list files", "ümlaut"}

// always are the tools that every server has, but for their result.
var always = []struct{ name, rest string }{
	{"echo", `"description":"Gives its arguments back","inputSchema":` + ordered + `,"annotations":{"readOnlyHint":true,"destructiveHint":false,"title":"Echo!"},"_meta":{"ui":{"z":1,"a":2}}`},
	{"tally", `"description":"How often each tool was called, and whose calls were cancelled","inputSchema":{"type":"object"}`},
	{"broken", `"inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"string"}},"required":["result"]}`},
	{"wrapped", `"inputSchema":{"type":"object"}`},
	{"content", `"inputSchema":{"type":"object"},"annotations":{"destructiveHint":true,"openWorldHint":false,"idempotentHint":true}`},
	{"text", `"inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}`},
	{"fail", `"inputSchema":{"type":"object"}`},
	{"refuse", `"inputSchema":{"type":"object"}`},
	{"sleep", `"inputSchema":{"type":"object"}`},
	{"crash", `"inputSchema":{"type":"object"}`},
	{"flood", `"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}`},
	{"giant", `"inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}`},
	{"twice", `"inputSchema":{"type":"object"}`},
	{"garbage", `"inputSchema":{"type":"object"}`},
	{"progress", `"inputSchema":{"type":"object"}`},
	{"log", `"inputSchema":{"type":"object"}`},
	{"meta", `"inputSchema":{"type":"object"}`},
	{"ask", `"inputSchema":{"type":"object"}`},
	{"grow", `"inputSchema":{"type":"object"}`},
	{"spoil", `"inputSchema":{"type":"object"}`},
	{"pings", `"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}`},
}

// Faulty are tools that no program can call.
var faulty = []string{
	`{"inputSchema":{"type":"object"}}`,
	`{"name":5,"inputSchema":{"type":"object"}}`,
	`{"name":"text","inputSchema":{"type":"object"}}`,
	`{"name":"array","inputSchema":{"type":"array"}}`,
	`"no tool"`,
}

// tools returns all tools as JSON.
func (s *Server) tools() (tools []string) {
	if !s.onlyMany {
		for _, one := range always {
			tools = append(tools, fmt.Sprintf(`{"name":%q,%s}`, one.name, one.rest))
		}
		for _, name := range Odd {
			tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		tools = append(tools, faulty...)
	}
	for i := range s.many {
		tools = append(tools, fmt.Sprintf(`{"name":"many_%03d","inputSchema":{"type":"object"}}`, i))
	}
	for i := range s.grown {
		tools = append(tools, fmt.Sprintf(`{"name":"grown_%d","inputSchema":{"type":"object"}}`, i))
	}
	return tools
}

const content = `{"content":[` +
	`{"type":"text","text":"one"},` +
	`{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},` +
	`{"type":"audio","data":"UklGRg","mimeType":"audio/wav"},` +
	`{"type":"resource","resource":{"uri":"file:///a/b.txt","text":"inside"}},` +
	`{"type":"resource","resource":{"uri":"file:///a/c.bin?x=1","blob":"AAEC"}},` +
	`{"type":"resource_link","uri":"file:///a/d","name":"d"},` +
	`{"type":"hologram","id":9007199254740993}]}`

// call answers tools/call.
func (s *Server) call(ctx context.Context, p params, send, answer func(string), refuse func(int, string)) {
	var args struct {
		N, Bytes int
		Text     string
	}
	_ = json.Unmarshal(p.Arguments, &args)
	structured := func(value string) {
		text, _ := json.Marshal(value)
		answer(`{"resultType":"complete","content":[{"type":"text","text":` + string(text) + `}],"structuredContent":` + value + `}`)
	}
	plain := func(value string) {
		text, _ := json.Marshal(value)
		answer(`{"content":[{"type":"text","text":` + string(text) + `}]}`)
	}
	token := string(p.Meta.Token)
	progress := func(value, message string) {
		if token != "" {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s,"total":3,"message":%q}}`, token, value, message))
		}
	}
	switch p.Name {
	case "echo":
		structured(string(p.Arguments))
	case "tally":
		s.mu.Lock()
		calls, _ := json.Marshal(s.calls)
		ended, _ := json.Marshal(append([]string{}, s.ended...))
		s.mu.Unlock()
		structured(fmt.Sprintf(`{"calls":%s,"cancelled":%s}`, calls, ended))
	case "broken":
		structured(`{"other":1}`)
	case "wrapped":
		answer(`{"content":[],"structuredContent":{"result":[1,2]},"_meta":{"fastmcp":{"wrap_result":true}}}`)
	case "content":
		answer(content)
	case "text":
		plain(args.Text)
	case "fail":
		answer(`{"isError":true,"content":[{"type":"text","text":"the disk is full"}]}`)
	case "refuse":
		refuse(-32602, "the arguments are odd")
	case "sleep":
		<-ctx.Done()
		s.mu.Lock()
		s.ended = append(s.ended, p.Name)
		s.mu.Unlock()
	case "crash":
		fmt.Fprintln(os.Stderr, "out of cheese")
		s.exit(3)
		plain("still here")
	case "flood":
		for i := range args.N {
			progress(fmt.Sprint(i), "flood")
			send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"flood %d"}}`, i))
			send(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
		}
		plain("done")
	case "giant":
		plain(strings.Repeat("x", args.Bytes))
	case "twice":
		answer(`{"content":[],"structuredContent":{"a":1,"a":2}}`)
	case "garbage":
		send(`Loading model 3/7 …`)
		send(`{"jsonrpc":"2.0","id":"nobody's","result":{}}`)
		plain("after garbage")
	case "progress":
		for _, value := range []string{"1", "2.5", "2", "3"} {
			progress(value, "step "+value)
		}
		structured(fmt.Sprintf(`{"token":%s}`, orNull(token)))
	case "log":
		send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"disk","data":{"z":9007199254740993,"a":1}}}`)
		structured(fmt.Sprintf(`{"level":%s}`, orNull(string(p.Meta.Level))))
	case "meta":
		answer(`{"resultType":"complete","content":[],"structuredContent":` + orNull(string(p.All)) +
			`,"_meta":{"ui":{"z":9007199254740993,"a":2},"io.modelcontextprotocol/x":1,"fastmcp":{}}}`)
	case "ask":
		s.ask(ctx, p, send, answer, structured)
	case "grow":
		s.mu.Lock()
		s.grown++
		s.mu.Unlock()
		s.tell(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		plain("grown")
	case "spoil": // the next list is refused, the one after it isn't
		s.mu.Lock()
		s.refusals, s.grown = 1, s.grown+1
		s.mu.Unlock()
		s.tell(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		plain("spoiled")
	case "pings":
		for i := range args.N {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, 1_000_000+i))
		}
		plain("pinged")
	default:
		plain(p.Name)
	}
}

// Question is the schema of what the tool ask asks.
const Question = `{"type":"object","properties":{"zone":{"type":"string"},"amount":{"type":"integer"}},"required":["zone"]}`

// ask asks the user, in the way of the protocol's version, and answers with the answer.
func (s *Server) ask(ctx context.Context, p params, send, answer, structured func(string)) {
	question := `{"mode":"form","message":"Which zone?","requestedSchema":` + Question + `}`
	if s.modern {
		if len(p.Answers) == 0 {
			answer(`{"resultType":"input_required","requestState":"s1","inputRequests":{"q":{"method":"elicitation/create","params":` + question + `}}}`)
			return
		}
		structured(fmt.Sprintf(`{"state":%q,"answer":%s}`, p.State, p.Answers))
		return
	}
	s.mu.Lock()
	s.asked++
	id := fmt.Sprint(s.asked)
	reply := make(chan json.RawMessage, 1)
	s.questions[id] = reply
	s.mu.Unlock()
	send(`{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":` + question + `}`)
	select {
	case text := <-reply:
		structured(fmt.Sprintf(`{"answer":%s}`, text))
	case <-ctx.Done():
	}
}

func orNull(text string) string {
	if text == "" {
		return "null"
	}
	return text
}
