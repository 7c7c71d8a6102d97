package codemode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// hostileTexts are texts that try to become code where they are shown.
var hostileTexts = []string{
	`"""`, `"""); import os; os.system("x") #`, "'''\nimport evil\n'''", `ends with a quote"`, `ends with a backslash\`,
	`\N{bad} \x0 \u12`, "a\nimport evil\nb", "a\r\nimport evil", "a\rimport evil", "\u2028import evil\u2029", "\x0cimport evil", "\x00", "\x1b[31m",
	"\u202e reversed \u202d", "# comment\nimport evil", "中文 é 💥", strings.Repeat("long ", 5000), "{evil} %s %d {0}", "`code`\n```\nimport evil\n```",
	"\\\"\"\"\nimport evil\n\"\"\"", `""" + evil() + """`, "x\u0085import evil", "*/ import evil /*", "\ufeffimport evil",
}

// hostileTools returns tools with each text in each place that is shown.
func hostileTools(t testing.TB) []Tool {
	var tools []Tool
	for i, text := range hostileTexts {
		q := func(text string) string {
			v, err := lossless.Of(text)
			if err != nil {
				t.Fatal(err)
			}
			return v.String()
		}(text)
		schema := fmt.Sprintf(`{"type":"object","description":%[1]s,"title":%[1]s,"properties":{
			%[1]s:{"type":"string","description":%[1]s,"default":%[1]s,"format":%[1]s,"pattern":%[1]s},
			"e":{"enum":[%[1]s,"x"]},"c":{"const":%[1]s},"r":{"$ref":%[1]s},
			"d":{"$ref":"#/$defs/D"},"many":{"enum":[%[2]s]},
			"o":{"type":"object","description":%[1]s,"properties":{%[1]s:{"type":"integer","title":%[1]s}},"patternProperties":{%[1]s:{}},"required":[%[1]s]}},
			"dependentRequired":{%[1]s:[%[1]s]},"not":{"const":%[1]s},
			"$defs":{"D":{"type":"object","title":%[1]s,"description":%[1]s,"oneOf":[{"title":%[1]s,"properties":{"k":{"const":%[1]s}}},{"required":[%[1]s]}]}}}`,
			q, manyOf(q))
		tools = append(tools, Tool{
			Namespace: "hostile " + text, Name: fmt.Sprint("t", i, text), Title: text, Description: text, Handler: echo,
			InputSchema: parse(t, schema), OutputSchema: parse(t, schema),
		})
	}
	return tools
}

func manyOf(q string) string {
	var list []string
	for i := range 40 {
		list = append(list, fmt.Sprintf(`"%d"`, i))
	}
	return q + "," + strings.Join(list, ",")
}

// TestInjection: whatever texts hold, the source has the statements that it should,
// and no others.
func TestInjection(t *testing.T) {
	about := map[string]string{}
	for _, text := range hostileTexts {
		about["hostile "+text] = text
	}
	s, err := Options{About: about}.New(nil, hostileTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{"source": s.Source(), "described": describedSource(t, s), "seen": newSetSeen(t)} {
		path := filepath.Join(t.TempDir(), name+".py")
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("/usr/bin/python3", "-I", "-W", "error", "-c", statementsProgram, path).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "" {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	for i, r := range s.Instructions() {
		if r != '\n' && r != ' ' && !isPlain(r) {
			t.Errorf("the instructions have %U at %d", r, i)
		}
	}
}

// describedSource returns the declarations of all tools as whole as they can be had.
func describedSource(t testing.TB, s *Set) string {
	t.Helper()
	var names []string
	for _, g := range s.catalogue.groups {
		names = append(names, g.name)
	}
	source, err := s.Describe(names...)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(header, "f()") + source + "\n"
}

// newSetSeen returns the source of a tool whose remembered result is hostile.
func newSetSeen(t *testing.T) string {
	s := newSet(t, simple(t, "", "f", echo))
	var members []member
	for _, text := range hostileTexts[:10] {
		members = append(members, member{text, str(text)})
	}
	s.note(s.catalogue.groups[0].tools[0], object(members), "#")
	return s.Source()
}

// statementsProgram prints what a source of declarations must not have.
const statementsProgram = `
import ast, sys
with open(sys.argv[1], "rb") as file:
    tree = ast.parse(file.read())
def bad(node): print("line", node.lineno, ast.dump(node)[:200])
for node in tree.body:
    if isinstance(node, ast.ImportFrom) and node.module in ("typing", "__future__"):
        continue
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
        continue
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.func.id == "TypedDict":
        continue
    if not isinstance(node, ast.ClassDef):
        bad(node)
        continue
    for inner in node.body:
        if isinstance(inner, (ast.AnnAssign, ast.Pass)) and node.bases:
            continue
        if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant):
            continue
        if isinstance(inner, ast.AsyncFunctionDef) and all(isinstance(e, ast.Expr) and isinstance(e.value, ast.Constant) for e in inner.body):
            continue
        bad(inner)
for node in ast.walk(tree):
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") != "TypedDict":
        bad(node)
`

// manyDefinitions returns a tool whose schema has 500 definitions.
func manyDefinitions(t testing.TB) Tool { return definitions(t, 7, "large") }

// definitions returns a tool with 500 definitions, each of which refers to another.
func definitions(t testing.TB, step int, name string) Tool {
	var properties, definitions []string
	for i := range 500 {
		properties = append(properties, fmt.Sprintf(`"property%d":{"$ref":"#/$defs/Definition%d","description":"The property of number %d, at some length."}`, i, i, i))
		definitions = append(definitions, fmt.Sprintf(`"Definition%d":{"type":"object","properties":{"next":{"$ref":"#/$defs/Definition%d"},"value":{"type":"string","description":"A value."}}}`, i, (i*step+1)%500))
	}
	schema := `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"$defs":{` + strings.Join(definitions, ",") + `}}`
	return Tool{Name: name, Handler: echo, InputSchema: parse(t, schema), OutputSchema: parse(t, schema)}
}

// TestLargeSchema: 500 definitions come to less than 2,000 tokens, at three bytes
// or more a token, as the model and as a reader of the source sees them.
func TestLargeSchema(t *testing.T) {
	tool := manyDefinitions(t)
	linked := definitions(t, 1, "chain")
	chain := Tool{Name: "chain", Handler: echo, InputSchema: parse(t, strings.Replace(linked.InputSchema.String(), `"properties":{"property0"`, `"properties":{"one":{"$ref":"#/$defs/Definition0"}},"x":{"property0"`, 1))}
	for _, tool := range []Tool{tool, chain} {
		s := newSet(t, tool)
		inline, ok := s.inline()
		for _, source := range []string{inline, s.Source()} {
			if !ok || len(source) > 3*2000 {
				t.Errorf("%s: the declarations have %d bytes", tool.Name, len(source))
			}
			if !strings.Contains(source, "tools_describe(\"tools."+tool.Name+"\")") {
				t.Errorf("%s: no word on where the rest is:\n%s", tool.Name, source)
			}
		}
		described, err := s.Describe("tools." + tool.Name)
		if err != nil || len(described) < 2*len(inline) {
			t.Errorf("%s: described in %d bytes, %v", tool.Name, len(described), err)
		}
	}
}

// TestThousandTools: the declarations of 1,000 tools take well under a second.
func TestThousandTools(t *testing.T) {
	tools := numbered(t, 1000)
	s := newSet(t, tools...)
	start := time.Now()
	size := len(s.Source())
	t.Logf("%d tools: %d bytes in %v", len(tools), size, time.Since(start))
	if size < 100_000 {
		t.Errorf("%d tools of %d bytes", len(tools), size)
	}
}
