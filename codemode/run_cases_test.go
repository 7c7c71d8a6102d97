package codemode

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

var pixel = []byte("\x89PNG\r\n\x1a\n pixel")

// runTools are what the programs of the tests can call.
func runTools(t testing.TB) []Tool {
	schema := func(text string) lossless.Value { return parse(t, text) }
	search := schema(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100},"tags":{"type":["array","null"],"items":{"type":"string"}}},"required":["query"]}`)
	tools := []Tool{
		{Namespace: "web", Name: "search", Description: "Search the web.", InputSchema: search, Handler: echo},
		{Namespace: "web", Name: "send-email", InputSchema: schema(`{"type":"object","properties":{"from":{"type":"string"},"class":{"type":"integer"},"filter":{"type":"object","properties":{"x":{"type":"integer"}}}},"required":["from"]}`), Handler: echo},
		{Namespace: "web", Name: "filtered", InputSchema: schema(`{"type":"object","properties":{"filter":{"type":"object","properties":{"x":{"type":"integer"}},"additionalProperties":false},"n":{"type":"integer"}},"required":["filter"]}`), Handler: echo},
		{Namespace: "web", Name: "ping", InputSchema: schema(`{"type":"object","properties":{}}`), Handler: answer(Text("pong"))},
		{Namespace: "web", Name: "odd", InputSchema: schema(`{"type":"object","properties":{"self":{"type":"string"},"args":{"type":"string"},"kwargs":{"type":"string"},"method":{"type":"string"},"name":{"type":"string"},"label":{"type":"string"}}}`), Handler: echo},
		{Namespace: "web", Name: "nulls", InputSchema: schema(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]},"c":{"type":"object","properties":{"d":{"type":["string","null"]}}}}}`), Handler: echo},
		simple(t, "web", "anything", echo),
		simple(t, "my-server", "who", answer(Text("dashed"))),
		simple(t, "my_server", "who", answer(Text("underlined"))),
		simple(t, "out", "fails", func(context.Context, lossless.Value) (Result, error) {
			return Result{IsError: true, Content: []Content{{Text: "no such row"}}}, nil
		}),
		simple(t, "out", "breaks", func(context.Context, lossless.Value) (Result, error) { return Result{}, errors.New("upstream is gone") }),
		simple(t, "out", "silent", answer(Result{IsError: true})),
		simple(t, "out", "nothing", answer(Result{})),
		simple(t, "out", "structured", answer(Result{Structured: schema(`{"result":[9007199254740993,0.1]}`), Content: []Content{{Text: "x"}}})),
		simple(t, "out", "wrapped", answer(Result{Structured: schema(`{"result":7}`), Wrapped: true})),
		simple(t, "out", "ordered", answer(Value(schema(`{"z":9007199254740993,"a":-0.0,"m":1e5}`)))),
		simple(t, "out", "image", answer(Result{Content: []Content{{MIME: "image/png", Data: pixel, Name: "dot.png"}}})),
		simple(t, "out", "mixed", answer(Result{Content: []Content{{Text: "see"}, {MIME: "image/png", Data: pixel}, {Text: "so"}}})),
		simple(t, "out", "two", answer(Result{Content: []Content{{Text: "one"}, {Text: "two"}}})),
		{Namespace: "out", Name: "typed", InputSchema: schema(anySchema), OutputSchema: schema(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`), Handler: answer(Value(schema(`{"id":"seven"}`)))},
		{Namespace: "out", Name: "unstructured", InputSchema: schema(anySchema), OutputSchema: schema(`{"type":"object"}`), Handler: answer(Text(`{"a":1}`))},
		{Namespace: "out", Name: "boxed", InputSchema: schema(anySchema), OutputSchema: schema(`{"type":"object","properties":{"result":{"type":"integer"}},"x-fastmcp-wrap-result":true}`), Handler: answer(Value(schema(`{"result":3}`)))},
	}
	for _, name := range []string{"a-b", "a_b", "a.b", "import", "2fa", "__class__"} {
		tools = append(tools, simple(t, "names", name, answer(Text(name))))
	}
	for i, text := range []string{`[1,2]`, `42`, `null`, `007`, `{"a":9007199254740993}`, `{"a":1`, ``} {
		tools = append(tools, simple(t, "texts", fmt.Sprint("t", i), answer(Text(text))))
	}
	return tools
}

// runCase is a program and what comes of it.
type runCase struct {
	name, program string
	want          string   // the value; "absent" for none
	failure       string   // a part of the message
	warnings      []string // parts
	content       int
}

const searchSignature = "The signature is: web.search(*, query: str, limit: int = ..., tags: list[str] | None = ...) -> Any"

// runCases are run against runTools.
var runCases = []runCase{
	{name: "keywords", program: "return await web.search(query='x', limit=3)", want: `{"query":"x","limit":3}`},
	{name: "positional arguments in the declared order", program: "return await web.search('x', 3)", want: `{"query":"x","limit":3}`},
	{name: "positional and keyword", program: "return await web.search('x', tags=['a'])", want: `{"query":"x","tags":["a"]}`},
	{name: "one object for all", program: "return await web.search({'query': 'x', 'limit': 3})", want: `{"query":"x","limit":3}`},
	{name: "one object for the first parameter", program: "return await web.filtered({'x': 1})", want: `{"filter":{"x":1}}`},
	{name: "one object for all where the first is an object", program: "return await web.filtered({'filter': {'x': 1}, 'n': 2})", want: `{"filter":{"x":1},"n":2}`},
	{name: "no arguments", program: "return await web.ping()", want: `"pong"`},
	{name: "words of the language", program: "return [await web.send_email(from_='a', class_=1), await web['send-email'](**{'from': 'b', 'class': 2})]", want: `[{"from":"a","class":1},{"from":"b","class":2}]`},
	{name: "names of the interpreter", program: "return await web.odd(self='a', args='b', kwargs='c', method='d', name='e', label='f')", want: `{"self":"a","args":"b","kwargs":"c","method":"d","name":"e","label":"f"}`},
	{name: "null where it may be left out", program: "return await web.search(query='x', limit=None, tags=None)", want: `{"query":"x","tags":null}`},
	{name: "null alone, legal and nested", program: "return await web.nulls(a=None, b=None, c={'d': None})", want: `{"b":null,"c":{"d":null}}`},
	{name: "an ellipsis, as declarations write it", program: "return await web.search(query='x', limit=..., tags=...)", want: `{"query":"x"}`},
	{name: "an ellipsis where one must be given", program: "await web.search(query=...)", failure: "web.search() missing 1 required keyword-only argument: 'query'"},
	{name: "any further arguments", program: "return await web.anything(a=1, **{'b-c': [2], 'from': {}})", want: `{"a":1,"b-c":[2],"from":{}}`},
	{name: "nested null", program: "return await web.search(query='x', tags=[None])", failure: "web.search(): argument tags[0]: expected str, got None"},
	{name: "exact both ways", program: "r = await out.ordered()\nassert r['z'] == 2**53 + 1\nreturn [list(r), r, await web.search('x', 3.0)]", want: `[["z","a","m"],{"z":9007199254740993,"a":-0.0,"m":100000.0},{"query":"x","limit":3.0}]`},

	{name: "an unknown argument", program: "await web.search(q='x')", failure: "web.search() got an unexpected keyword argument 'q'. Did you mean 'query'?\n" + searchSignature},
	{name: "a missing argument", program: "await web.search()", failure: "web.search() missing 1 required keyword-only argument: 'query'\n" + searchSignature},
	{name: "too many", program: "await web.search('x', 1, [], 4)", failure: "web.search() takes 3 positional arguments but 4 were given\n" + searchSignature},
	{name: "twice", program: "await web.search('x', query='y')", failure: "web.search() got multiple values for argument 'query'"},
	{name: "a wrong type", program: "await web.search(query='x', limit='3')", failure: "web.search(): argument limit: expected int, got str\n" + searchSignature},
	{name: "out of range", program: "await web.search(query='x', limit=101)", failure: "web.search(): argument limit: expected at most 100, got 101"},
	{name: "a wrong argument is a ToolError", program: "try:\n    await web.search(q=1)\nexcept ToolError as e:\n    return [e.tool, str(e).split('\\n')[0]]", want: `["search","web.search() got an unexpected keyword argument 'q'. Did you mean 'query'?"]`},

	{name: "what can't cross", program: "await web.search(query={'a'})", failure: `ToolError: web.search argument["query"] is a set, which is not lossless JSON; pass sorted(x) or list(x)`},
	{name: "what can't cross, by position", program: "await web.search('x', 1, [('a',)])", failure: `ToolError: web.search argument[2][0] is a tuple`},
	{name: "a result that wasn't awaited", program: "await web.search(query=web.ping())", failure: "argument[\"query\"] is a coroutine, which is not lossless JSON; write `await` in front of the call"},
	{name: "an image for an argument", program: "await web.search(query=await out.image())", failure: `argument["query"] is a Handle, which is not lossless JSON; pass base64.b64encode(x.read()).decode()`},
	{name: "awaited without need", program: "def f(): return 1\nreturn await f()", failure: "help: this value is there already: leave out `await`"},
	{name: "awaited twice", program: "c = web.ping()\nawait c\nawait c", failure: "help: a call is awaited once"},

	{name: "a failing tool is caught at its await", program: "seen = []\nfor f in (out.fails, out.breaks, out.silent):\n    try:\n        await f()\n    except ToolError as e:\n        seen.append([e.tool, str(e)])\nreturn seen", want: `[["fails","no such row"],["breaks","upstream is gone"],["silent","the tool failed and did not say why"]]`},
	{name: "one of three fails", program: "import asyncio\nr = await asyncio.gather(web.ping(), out.fails(), web.ping(), return_exceptions=True)\nreturn [x if isinstance(x, str) else repr(x) for x in r]", want: `["pong","ToolError('no such row')","pong"]`},
	{name: "a failure that isn't caught", program: "await out.fails()", failure: "no such row"},

	{name: "collisions reach their own tool", program: "return [await names.a_b(), await names.a_b_2(), await names.a_b_3(), await names['a-b'](), await names['a_b'](), await names['a.b']()]", want: `["a_b","a-b","a.b","a-b","a_b","a.b"]`},
	{name: "odd names", program: "return [await names.import_(), await names['import'](), await names._2fa(), await names['2fa'](), await names['__class__'](), await names._class()]", want: `["import","import","2fa","2fa","__class__","__class__"]`},
	{name: "namespaces that meet", program: "return [await my_server.who(), await my_server_2.who()]", want: `["underlined","dashed"]`},

	{name: "text", program: "return [await texts.t0(), await texts.t1(), await texts.t2(), await texts.t3(), await texts.t4(), await texts.t5(), await texts.t6()]", want: `[[1,2],"42","null","007",{"a":9007199254740993},"{\"a\":1",""]`},
	{name: "several texts", program: "return await out.two()", want: `"one\ntwo"`},
	{name: "nothing", program: "return await out.nothing()", want: "null"},
	{name: "structured content", program: "return await out.structured()", want: `{"result":[9007199254740993,0.1]}`},
	{name: "wrappers", program: "return [await out.wrapped(), await out.boxed()]", want: "[7,3]"},
	{name: "a result that breaks its schema", program: "return await out.typed()", want: `{"id":"seven"}`, warnings: []string{`out.typed: the result does not match its output schema: result["id"]: expected int, got str`}},
	{name: "text where structure was declared", program: "return await out.unstructured()", want: `"{\"a\":1}"`, warnings: []string{"out.unstructured: it declares an output schema, and sent no structured result"}},

	{name: "an image", program: "i = await out.image()\nreturn [i.mime, i.size, len(i.read())]", want: `["image/png",14,14]`},
	{name: "a returned image", program: "return await out.image()", want: `{"content":0,"mime":"image/png","size":14}`, content: 1},
	{name: "an image returned twice reaches the client once", program: "i = await out.image()\nj = await out.image()\nreturn {'a': i, 'b': [i, j]}", want: `{"a":{"content":0,"mime":"image/png","size":14},"b":[{"content":0,"mime":"image/png","size":14},{"content":1,"mime":"image/png","size":14}]}`, content: 2},
	{name: "an image that isn't returned stays", program: "i = await out.image()\ni.save('a.png')\nreturn open('a.png', 'rb').read(4).hex()", want: `"89504e47"`},
	{name: "mixed content", program: "a, i, b = await out.mixed()\nreturn [a, i.mime, b]", want: `["see","image/png","so"]`},

	{name: "a last expression", program: "x = await web.ping()\nx", want: `"pong"`},
	{name: "a fence", program: "```python\nreturn await web.ping()\n```", want: `"pong"`},
	{name: "annotations and a walrus", program: "from __future__ import annotations\nx: int = 1\ndef f(a: int) -> str: return str(a)\nreturn (y := f(x))", want: `"1"`},
	{name: "a line of a notebook", program: "!pip install requests\nreturn 1", failure: "line 1: \"!pip install requests\" is for a notebook"},
	{name: "a syntax error is a failure", program: "  x=1", failure: "IndentationError"},
	{name: "no value", program: "x = 1", want: "absent"},

	{name: "search", program: "return [(await tools_search('email'))[0].split('(')[0], await tools_search('zzz'), len(await tools_search(query='a', limit=1))]", want: `["web.send_email",[],1]`},
	{name: "search by position and keyword", program: "return [len(await tools_search('a', 1)), len(await tools_search('a', limit=2)), len(await tools_search({'query': 'a', 'limit': 3})), len(await tools_search('a', 10**30)) > 3]", want: "[1,2,3,true]"},
	{name: "search with a wrong argument", program: "await tools_search(q='x')", failure: "ToolError: tools_search() got an unexpected keyword argument 'q'. Did you mean 'query'?\nThe signature is: tools_search(*, query: str, limit: int = ...) -> list[str]"},
	{name: "search without words", program: "await tools_search()", failure: "tools_search() missing 1 required keyword-only argument: 'query'"},
	{name: "search that isn't awaited", program: "return tools_search('x')[0]", failure: "help: `await` is missing"},
	{name: "search imported", program: "import tools_search", failure: "help: tools_search is no module but there without an import: write `await tools_search(…)`"},
	{name: "a namespace imported", program: "from web import search", failure: "help: web is no module but there without an import: write `await web.anything(…)`"},
	{name: "describe several by position", program: "return (await tools_describe('web.search', 'web.ping')).count('async def')", want: "2"},
	{name: "describe with a wrong argument", program: "await tools_describe(name='web.search')", failure: "tools_describe() got an unexpected keyword argument 'name'. Did you mean 'names'?\nThe signature is: tools_describe(*, names: str | list[str]) -> str"},
	{name: "describe nothing", program: "await tools_describe([])", failure: "tools_describe(): argument names: expected one of: str, got list | at least 1 item, got 0"},
	{name: "describe", program: "d = await tools_describe(['web.search', 'web.ping'])\nreturn ['async def search(' in d, 'async def ping() -> Any' in d, 'send_email' in d]", want: "[true,true,false]"},
	{name: "describe by a true name", program: "return 'async def send_email' in await tools_describe('web.send-email')", want: "true"},
	{name: "describe a namespace", program: "return (await tools_describe('names')).count('async def')", want: "6"},
	{name: "describe what isn't there", program: "await tools_describe('web.serch_web')", failure: `there is no tool "web.serch_web"`},
	{name: "what search finds can be called", program: "hit = (await tools_search('ping'))[0]\nreturn await eval(hit.split('(')[0])()", want: `"pong"`},
	{name: "the shape of a first result", program: "await out.ordered()\nreturn 'seen: {\"z\": int, \"a\": float, \"m\": float}' in await tools_describe('out.ordered')", want: "true"},
}
