//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const toolsFile = `{"namespaces": {
	"web-shop": [
		{"name": "echo-all", "description": "Gives back\nwhat it gets. \"\"\"", "inputSchema": {"type": "object", "properties":
			{"z": {"type": "integer"}, "from": {"type": "string"}, "a": {"type": ["number", "null"]}}, "required": ["z"]}, "command": "cat"},
		{"name": "fail", "inputSchema": {"type": "object", "properties": {}}, "command": "sh -c 'echo \"no row 7\" >&2; exit 1'"},
		{"name": "silent", "inputSchema": {"type": "object", "properties": {}}, "command": "true"},
		{"name": "shown", "inputSchema": {"type": "object"}},
		{"name": "liar", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}, "command": "echo '{\"n\":\"x\"}'"}
	],
	"a.b": [{"name": "x=y.z", "inputSchema": {"type": "object", "properties": {"tree": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}}}, "command": "cat"}]
}}`

func TestTools(t *testing.T) {
	path := file(t, "tools.json", toolsFile)
	s := invoke(t, "", "tools", path)
	for _, part := range []string{
		"class web_shop:", "    async def echo_all(\n        *,\n        z: int,\n        from_: str = ...,  # sent as \"from\"\n        a: float | None = ...,\n    ) -> Any:",
		"class a_b:", "async def x_y_z(*, tree: T = ...)", "class T(TypedDict):\n    kids: NotRequired[list[T]]", "class LiarResult(TypedDict):",
	} {
		if !strings.Contains(s.stdout.String(), part) {
			t.Errorf("the output lacks %q:\n%s", part, s.stdout.String())
		}
	}
	s.check(exitSuccess, s.stdout.String(), "")
	if again := invoke(t, toolsFile, "tools", "-"); again.stdout.String() != s.stdout.String() {
		t.Error("from standard input it is another output")
	}
	source := filepath.Join(t.TempDir(), "stubs.py")
	if err := os.WriteFile(source, s.stdout.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("/usr/bin/python3", "-m", "py_compile", source).CombinedOutput(); err != nil {
		t.Errorf("it doesn't compile: %v\n%s", err, out)
	}
}

// toolsRuns lists programs that are run against toolsFile.
var toolsRuns = []struct {
	name, program string
	status        int
	stdout        string
	stderr        string
}{
	{"keywords", "return await web_shop.echo_all(z=9007199254740993, from_='x', a=0.5)", 0, `{"z":9007199254740993,"from":"x","a":0.5}` + "\n", ""},
	{"positional", "return await web_shop.echo_all(1, 'x')", 0, `{"z":1,"from":"x"}` + "\n", ""},
	{"the true name", "return await web_shop['echo-all'](**{'z': 1, 'from': 'x'})", 0, `{"z":1,"from":"x"}` + "\n", ""},
	{"odd names", "return [await a_b.x_y_z(), await a_b['x=y.z']({'tree': {}})]", 0, "[{},{\"tree\":{}}]\n", ""},
	{"a last expression", "await web_shop.echo_all(z=2)", 0, "{\"z\":2}\n", ""},
	{"a failure", "await web_shop.fail()", 1, "", "ToolError: no row 7"},
	{"a caught failure", "try:\n    await web_shop.fail()\nexcept ToolError as e:\n    return [e.tool, str(e)]", 0, "[\"fail\",\"no row 7\"]\n", ""},
	{"nothing printed", "await web_shop.silent()", 1, "", "the command of web-shop.silent printed nothing"},
	{"without a command", "await web_shop.shown()", 1, "", "this tool has no command behind it"},
	{"a wrong argument", "await web_shop.echo_all(z='x')", 1, "", "web_shop.echo_all(): argument z: expected int, got str"},
	{"a result that breaks its schema", "return await web_shop.liar()", 0, "{\"n\":\"x\"}\n", "thirdrail: warning: web_shop.liar: the result does not match its output schema"},
	{"search", "return (await tools_search('echo'))[0].split('(')[0]", 0, "\"web_shop.echo_all\"\n", ""},
}

func TestRunWithToolsFile(t *testing.T) {
	path := file(t, "tools.json", toolsFile)
	for _, test := range toolsRuns {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := invoke(t, test.program, "run", "-", "--tools", path)
			s.check(test.status, test.stdout, test.stderr)
		})
	}
}

// TestRunWithBothKindsOfTools: --tool stands beside --tools.
func TestRunWithBothKindsOfTools(t *testing.T) {
	path := file(t, "tools.json", toolsFile)
	s := invoke(t, "return [await t.f(1), await a_b.x_y_z()]", "run", "-", "--tools", path, "--tool", "t.f=cat", "--json")
	if out := s.stdout.String(); !strings.HasPrefix(out, `{"value":[1,{}],"logs":[],"stats":`) {
		t.Errorf("output %s, %s", out, s.stderr.String())
	}
}

// badToolsFiles lists files of tools that are refused, with the one line that says why.
var badToolsFiles = []struct{ name, text, want string }{
	{"no JSON", `{`, `the tools in "FILE" are not JSON that crosses without loss`},
	{"no object", `[]`, `the tools in "FILE": there is no object "namespaces"; write {"namespaces"`},
	{"namespaces of another type", `{"namespaces":[]}`, `there is no object "namespaces"`},
	{"a namespace of another type", `{"namespaces":{"n":{}}}`, `the namespace "n" is no array of tools`},
	{"a namespace without a name", `{"namespaces":{"":[]}}`, "a namespace has no name"},
	{"a namespace twice", `{"namespaces":{"n":[],"n":[]}}`, "duplicate object name"},
	{"a tool that is none", `{"namespaces":{"n":[1]}}`, `tool 1 of "n" is no object`},
	{"a tool without a name", `{"namespaces":{"n":[{"inputSchema":{}}]}}`, `tool 1 of "n" has no name`},
	{"an empty name", `{"namespaces":{"n":[{"name":"","inputSchema":{}}]}}`, `tool 1 of "n" has no name`},
	{"a name of another type", `{"namespaces":{"n":[{"name":7,"inputSchema":{}}]}}`, `tool 1 of "n": its name is no string`},
	{"no schema", `{"namespaces":{"n":[{"name":"f"}]}}`, `tool "f" of "n": its input schema isn't one: there is none`},
	{"a schema that is none", `{"namespaces":{"n":[{"name":"f","inputSchema":{"type":"objekt"}}]}}`, `tool "f" of "n": its input schema isn't one: at schema["type"]`},
	{"an output schema that is none", `{"namespaces":{"n":[{"name":"f","inputSchema":{},"outputSchema":3}]}}`, "its output schema isn't one: it is a JSON number"},
	{"a name twice", `{"namespaces":{"n":[{"name":"f","inputSchema":{}},{"name":"f","inputSchema":{}}]}}`, `tool "f" of "n" is there twice`},
	{"a command that isn't there", `{"namespaces":{"n":[{"name":"f","inputSchema":{},"command":"no-such-command"}]}}`, `the command "no-such-command" can't be used`},
	{"an empty command", `{"namespaces":{"n":[{"name":"f","inputSchema":{},"command":" "}]}}`, "has an empty command"},
}

func TestBadToolsFiles(t *testing.T) {
	for _, test := range badToolsFiles {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := file(t, "tools.json", test.text)
			want := strings.ReplaceAll(test.want, "FILE", path)
			for _, args := range [][]string{{"tools", path}, {"run", "-", "--tools", path}} {
				s := invoke(t, "print('ran')", args...)
				s.check(exitMisuse, "", want)
				if text := s.stderr.String(); strings.Count(text, "\n") != 1 {
					t.Errorf("not one line: %q", text)
				}
			}
		})
	}
}

func TestToolsMisuse(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"tools"}, "no file of tools given; write thirdrail tools FILE"},
		{[]string{"tools", "a", "b"}, `2 files given ("a" and "b"): tools takes one`},
		{[]string{"tools", "none.json"}, `the list of tools in "none.json" can't be read: no such file or directory`},
		{[]string{"run", "-", "--tools", "-"}, "--tools can't come from standard input beside the program"},
		{[]string{"run", "-", "--tools="}, "--tools is empty"},
	} {
		invoke(t, "", test.args...).check(exitMisuse, "", test.want)
	}
}
