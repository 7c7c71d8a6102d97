package upstream

import (
	"fmt"
	"slices"
	"testing"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
)

func TestToolsAreAsTheServerSentThem(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		echo := tool(t, s, "echo")
		const schema = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},` +
			`"a":{"$ref":"#/definitions/name"},"m":{"type":"array","items":[{"type":"integer"},{"type":"string"}]}},"definitions":{"name":{"type":"string"}}}`
		if got := echo.InputSchema.String(); got != schema {
			t.Errorf("schema\n got %s\nwant %s", got, schema)
		}
		if echo.Title != "Echo!" || !echo.ReadOnly || echo.Destructive == nil || *echo.Destructive || echo.OpenWorld != nil || string(echo.Meta) != `{"ui":{"z":1,"a":2}}` {
			t.Errorf("%+v", echo)
		}
		content := tool(t, s, "content")
		if content.Destructive == nil || !*content.Destructive || content.OpenWorld == nil || *content.OpenWorld || !content.Idempotent || content.Meta != nil {
			t.Errorf("%+v", content)
		}
		for _, name := range rawserver.Odd {
			if got := must(t, s, t.Context(), name, `{}`).Content[0].Text; got != name {
				t.Errorf("%q: called %q", name, got)
			}
		}
		if has(s, "array") {
			t.Error("a tool is offered whose arguments are an array")
		}
		var tools []codemode.Tool
		for _, one := range s.Tools() {
			tools = append(tools, one.Tool)
		}
		if _, err := codemode.New(nil, tools...); err != nil {
			t.Errorf("codemode refuses them: %v", err)
		}
	})
}

func TestPagesAreFollowed(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{}, lines("only-many many=300 page=7"))
	tools := s.Tools()
	if len(tools) != 300 || !slices.IsSortedFunc(tools, func(a, b Tool) int {
		return slices.Compare([]byte(a.Name), []byte(b.Name))
	}) {
		t.Errorf("%d tools, or they are in disorder", len(tools))
	}
	if got := fmt.Sprint(s.Status()); got != "[{raw ready <nil> false 300 "+rawserver.Instructions+"}]" {
		t.Error(got)
	}
}

func TestAnEndlessListEnds(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{}, lines(fmt.Sprintf("only-many many=%d page=1", 2*maxPages)))
	if got := len(s.Tools()); got != maxPages {
		t.Errorf("%d tools of %d pages", got, maxPages)
	}
}

func TestToolsOfAllServersAreSorted(t *testing.T) {
	t.Parallel()
	a, b := lines("only-many many=2"), lines("only-many many=1")
	a.Name, b.Name = "zoo", "ape"
	s := connect(t, Options{}, a, b)
	var names []string
	for _, one := range s.Tools() {
		names = append(names, one.Namespace+"."+one.Name)
	}
	if got := fmt.Sprint(names); got != "[ape.many_000 zoo.many_000 zoo.many_001]" {
		t.Error(got)
	}
}
