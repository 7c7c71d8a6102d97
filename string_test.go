package thirdrail

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

func TestStrings(t *testing.T)     { runCases(t, slices.Concat(stringCases, controlCases())) }
func TestStringSizes(t *testing.T) { runCases(t, stringSizeCases) }
func TestSources(t *testing.T)     { runCases(t, sourceCases) }
func TestLengths(t *testing.T)     { runCases(t, lengthCases) }

var stringCases = []programCase{
	{Name: "empty string and key", Program: `return ["", {"": 1}, {"": ""}]`, Value: `["",{"":1},{"":""}]`},
	{
		Name:    "the fewest escapes",
		Program: `return "<>&'/\u2028\u2029\x7f\x80é漢😀\ufeff\uffff\"\\\b\t\n\f\r\x00\x1f"`,
		Value:   "\"<>&'/\u2028\u2029\x7f\u0080é漢😀\ufeff\uffff" + `\"\\\b\t\n\f\r\u0000\u001f"`,
	},
	{
		Name:    "a lone surrogate there and back",
		Program: `v = await tools.echo({"one": "p\udfffq"})` + "\n" + `assert v == {"one": "p\udfffq"}, ascii(v)` + "\nreturn v",
		Value:   `{"one":"p\udfffq"}`,
		Check: func(t *testing.T, result *Result) {
			units, err := result.Value.Get("one").UTF16()
			if err != nil || !slices.Equal(units, []uint16{'p', 0xdfff, 'q'}) {
				t.Errorf("code units %x, %v", units, err)
			}
			if text, err := result.Value.Get("one").Text(); err == nil {
				t.Errorf("a Go string holds a lone surrogate: %q", text)
			}
		},
	},
	{
		Name: "every kind of surrogate",
		Program: `rows = ["\ud800", "\udbff", "\udc00", "\udfff", "\ud800\ud800", "\udc00\ud800", "a\ud83dx\ude00b", "\ud83d", "\ud800" * 3 + "é", {"\udc80": "\ud8ff"}]
v = await tools.echo(rows)
assert v == rows, ascii(v)
return v`,
		Value: `["\ud800","\udbff","\udc00","\udfff","\ud800\ud800","\udc00\ud800","a\ud83dx\ude00b","\ud83d","\ud800\ud800\ud800é",{"\udc80":"\ud8ff"}]`,
	},
	{
		Name:    "a pair is its character",
		Program: `v = await tools.echo("\ud83d\ude00")` + "\n" + `assert v == "\U0001f600", ascii(v)` + "\nreturn [v, \"\\ud83d\\ude00\"]",
		Value:   `["😀","😀"]`,
	},
	{
		Name:    "backslashes before what looks like an escape",
		Program: `v = await tools.echo("\\ud800 \\\\n \\\" \\")` + "\nreturn v",
		Value:   `"\\ud800 \\\\n \\\" \\"`,
	},
	{
		Name:    "surrogates in logs",
		Program: `print("x\ud800y")` + "\n" + `print("\ud83d\ude00")` + "\n" + `print("\udfff", end="")`,
		Value:   "absent",
		Logs:    []string{"x\ufffdy", "\ufffd\ufffd", "\ufffd"},
	},
	{
		Name:    "a surrogate in an exception",
		Program: `raise Exception("bad \ud800 end")`,
		Kind:    Exception, Message: []string{"Exception: bad \ufffd end"}, Logs: []string{},
	},
	{
		Name:    "a surrogate in a rejected argument's place",
		Program: `return {"k\ud800": {1}}`,
		Kind:    InvalidOutput, Message: []string{"is a set"},
	},
	{
		Name:    "a forged end that is not UTF-8",
		Program: "import os\nos.write(3, b'{\"type\":\"done\",\"value\":\"\\xff\"}\\n')\nos.write(3, b'{\"type\":\"done\",\"value\":\"\\xed\\xa0\\x80\"}\\n')\nreturn \"real\"",
		Value:   `"real"`,
		Check: func(t *testing.T, result *Result) {
			if result.Stats.DroppedFrames != 2 {
				t.Errorf("%d frames dropped, want 2", result.Stats.DroppedFrames)
			}
		},
	},
	{
		Name: "what Go gives that is not UTF-8",
		Program: `for name in ("text", "bound", "key", "raw"):
    try:
        v = await bad[name]()
    except RuntimeError as error:
        assert "UTF-8" in str(error), error
    else:
        raise AssertionError([name, v])
try:
    await bad.error()
except RuntimeError as error:
    return str(error)`,
		Namespaces: badTextNamespaces(),
		Value:      "\"bad \ufffd text\"",
	},
	{
		Name:    "a native line as it is",
		Program: "import os\nos.write(1, \"\\t\\\"\\\\\\x01é\\n\".encode())",
		Logs:    []string{"\t\"\\\x01é"},
		Check: func(t *testing.T, result *Result) {
			// Three escapes of 2 bytes, one of 6, é with 2; quotes and comma.
			if want := int64(3*2 + 6 + 2 + 3); result.Stats.LogBytes != want {
				t.Errorf("the line costs %d bytes, want %d", result.Stats.LogBytes, want)
			}
		},
	},
}

// controlCases carry every C0 control both ways, as text and as key.
func controlCases() []programCase {
	short := map[rune]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
	var want []string
	for r := rune(0); r < 0x20; r++ {
		escape, ok := short[r]
		if !ok {
			escape = fmt.Sprintf(`\u%04x`, r)
		}
		want = append(want, fmt.Sprintf(`{"%s":"a%sb"}`, escape, escape))
	}
	return []programCase{{
		Name:    "every control",
		Program: "rows = [{chr(i): f\"a{chr(i)}b\"} for i in range(32)]\nv = await tools.echo(rows)\nassert v == rows\nreturn v",
		Value:   "[" + strings.Join(want, ",") + "]",
	}}
}

func badTextNamespaces() []Namespace {
	give := func(v any) Func {
		return func(context.Context, lossless.Value) (lossless.Value, error) { return lossless.Of(v) }
	}
	return []Namespace{{Global: "bad", Funcs: Funcs{
		"text":  give("a\xffb"),
		"bound": Bind(func(context.Context, struct{}) ([]string, error) { return []string{"ok", "\xed\xa0\x80"}, nil }),
		"key":   give(map[string]int{"\xc3": 1}),
		"raw":   give(json.RawMessage("\"\xff\"")),
		"error": func(context.Context, lossless.Value) (lossless.Value, error) {
			return lossless.Value{}, fmt.Errorf("bad \xff text")
		},
	}}}
}

// sized returns two cases: a value that takes just its budget, and the same with
// one byte less.
func sized(name, program, value string) []programCase {
	size := int64(len(value))
	return []programCase{
		{Name: name + " fits", Program: program, Limits: Limits{ValueBytes: size}, Value: value},
		{
			Name: name + " is one over", Program: program, Limits: Limits{ValueBytes: size - 1},
			Kind: OutputLimit, Message: []string{fmt.Sprintf("%d bytes", size-1)}, Value: "absent",
		},
	}
}

var stringSizeCases = slices.Concat(
	sized("é", `return "é"`, `"é"`),
	[]programCase{{Name: "éx in four", Limits: Limits{ValueBytes: 4}, Program: `return "éx"`, Kind: OutputLimit, Message: []string{"5 bytes"}}},
	sized("nul, 8", `return "\0"`, `"\u0000"`),
	sized("another control, 8", `return "\x1b"`, `"\u001b"`),
	sized("short escapes, 4 each", `return ["\b", "\t", "\n", "\f", "\r", "\"", "\\"]`, `["\b","\t","\n","\f","\r","\"","\\"]`),
	sized("DEL, 3", `return "\x7f"`, "\"\x7f\""),
	sized("CJK, 5, emoji, 6", `return ["漢", "😀", "\ud83d\ude00"]`, `["漢","😀","😀"]`),
	sized("what Marshal escapes, 3 and 5", `return ["<", ">", "&", "\u2028", "\u2029"]`, "[\"<\",\">\",\"&\",\"\u2028\",\"\u2029\"]"),
	sized("a lone surrogate, 8", `return "\ud800"`, `"\ud800"`),
	sized("a key", `return {"é\0": ""}`, `{"é\u0000":""}`),
	[]programCase{
		{Name: "200 NULs", Limits: Limits{ValueBytes: 1024}, Program: `return "\0" * 200`, Kind: OutputLimit, Message: []string{"1202 bytes", "1024"}},
		{Name: "a key of 200 NULs", Limits: Limits{ValueBytes: 1024}, Program: `return {"\0" * 200: 1}`, Kind: OutputLimit},
		{Name: "a string with one byte left", Limits: Limits{ValueBytes: 5}, Program: `return [1, ""]`, Kind: OutputLimit},
		{Name: "a string with two bytes left", Limits: Limits{ValueBytes: 6}, Program: `return [1, ""]`, Value: `[1,""]`},
		{
			Name:    "metered without an escaped copy",
			Limits:  Limits{ValueBytes: 16 << 20, Memory: 64 << 20},
			Program: `return "\0" * 8_000_000`,
			Kind:    OutputLimit,
		},
		{
			Name:    "100 MiB by its length",
			Limits:  Limits{ValueBytes: 1024, Memory: 384 << 20},
			Program: `return "x" * (100 << 20)`,
			Kind:    OutputLimit, Message: []string{"104857602 bytes", "1024"},
		},
		{
			Name:    "40 MiB of NULs within a list",
			Limits:  Limits{ValueBytes: 1024, Memory: 384 << 20},
			Program: `return [{"a": "\0" * (40 << 20)}]`,
			Kind:    OutputLimit,
		},
	},
)

// sourceCases are programs whose text is out of the ordinary.
var sourceCases = []programCase{
	{Name: "CJK names and emoji", Program: "変数 = \"😀\"\ndef 関数(x): return x + 変数\nreturn 関数(\"é\")", Value: `"é😀"`},
	{Name: "names that Python normalises", Program: "ﬁ = 1\nreturn fi", Value: "1"},
	{
		Name:    "a NUL in the source",
		Program: "x = 1\ny = \"a\x00b\"\nreturn 1",
		Kind:    Exception, Message: []string{"SyntaxError", "line 2", "null byte"}, Value: "absent",
	},
	{Name: "CRLF", Program: "x = 1\r\nif x:\r\n    y = '''a\r\nb'''\r\nreturn [x, y]\r\n", Value: `[1,"a\nb"]`},
	{Name: "CR", Program: "x = 1\ry = 2\rreturn x + y\r", Value: "3"},
	{Name: "tabs", Program: "if 1:\n\tif 1:\n\t\tx = \"\t\"\nreturn x", Value: `"\t"`},
	{Name: "tabs and spaces at odds", Program: "if 1:\n\tx = 1\n        y = 2\nreturn 1", Kind: Exception, Message: []string{"TabError", "line 3"}},
	{Name: "a form feed", Program: "x = 1\n\x0c\nreturn x", Value: "1"},
	{Name: "a byte order mark", Program: "\ufeffreturn 1", Value: "1"},
	{Name: "a byte order mark and an error", Program: "\ufeffx = 1\nreturn (", Kind: Exception, Message: []string{"SyntaxError", "line 2"}},
	{Name: "a coding cookie", Program: "# -*- coding: latin-1 -*-\nreturn \"é\"", Value: `"é"`},
	{Name: "a cookie of no codec", Program: "# coding: klingon\nreturn \"é\"", Value: `"é"`},
	{Name: "no final newline", Program: "return 1  # end", Value: "1"},
	{Name: "a final backslash", Program: "x = 1\\", Kind: Exception, Message: []string{"SyntaxError"}},
	{Name: "a line of a MiB", Program: "x = \"" + strings.Repeat("é", 1<<19) + "\"\nreturn len(x)", Value: "524288"},
	{Name: "a MiB of lines", Program: strings.Repeat("# 3456789abcdef\n", 1<<16) + "return 1", Value: "1"},
}

// The sizes at which buffers, pipes and words have their ends.
var lengthCases = []programCase{
	{
		Name:   "both ways",
		Limits: Limits{ValueBytes: 6_000_000},
		Program: `for n in (0, 1, 4095, 4096, 65535, 65536, 65537, 1_000_000, 5_000_000):
    for text in ("x" * n, "é" * n, "\0" * n) if n < 100_000 else ("x" * n,):
        v = await tools.echo(text)
        assert v == text, n
        assert await tools.echo({"a": [text, 1]}) == {"a": [text, 1]}, n
return v`,
		Value: `"` + strings.Repeat("x", 5_000_000) + `"`,
	},
	{
		Name: "eight at once",
		Program: `import asyncio
texts = [chr(97 + i) * 1_000_000 for i in range(8)]
back = await asyncio.gather(*[tools.echo({"text": text}) for text in texts])
assert [b["text"] for b in back] == texts
return [len(b["text"]) for b in back]`,
		Value: "[1000000,1000000,1000000,1000000,1000000,1000000,1000000,1000000]",
	},
	{
		Name:    "an argument fifty times the value's budget",
		Limits:  Limits{ValueBytes: 1000},
		Program: "v = await tools.echo([\"x\" * 50_000])\nreturn len(v[0])",
		Value:   "50000",
	},
	{
		Name:       "a reply over the frame limit is that call's error",
		Limits:     Limits{FrameBytes: 64 << 10, ValueBytes: 1000, LogBytes: 1000},
		Program:    bigReplyProgram,
		Namespaces: bigReplyNamespaces(),
		Value:      fmt.Sprintf(`[1,%d,"refused","refused",7]`, bigReply),
	},
	{
		Name:    "a reply that the memory can't hold is that call's error",
		Limits:  Limits{Memory: 64 << 20, FrameBytes: 128 << 20},
		Program: memoryProgram, Namespaces: bigReplyNamespaces(), Value: "5", Logs: []string{"refused"},
	},
	{
		Name:    "the same in an event loop",
		Limits:  Limits{Memory: 64 << 20, FrameBytes: 128 << 20},
		Program: "import asyncio\nawait asyncio.sleep(0)\n" + memoryProgram, Namespaces: bigReplyNamespaces(), Value: "5", Logs: []string{"refused"},
	},
	{
		Name:   "an argument that the memory can't hold twice",
		Limits: Limits{Memory: 128 << 20, FrameBytes: 256 << 20},
		Program: `text = "x" * 50_000_000
try:
    await tools.echo(text)
except MemoryError:
    print("refused")
return await tools.echo("and on")`,
		Value: `"and on"`, Logs: []string{"refused"},
	},
	{
		Name:    "an argument over the frame limit",
		Limits:  Limits{FrameBytes: 64 << 10, ValueBytes: 1000, LogBytes: 1000},
		Program: "print(\"before\")\nawait tools.echo(\"x\" * 100_000)",
		Kind:    WorkerExit, Message: []string{"frame limit of 65536"}, Logs: []string{"before"},
	},
}

// bigReply is the longest text that a reply to an id of one digit holds within 64 KiB.
var bigReply = 64<<10 - (len(wire.Append(nil, &wire.ReplyValue{ID: 1, Value: lossless.Null})) - 1 - len("null")) - 2

var bigReplyProgram = fmt.Sprintf(`async def ask(n):
    try:
        return len(await big.text(n))
    except RuntimeError as error:
        assert "frame limit of 65536" in str(error), error
        return "refused"
return [await ask(n) for n in (1, %d, %d, 1_000_000, 7)]`, bigReply, bigReply+1)

const memoryProgram = `try:
    await big.text(60_000_000)
except RuntimeError as error:
    assert "does not fit in the program's memory" in str(error), error
    print("refused")
return len(await big.text(5))`

func bigReplyNamespaces() []Namespace {
	return []Namespace{{Global: "big", Funcs: Funcs{
		"text": Bind(func(_ context.Context, n int) (string, error) { return strings.Repeat("x", n), nil }),
	}}}
}

// TestBindingSeesText looks at what a function gets, code unit by code unit.
func TestBindingSeesText(t *testing.T) {
	var seen recorder
	rt := newRuntime(t, Config{})
	result, err := rt.Run(t.Context(), Request{
		Program:    `return await r.take({"one": "p\udfffq", "\ud800": "\ud83d\ude00<\0>"})`,
		Namespaces: []Namespace{{Global: "r", Funcs: Funcs{"take": seen.call}}},
	})
	if err != nil || result.Err() != nil {
		t.Fatal(err, result.Err())
	}
	want := `{"one":"p\udfffq","\ud800":"😀<\u0000>"}`
	if got := seen.seen(); !slices.Equal(got, []string{want}) {
		t.Errorf("the function got %s, want %s", got, want)
	}
}
