package upstream

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadConfig(t *testing.T) {
	t.Setenv("UP_TOKEN", "s3cret")
	t.Setenv("UP_EMPTY", "")
	for _, test := range []struct {
		name, text string
		want       []Server
	}{
		{"none", `{"mcpServers":{}}`, nil},
		{"of VS Code", `{"servers":{"a":{"type":"stdio","command":"x"}},"inputs":[]}`, []Server{{Name: "a", Command: "x"}}},
		{"byte order mark", "\uFEFF" + `{"mcpServers":{"a":{"command":"x"}}}`, []Server{{Name: "a", Command: "x"}}},
		{"order of the file, and what others know", `{"thirdrail":{"x":1},"mcpServers":{
			"z":{"command":"npx","args":["-y","p@1"],"env":{"K":"v"},"cwd":"/tmp","timeout":3,"autoApprove":["*"]},
			"a":{"type":"http","url":"https://h/mcp?x=1","headers":{"Authorization":"Bearer t"}}}}`, []Server{
			{Name: "z", Command: "npx", Args: []string{"-y", "p@1"}, Env: map[string]string{"K": "v"}, Dir: "/tmp"},
			{Name: "a", URL: "https://h/mcp?x=1", Headers: map[string]string{"Authorization": "Bearer t"}},
		}},
		{"variables", `{"mcpServers":{"a":{"command":"${UP_TOKEN}","args":["${UP_UNSET:-d e}","${UP_EMPTY:-f}","${UP_EMPTY}","$HOME","${a b}"],"env":{"T":"<${env:UP_TOKEN}>"}}}}`,
			[]Server{{Name: "a", Command: "s3cret", Args: []string{"d e", "f", "", "$HOME", "${a b}"}, Env: map[string]string{"T": "<s3cret>"}}}},
		{"disabled, and what it needs isn't there", `{"mcpServers":{"a":{"command":"${UP_UNSET}","disabled":true}}}`,
			[]Server{{Name: "a", Disabled: true}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadConfig(strings.NewReader(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Servers); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// badConfigs are configurations that are refused, with what the error says.
var badConfigs = []struct{ text, want string }{
	{``, "not JSON"},
	{`{"mcpServers":{"a":{}},}`, "not JSON"},
	{`{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`, "duplicate"},
	{`[]`, `there is no object "mcpServers"; write`},
	{`{"mcpServers":[]}`, `there is no object "mcpServers"; write`},
	{`{"mcpServers":{"a b":5}}`, `the server "a b": it is no object`},
	{`{"mcpServers":{"a":{}}}`, `the server "a": it has no "command" and no "url"`},
	{`{"mcpServers":{"":{"command":"x"}}}`, `it has no name`},
	{`{"mcpServers":{"a":{"command":"x","url":"http://h"}}}`, `it has a "command" and a "url"`},
	{`{"mcpServers":{"a":{"command":["x"]}}}`, `the server "a": "command" is no string`},
	{`{"mcpServers":{"a":{"command":"x","args":"-y"}}}`, `"args" is no array of strings`},
	{`{"mcpServers":{"a":{"command":"x","args":["a",1]}}}`, `"args" is no array of strings: element 1 is number`},
	{`{"mcpServers":{"a":{"command":"x","env":["A=b"]}}}`, `"env" is no object of strings`},
	{`{"mcpServers":{"a":{"command":"x","env":{"PORT":80}}}}`, `"env": the value of "PORT" is number; write a string`},
	{`{"mcpServers":{"a":{"command":"x","env":{"A=B":"c"}}}}`, `"env" has a variable "A=B"`},
	{`{"mcpServers":{"a":{"command":"x","args":["\u0000"]}}}`, `NUL`},
	{`{"mcpServers":{"a":{"command":"x","disabled":"yes"}}}`, `"disabled" is neither true nor false`},
	{`{"mcpServers":{"a":{"url":"h/mcp"}}}`, `"url" is "h/mcp"; write http://`},
	{`{"mcpServers":{"a":{"url":"ftp://h/"}}}`, `write http://`},
	{`{"mcpServers":{"a":{"url":"http://h/","headers":{"X Y":"z"}}}}`, `"headers" has "X Y"`},
	{`{"mcpServers":{"a":{"url":"http://h/","headers":{"X":"a\nb"}}}}`, `"headers" has "X"`},
	{`{"mcpServers":{"a":{"type":"sse","url":"http://h/"}}}`, `"type" is "sse", a transport that MCP gave up`},
	{`{"mcpServers":{"a":{"type":"ws","url":"http://h/"}}}`, `"type" is "ws"`},
	{`{"mcpServers":{"a":{"command":"x","args":["${UP_UNSET}"]}}}`, `the server "a": "args[0]" needs the environment variable UP_UNSET`},
	{`{"mcpServers":{"a":{"url":"http://h/","headers":{"K":"${UP_UNSET}"}}}}`, `"headers.K" needs the environment variable UP_UNSET`},
	{`{"mcpServers":{"a":{"command":"x","env":{"K":"${input:key}"}}}}`, `"env.K" asks the user by ${input:key}`},
}

func TestBadConfigIsOneLine(t *testing.T) {
	for _, test := range badConfigs {
		_, err := ReadConfig(strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n got %v\nwant one line with %s", test.text, err, test.want)
		}
	}
	if _, err := ReadConfig(strings.NewReader(strings.Repeat(" ", maxConfig+1))); err == nil {
		t.Error("a text without end is read")
	}
}

func TestConnectRefusesAConfigBeforeItStartsAnything(t *testing.T) {
	for _, servers := range [][]Server{
		{{Name: "a", Command: "true"}, {Name: "a", Command: "true"}},
		{{Name: "a", Command: "true"}, {Name: "b"}},
	} {
		if s, err := Connect(t.Context(), Config{Servers: servers}, Options{}); err == nil {
			s.Close()
			t.Errorf("%+v is accepted", servers)
		}
	}
}
