package codemode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nameCases lists true names of tools with their aliases, when they are together.
var nameCases = []struct {
	names, want []string
}{
	{[]string{"send-email", "2fa.enable", "import", "list files", "ümlaut"}, []string{"send_email", "_2fa_enable", "import_", "list_files", "ümlaut"}},
	{[]string{"a-b", "a_b", "a.b"}, []string{"a_b_2", "a_b", "a_b_3"}},
	{[]string{"repo/list.issues", "2fa-enable", "print", "class", "from"}, []string{"repo_list_issues", "_2fa_enable", "print_", "class_", "from_"}},
	{[]string{"API-post-page", "get-page", "getPage"}, []string{"API_post_page", "get_page", "getPage"}},
	{[]string{"import", "import_", "import-"}, []string{"import_2", "import_", "import_3"}},
	{[]string{"__class__", "__init__", "_x"}, []string{"_class", "_init", "_x"}},
	{[]string{"-", "--", "💥", "1"}, []string{"_x", "_x_2", "_x_3", "_1"}},
	{[]string{"match", "case", "type", "_"}, []string{"match", "case", "type_", "_"}},
	{[]string{"Any", "TypedDict", "str", "list"}, []string{"Any_", "TypedDict_", "str_", "list_"}},
	{[]string{"ﬁle", "file"}, []string{"file_2", "file"}},
	{[]string{"a\u202eb", "a\x00b", "a\nb"}, []string{"a_b_3", "a_b", "a_b_2"}},
}

func TestAliases(t *testing.T) {
	for _, c := range nameCases {
		var tools []Tool
		for _, name := range c.names {
			tools = append(tools, simple(t, "", name, echo))
		}
		for range 2 { // and in another order
			s := newSet(t, tools...)
			var got []string
			for _, name := range c.names {
				i := slices.IndexFunc(s.catalogue.groups[0].tools, func(one *tool) bool { return one.Name == name })
				got = append(got, s.catalogue.groups[0].tools[i].alias)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.names, diff)
			}
			slices.Reverse(tools)
		}
	}
}

func TestNamespaceAliases(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"my-server", "my_server"}, []string{"my_server_2", "my_server"}},
		{[]string{"google.drive", "café", "日本", "9"}, []string{"google_drive", "cafe", "_x", "_9"}},
		{[]string{"time", "json", "print", "delete", "data", "ToolError", "tools_search", "console"},
			[]string{"time_", "json_", "print_", "delete_", "data_", "ToolError_", "tools_search_", "console_"}},
	} {
		var tools []Tool
		for _, name := range c.names {
			tools = append(tools, simple(t, name, "f", echo))
		}
		s := newSet(t, tools...)
		for i, name := range c.names {
			j := slices.IndexFunc(s.catalogue.groups, func(g *group) bool { return g.name == name })
			if got := s.catalogue.groups[j].global; got != c.want[i] {
				t.Errorf("%q is %s, want %s", name, got, c.want[i])
			}
		}
	}
}

// oddlyNamed returns tools of all names of the tables.
func oddlyNamed(t testing.TB) []Tool {
	var tools []Tool
	for i, c := range nameCases {
		for _, name := range c.names {
			tools = append(tools, simple(t, strings.Repeat("-", i)+"odd server", name, echo))
		}
	}
	return tools
}

// refusals lists tools that are refused, and the reason.
var refusals = []struct {
	name string
	tool Tool
	want string
}{
	{"no name", Tool{Handler: echo}, `tool "": it has no name; give each tool a name`},
	{"no handler", Tool{Name: "f"}, `tool "f": it has no handler`},
	{"no schema", Tool{Name: "f", Handler: echo}, `tool "f": its input schema isn't one: there is none; {"type": "object"} is the shortest`},
	{"a name that isn't text", Tool{Name: "\xff", Handler: echo}, "is not valid UTF-8"},
}

// schemaRefusals lists schemas that are none.
var schemaRefusals = map[string]string{
	`[]`:                                     "it is a JSON array; a schema is an object",
	`true`:                                   "it is a JSON bool",
	`{"type":"string"}`:                      `has the type "string"; arguments are an object`,
	`{"type":"objct"}`:                       `at schema["type"]`,
	`{"type":"object","properties":[]}`:      `at schema["properties"]: expected dict, got list`,
	`{"type":"object","required":"a"}`:       `at schema["required"]: expected list, got str`,
	`{"type":"object","properties":{"a":3}}`: `at schema["properties"]["a"]`,
	`{"type":"object","minProperties":-1}`:   `at schema["minProperties"]: expected at least 0, got -1`,
	`{"type":"object","properties":` + strings.Repeat(`{"a":{"properties":`, 150) + "{}" + strings.Repeat("}}", 150) + `}`: "nested deeper than 200 levels",
}

func TestRefusals(t *testing.T) {
	check := func(t *testing.T, tool Tool, want string) {
		t.Helper()
		_, err := New(nil, tool)
		if !errors.Is(err, ErrTool) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("the error has several lines: %q", err)
		}
	}
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) { check(t, c.tool, c.want) })
	}
	for schema, want := range schemaRefusals {
		check(t, Tool{Namespace: "srv", Name: "f", Handler: echo, InputSchema: parse(t, schema)}, want)
	}
	check(t, Tool{Name: "f", Handler: echo, InputSchema: parse(t, anySchema), OutputSchema: parse(t, `{"type":1}`)}, "its output schema isn't one")
	_, err := New(nil, simple(t, "a", "f", echo), simple(t, "b", "f", echo), simple(t, "a", "f", echo))
	if err == nil || !strings.Contains(err.Error(), `tool "f" of "a" is there twice`) {
		t.Errorf("error %v", err)
	}
}
