package codemode

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// snippet matches what stands in backticks in the instructions.
var snippet = regexp.MustCompile("`([^`]+)`")

// TestEverySnippetRuns: each piece of code that the instructions show is run, with
// tools that are declared and with tools that are looked up.
func TestEverySnippetRuns(t *testing.T) {
	var servers []Tool
	for _, c := range readCorpus(t)["servers"] {
		servers = append(servers, c.tool(t))
	}
	for name, tools := range map[string][]Tool{"few": servers, "many": manyTools(t), "one": runTools(t)[:1], "none": nil} {
		t.Run(name, func(t *testing.T) {
			s, err := New(testRuntime(t), tools...)
			if err != nil {
				t.Fatal(err)
			}
			text, _, _ := strings.Cut(s.Instructions(), "```python")
			shown := snippet.FindAllStringSubmatch(text, -1)
			if len(shown) < 3 {
				t.Fatalf("only %d snippets:\n%s", len(shown), text)
			}
			for _, match := range shown {
				program, known := snippetProgram(match[1])
				if !known {
					t.Errorf("no program for the snippet %q", match[1])
					continue
				}
				if strings.Contains(program, "out.image()") {
					continue // run below, where a tool gives one
				}
				out, err := s.Run(t.Context(), program)
				if err != nil || out.Failure != nil {
					t.Errorf("%s: %v: %s", program, err, out.Text())
				}
			}
		})
	}
}

// TestHandleSnippetsRun: what the instructions say of handles is what they have.
func TestHandleSnippetsRun(t *testing.T) {
	s, err := New(testRuntime(t), runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, match := range snippet.FindAllStringSubmatch(s.howTo(), -1) {
		if program, known := snippetProgram(match[1]); known && strings.Contains(program, "out.image()") {
			all = append(all, strings.TrimPrefix(program, "return "))
		}
	}
	out, err := s.Run(t.Context(), "return ["+strings.Join(all, ", ")+"]")
	if err != nil || out.Value.String() != `["image/png",14,14,"p"]` {
		t.Errorf("%q: %v: %s", all, err, out.Text())
	}
}

// snippetProgram makes a whole program of a piece of the instructions.
func snippetProgram(code string) (string, bool) {
	switch {
	case code == "await":
		return "import asyncio\nawait asyncio.sleep(0)", true
	case code == "return":
		return "return [None, True, 1, 0.5, 'x', [], {}]", true
	case code == "print":
		return "print('x')", true
	case code == "import asyncio":
		return code, true
	case code == "return_exceptions=True":
		return "import asyncio\nawait asyncio.gather(asyncio.sleep(0), " + code + ")", true
	case code == "= ...":
		return "async def f(*, a: int = ...): return 1\nreturn await f()", true
	case code == ".tool":
		return "try: raise ToolError('x')\nexcept ToolError as e: return e" + code, true
	case code == ".mime", code == ".size":
		return "return (await out.image())" + code, true
	case code == ".read()":
		return "return len((await out.image())" + code + ")", true
	case code == ".save(path)":
		return "return str((await out.image()).save('p'))", true
	case strings.HasPrefix(code, "try: "):
		body := strings.Replace(strings.Replace(code, "…", "raise ToolError('x')", 1), " except", "\nexcept", 1)
		return body, true
	case strings.HasPrefix(code, "r = await "):
		return code + "\nreturn r", true
	case strings.HasPrefix(code, "a, b = await asyncio.gather("):
		return "import asyncio\n" + code + "\nreturn [a, b]", true
	case strings.HasPrefix(code, "await tools_search("):
		return "found = " + code + "\nreturn found", true
	case strings.HasPrefix(code, "await tools_describe("):
		return "name = (await tools_search('create'))[0].split('(')[0]\nreturn " + strings.Replace(code, `"ns.name"`, "name", 1), true
	}
	return "", false
}

// TestWhatIsSaidIsTrue: the sentences on what is and isn't there.
func TestWhatIsSaidIsTrue(t *testing.T) {
	s, err := New(testRuntime(t), runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{
		"import os\nreturn [n for n in os.listdir('.') if n != 'tmp']": "[]",
		"open('x', 'w').write('1')\nx = 1\nreturn 1":                   "1",
		"import os\nreturn ['x' in globals(), 'x' in os.listdir('.')]": "[false,false]",
		"import sys\nreturn '%d.%d' % sys.version_info[:2]":            `"` + s.facts.Version + `"`,
		"import json, re, csv, sqlite3, decimal\nreturn 'there'":       `"there"`,
	} {
		out, err := s.Run(t.Context(), program)
		if err != nil || out.Value.String() != want {
			t.Errorf("%s: %s, %v, want %s", program, out.Text(), err, want)
		}
	}
	for _, program := range []string{
		"import socket\nsocket.create_connection(('127.0.0.1', 1), 1)",
		"import subprocess\nsubprocess.run(['true'])",
		"open('/etc/shadow').read()",
		"import package_that_is_not_there",
	} {
		out, err := s.Run(t.Context(), program)
		if err != nil || out.Failure == nil {
			t.Errorf("%s: %s, %v", program, out.Text(), err)
		}
	}
	names, err := json.Marshal(s.facts.Packages)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), "import importlib.util\nreturn [n for n in "+string(names)+" if importlib.util.find_spec(n) is None]")
	if err != nil || out.Value.String() != "[]" && s.facts.Packages != nil {
		t.Errorf("packages that can't be imported: %s, %v", out.Text(), err)
	}
}

// fixedBytes are 600 tokens, at three bytes or more a token.
const fixedBytes = 600 * 3

// TestFixedTextIsShort: what is the same for all tools is under 600 tokens.
func TestFixedTextIsShort(t *testing.T) {
	s, err := New(testRuntime(t), runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	if size := len(s.howTo()); size > fixedBytes {
		t.Errorf("it has %d bytes", size)
	}
}

func TestDefinition(t *testing.T) {
	s := newSet(t, runTools(t)...)
	d := s.Definition()
	var schema struct {
		Type       string
		Properties map[string]any
		Required   []string
	}
	if err := json.Unmarshal(d.InputSchema.Bytes(), &schema); err != nil {
		t.Fatal(err)
	}
	if d.Name != "run_code" || d.Description != s.Instructions() || fmt.Sprint(schema.Type, schema.Required) != "object[code]" {
		t.Errorf("definition %+v, schema %+v", d, schema)
	}
	named, err := Options{Name: "python", NoLastExpression: true}.New(nil, runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	if d := named.Definition(); d.Name != "python" || !strings.Contains(d.Description, "a bare expression at the end does not") {
		t.Errorf("definition %+v", d)
	}
}

// TestDeferred: up to the Options' number of tools, and where they are short enough,
// the description declares them all; beyond it it names namespaces.
func TestDeferred(t *testing.T) {
	for _, c := range []struct {
		name    string
		options Options
		tools   []Tool
		want    bool
	}{
		{"no tools", Options{}, nil, false},
		{"as many as the default", Options{}, manyTools(t)[:DefaultInline], false},
		{"one more", Options{}, manyTools(t)[:DefaultInline+1], true},
		{"a number of one's own", Options{Inline: 3}, manyTools(t)[:3], false},
		{"one more than that", Options{Inline: 3}, manyTools(t)[:4], true},
		{"none ever", Options{Inline: -1}, manyTools(t)[:1], true},
		{"many, allowed", Options{Inline: 1000}, manyTools(t)[:60], false},
		{"too long all the same", Options{Inline: 1000}, numbered(t, 1000), true},
	} {
		s, err := c.options.New(nil, c.tools...)
		if err != nil {
			t.Fatal(err)
		}
		if s.Deferred() != c.want {
			t.Errorf("%s: deferred is %v", c.name, s.Deferred())
		}
		text := s.Instructions()
		if declared := strings.Contains(text, "async def "); declared == c.want && len(c.tools) > 0 {
			t.Errorf("%s: declared is %v:\n%s", c.name, declared, text)
		}
		if strings.Contains(text, searchName) && !c.want {
			t.Errorf("%s: it speaks of %s", c.name, searchName)
		}
	}
}

// TestNamespacesAreCounted: the namespaces that are named and those that aren't are all.
func TestNamespacesAreCounted(t *testing.T) {
	for servers, want := range map[int]string{60: "- s059: f\n", 61: "- s059: f\n- and 1 more namespace\n", 200: "- s059: f\n- and 140 more namespaces\n"} {
		var tools []Tool
		for i := range servers {
			tools = append(tools, simple(t, fmt.Sprintf("s%03d", i), "f", echo))
		}
		if text := newSet(t, tools...).Instructions(); !strings.HasSuffix(text, want) {
			t.Errorf("%d: the text ends %q, want %q", servers, text[len(text)-80:], want)
		}
	}
}
