package thirdrail

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// lastExpressions lists programs and what they come to with and without
// Request.LastExpression.
var lastExpressions = []struct {
	name, program, with, without string
}{
	{"a name", "x = 1\nx", "1", "absent"},
	{"a constant", "42", "42", "absent"},
	{"a text", "'hi'", `"hi"`, "absent"},
	{"None", "None", "absent", "absent"},
	{"a call for its effect", "print(1)", "absent", "absent"},
	{"awaited", "await t.f(1)", "1", "absent"},
	{"on several lines", "[\n  1,\n  2,\n]\n\n# the end\n", "[1,2]", "absent"},
	{"after a return in a branch", "if False:\n    return 7\n8", "8", "absent"},
	{"not reached", "if True:\n    return None\n8", "null", "null"},
	{"a returned list of two", "return [None, 2]\n3", "[null,2]", "[null,2]"},
	{"an assignment last", "x = 1", "absent", "absent"},
	{"inside a block", "if True:\n    5", "absent", "absent"},
	{"after a semicolon", "x = 2; x + 1", "3", "absent"},
	{"with annotations to come", "from __future__ import annotations\nx: int = 3\n__annotations__", `{"x":"int"}`, "absent"},
	{"a walrus", "(y := 5)", "5", "absent"},
	{"a star import", "from math import *\nfloor(2.5)", "2", "absent"},
}

func TestLastExpression(t *testing.T) {
	var cases []programCase
	for _, c := range lastExpressions {
		namespaces := []Namespace{{Global: "t", Funcs: Funcs{"f": echo}}}
		cases = append(cases, programCase{Name: c.name, Program: c.program, Value: c.without, Namespaces: namespaces})
	}
	for i, c := range lastExpressions {
		with := cases[i]
		with.Name, with.Value, with.LastExpression = "its value: "+c.name, c.with, true
		cases = append(cases, with)
	}
	cases = append(cases,
		programCase{Name: "the line of an error", Program: "x = 1\n\nx / 0", LastExpression: true, Kind: Exception, Message: []string{"line 3", "x / 0"}},
		programCase{Name: "a syntax error", Program: "x = (1", LastExpression: true, Kind: Exception, Message: []string{"line 1"}},
		programCase{Name: "not JSON", Program: "{1, 2}", LastExpression: true, Kind: InvalidOutput, Message: []string{"result is a set"}},
	)
	runCases(t, cases)
}

func TestSplitArguments(t *testing.T) {
	namespaces := []Namespace{{Global: "t", Funcs: Funcs{"f": echo}, SplitArguments: true}}
	var cases []programCase
	for program, want := range map[string]string{
		"return await t.f()":                    "[[],{}]",
		"return await t.f(1, [2], a=3, b=None)": `[[1,[2]],{"a":3,"b":null}]`,
		"return await t.f({'a': 1})":            `[[{"a":1}],{}]`,
		"return await t.f(**{'from': 1})":       `[[],{"from":1}]`,
		"return await t.f(1, a=..., b=2)":       `[[1],{"b":2}]`,
	} {
		cases = append(cases, programCase{Name: program, Program: program, Value: want, Namespaces: namespaces})
	}
	cases = append(cases, programCase{
		Name: "the place of what can't cross", Program: "await t.f('x', a=[{1}])", Kind: Exception,
		Message: []string{`t.f argument["a"][0] is a set`}, Namespaces: namespaces,
	})
	runCases(t, cases)
}

func TestSharedErrorClass(t *testing.T) {
	class := &ErrorClass{Name: "ToolError", MemberNameProperty: "tool"}
	fail := func(context.Context, lossless.Value) (lossless.Value, error) { return lossless.Value{}, errNope }
	runCases(t, []programCase{{
		Name: "one class for two namespaces",
		Program: `
seen = []
for f in (a.f, b["g-h"]):
    try:
        await f()
    except ToolError as e:
        seen.append([e.tool, str(e)])
return seen`,
		Value: `[["f","nope"],["g-h","nope"]]`,
		Namespaces: []Namespace{
			{Global: "a", Funcs: Funcs{"f": fail}, ErrorClass: class},
			{Global: "b", Funcs: Funcs{"g-h": fail}, ErrorClass: class},
		},
	}})
}

func TestCallableNamespace(t *testing.T) {
	runCases(t, []programCase{
		{Name: "called", Program: "return [await find('x'), await find.other(1)]", Value: `["x",1]`,
			Namespaces: []Namespace{{Global: "find", Funcs: Funcs{"__call__": echo, "other": echo}}}},
		{Name: "not declared", Program: "find('x')", Kind: Exception, Message: []string{"not callable"},
			Namespaces: []Namespace{{Global: "find", Funcs: Funcs{"other": echo}}}},
	})
}

// handleNamespace has functions whose results are handles, by the marker "#".
func handleNamespace() []Namespace {
	content := map[string]string{"0": "\x00\xff picture", "1": "text"}
	value := func(text string) Func {
		return func(context.Context, lossless.Value) (lossless.Value, error) {
			return lossless.Parse([]byte(text), lossless.Options{})
		}
	}
	return []Namespace{{Global: "t", Handles: "#", Funcs: Funcs{
		"picture": value(`{"#":0,"mime":"image/png","size":10}`),
		"parts":   value(`["see",{"#":1,"mime":"text/plain","size":4,"name":"a/b.txt"},{"x":{"#":1}}]`),
		"echo":    echo,
		"#": func(_ context.Context, number lossless.Value) (lossless.Value, error) {
			data, ok := content[number.String()]
			if !ok {
				return lossless.Value{}, errors.New("no such content")
			}
			return lossless.Of(base64.StdEncoding.EncodeToString([]byte(data)))
		},
	}}}
}

func TestHandles(t *testing.T) {
	cases := []programCase{
		{Name: "attributes", Program: "p = await t.picture()\nreturn [p.mime, p.size, p.name, list(p.read())[:2]]", Value: `["image/png",10,null,[0,255]]`},
		{Name: "returned", Program: "return await t.picture()", Value: `{"#":0}`},
		{Name: "returned within", Program: "p = await t.picture()\nd = {'a': [p, {'b': p}]}\nreturn d", Value: `{"a":[{"#":0},{"b":{"#":0}}]}`},
		{Name: "in a list of parts", Program: "a, b, c = await t.parts()\nreturn [a, b.name, b.size, c]", Value: `["see","a/b.txt",4,{"x":{"#":1}}]`},
		{Name: "saved", Program: "p = await t.picture()\nq = p.save('x.png')\nreturn [str(q), await p.save(), len(open('x.png', 'rb').read()), len(open(q, 'rb').read())]",
			Value: `["x.png","content-0.png",10,10]`},
		{Name: "saved under its own name", Program: "a, b, c = await t.parts()\nreturn [await b.save(), open('a_b.txt').read()]", Value: `["a_b.txt","text"]`},
		{Name: "read while a loop runs", Program: "import asyncio\np, q = await asyncio.gather(t.picture(), t.picture())\nreturn [len(p.read()), await t.echo(1), len(q.read())]", Value: "[10,1,10]"},
		{Name: "read from a thread", Program: "import threading\np = await t.picture()\nseen = []\nthread = threading.Thread(target=lambda: seen.append(len(p.read())))\nthread.start(); thread.join()\nreturn seen", Value: "[10]"},
		{Name: "as an argument", Program: "await t.echo(await t.picture())", Kind: Exception, Message: []string{`t.echo argument is a Handle, which is not lossless JSON; pass base64.b64encode(x.read())`}},
		{Name: "an attribute that it hasn't", Program: "(await t.picture()).data", Kind: Exception, Message: []string{"help: a handle of content has .mime, .size, .name, .read() and .save(path)"}},
		{Name: "imported", Program: "import t", Kind: Exception, Message: []string{"write `await t.echo(…)`"}},
		{Name: "a result that holds itself", Program: "p = await t.picture()\nx = [p]\nx.append(x)\nreturn x", Kind: InvalidOutput},
		{Name: "not a function for the program", Program: "return [dir(t), repr(p) if (p := await t.picture()) else 0]", Value: `[["echo","parts","picture"],"<image/png, 10 bytes; .save(path) writes it, return shows it>"]`},
		{Name: "a forged number", Program: "p = await t.picture()\ntype(p)('#', {'#': 7}, p._fetch).read()", Kind: Exception, Message: []string{"no such content"}},
	}
	for i := range cases {
		cases[i].Namespaces = handleNamespace()
	}
	runCases(t, cases)
}
