package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// listed returns the tools that a client sees, as JSON.
func (p *peer) listed() (tools []*sdk.Tool, text string) {
	p.t.Helper()
	list, err := p.ListTools(p.t.Context(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	data, err := json.Marshal(list.Tools)
	if err != nil {
		p.t.Fatal(err)
	}
	return list.Tools, string(data)
}

// TestListIsStable: the same tools in any order are the same bytes.
func TestListIsStable(t *testing.T) {
	a, b, c := tool(t, "db", "a", echo), tool(t, "db", "b", echo), tool(t, "web", "c", echo)
	failed := []upstream.Status{{Name: "y", State: upstream.Failed, Err: errors.New("exit status 1")}, {Name: "x", State: upstream.Failed, Err: errors.New("port 1234")}}
	var texts []string
	for _, tools := range [][]upstream.Tool{{a, b, c}, {c, b, a}, {b, a, c}} {
		source := newSource(tools...)
		source.status = failed
		_, text := connect(t, newServer(t, source, Options{}), newest, nil).listed()
		texts = append(texts, text)
		failed[0], failed[1] = failed[1], failed[0]
	}
	if texts[0] != texts[1] || texts[1] != texts[2] {
		t.Errorf("the lists differ:\n%s", strings.Join(texts, "\n"))
	}
	if !strings.Contains(texts[0], "so none of their tools is here: x, y.") || strings.Contains(texts[0], "1234") {
		t.Errorf("the failed servers aren't named: %s", texts[0])
	}
}

func TestRunTool(t *testing.T) {
	tools, text := connect(t, newServer(t, newSource(tool(t, "db", "a", echo)), Options{}), legacy, nil).listed()
	if len(tools) != 1 || tools[0].Name != "run_code" || tools[0].OutputSchema != nil {
		t.Fatalf("tools %s", text)
	}
	hints := tools[0].Annotations
	if hints.ReadOnlyHint || hints.DestructiveHint == nil || !*hints.DestructiveHint {
		t.Errorf("hints %+v", hints)
	}
	readOnly := tool(t, "db", "a", echo)
	readOnly.ReadOnly = true
	tools, _ = connect(t, newServer(t, newSource(readOnly), Options{}), legacy, nil).listed()
	if hints := tools[0].Annotations; hints.ReadOnlyHint || hints.DestructiveHint == nil || *hints.DestructiveHint {
		t.Errorf("hints %+v", hints)
	}
}

// TestToolsChange: a client is told, and runs what is there.
func TestToolsChange(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			source := newSource(tool(t, "db", "a", echo))
			p := connect(t, newServer(t, source, Options{}), protocol, nil)
			if _, text := p.listed(); strings.Contains(text, "async def b(") {
				t.Errorf("tools %s", text)
			}
			b := tool(t, "db", "b", echo)
			source.change(func(s *fakeSource) { s.tools = append(s.tools, b) })
			within(t, p.changed, "list_changed")
			if _, text := p.listed(); !strings.Contains(text, "async def b(") {
				t.Errorf("tools %s", text)
			}
			if got := textOf(t, p.run("return await db.b(n=1)")); got != `{"n":1}` {
				t.Errorf("text %s", got)
			}
			source.change(func(s *fakeSource) {
				s.status = []upstream.Status{{Name: "db", State: upstream.Restarting, Stale: true}}
			})
			within(t, p.changed, "list_changed")
			if _, text := p.listed(); !strings.Contains(text, "Servers that are down now") {
				t.Errorf("tools %s", text)
			}
		})
	}
}

// TestManyTools: beyond some, tools are searched for, by the client too.
func TestManyTools(t *testing.T) {
	var tools []upstream.Tool
	for i := range 300 {
		tools = append(tools, tool(t, "db", fmt.Sprintf("row_%d", i), echo))
	}
	source := newSource(tools...)
	p := connect(t, newServer(t, source, Options{}), legacy, nil)
	list, text := p.listed()
	if len(list) != 3 || len(text) > 8000 {
		t.Errorf("%d tools, %d bytes", len(list), len(text))
	}
	call := func(name string, arguments any) (string, bool) {
		result, err := p.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		return textOf(t, result), result.IsError
	}
	for _, c := range []struct {
		name, want string
		arguments  any
		wrong      bool
	}{
		{"tools_search", "db.row_123(", map[string]any{"query": "row 123", "limit": 2}, false},
		{"tools_search", "No tool fits", map[string]any{"query": "zebra"}, false},
		{"tools_search", "takes words", map[string]any{"query": 7}, true},
		{"tools_describe", "async def row_7(", map[string]any{"names": []string{"db.row_7"}}, false},
		{"tools_describe", "there is no tool", map[string]any{"names": []string{"db.none"}}, true},
		{"tools_describe", "takes names", map[string]any{}, true},
	} {
		if got, wrong := call(c.name, c.arguments); !strings.Contains(got, c.want) || wrong != c.wrong {
			t.Errorf("%s %v: %t, %s", c.name, c.arguments, wrong, got)
		}
	}
	if got := textOf(t, p.run("return await db.row_123(n=1)")); got != `{"n":1}` {
		t.Errorf("text %s", got)
	}
	source.change(func(s *fakeSource) { s.tools = s.tools[:1] })
	within(t, p.changed, "list_changed")
	if list, _ := p.listed(); len(list) != 1 {
		t.Errorf("%d tools", len(list))
	}
}

// TestRefusedTool: a tool that can't be used is left out, and the others work.
func TestRefusedTool(t *testing.T) {
	bad := tool(t, "db", "bad", echo)
	bad.InputSchema = parse(t, `{"type":"array"}`)
	p := connect(t, newServer(t, newSource(bad, tool(t, "db", "good", echo)), Options{}), newest, nil)
	if got := textOf(t, p.run("return [await db.good(n=1), 'bad' in dir(db)]")); got != `[{"n":1},false]` {
		t.Errorf("text %s", got)
	}
}
