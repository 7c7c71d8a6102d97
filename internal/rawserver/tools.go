package rawserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ordered is a schema of an old draft, whose properties are not in the order of the
// alphabet and whose limit no double holds.
const ordered = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{` +
	`"z":{"type":"integer","maximum":9007199254740993},"a":{"$ref":"#/definitions/name"},"m":{"type":"array","items":[{"type":"integer"},{"type":"string"}]}},` +
	`"definitions":{"name":{"type":"string"}}}`

// Odd are names that are no identifiers.
var Odd = []string{"send-email", "2fa.enable", "import", "list files", "ümlaut"}

// always are the tools that every server has, and what they do.
var always = []struct {
	name string
	act  func(*call)
	rest string
}{
	{"echo", (*call).echo, `"description":"Gives its arguments back","inputSchema":` + ordered + `,"annotations":{"readOnlyHint":true,"destructiveHint":false,"title":"Echo!"},"_meta":{"ui":{"z":1,"a":2}}`},
	{"tally", (*call).tally, `"description":"How often each tool was called, and whose calls were cancelled","inputSchema":{"type":"object"}`},
	{"broken", structured(`{"other":1}`), `"inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"string"}},"required":["result"]}`},
	{"wrapped", answered(`{"content":[],"structuredContent":{"result":[1,2]},"_meta":{"fastmcp":{"wrap_result":true}}}`), `"inputSchema":{"type":"object"}`},
	{"content", answered(content), `"inputSchema":{"type":"object"},"annotations":{"destructiveHint":true,"openWorldHint":false,"idempotentHint":true}`},
	{"text", (*call).text, `"inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}`},
	{"fail", answered(`{"isError":true,"content":[{"type":"text","text":"the disk is full"}]}`), `"inputSchema":{"type":"object"}`},
	{"refuse", (*call).refused, `"inputSchema":{"type":"object"}`},
	{"sleep", (*call).sleep, `"inputSchema":{"type":"object"}`},
	{"crash", (*call).crash, `"inputSchema":{"type":"object"}`},
	{"flood", (*call).flood, `"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}`},
	{"giant", (*call).giant, `"inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}`},
	{"twice", answered(`{"content":[],"structuredContent":{"a":1,"a":2}}`), `"inputSchema":{"type":"object"}`},
	{"garbage", (*call).garbage, `"inputSchema":{"type":"object"}`},
	{"progress", (*call).rise, `"inputSchema":{"type":"object"}`},
	{"log", (*call).log, `"inputSchema":{"type":"object"}`},
	{"meta", (*call).meta, `"inputSchema":{"type":"object"}`},
	{"ask", (*call).ask, `"inputSchema":{"type":"object"}`},
	{"grow", (*call).grow, `"inputSchema":{"type":"object"}`},
	{"spoil", (*call).spoil, `"inputSchema":{"type":"object"}`},
	{"pings", (*call).pings, `"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}`},
}

// faulty are tools that no program can call.
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

// list answers tools/list, a page at a time.
func (s *Server) list(ctx context.Context, p params, r reply) {
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
		r.refuse(-32603, "the list is out of order")
		return
	}
	from, _ := strconv.Atoi(p.Cursor)
	to, next := len(tools), ""
	if s.page > 0 && from+s.page < len(tools) {
		to = from + s.page
		next = fmt.Sprintf(`,"nextCursor":"%d"`, to)
	}
	r.answer(`{"resultType":"complete","tools":[` + strings.Join(tools[from:to], ",") + `]` + next + `}`)
}
