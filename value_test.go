package thirdrail

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestValues(t *testing.T)        { runCases(t, valueCases) }
func TestValueSizes(t *testing.T)    { runCases(t, valueSizeCases) }
func TestRefusedShapes(t *testing.T) { runCases(t, refusedShapeCases) }

var valueCases = []programCase{
	{
		Name:    "plain",
		Program: "a = 6\nreturn {\"v\": a * 7, \"l\": [None, True]}",
		Value:   `{"v":42,"l":[null,true]}`,
		Logs:    []string{},
	},
	{Name: "null", Program: "return None", Value: "null"},
	{Name: "bare return", Program: "return", Value: "null"},
	{Name: "return in one branch", Program: "if 0:\n    return 1", Value: "absent"},
	{Name: "no return", Program: "x = 1", Value: "absent"},
	{Name: "empty", Program: "", Value: "absent", Logs: []string{}},
	{Name: "only space", Program: " \n\t\n\n", Value: "absent"},
	{Name: "only comments", Program: "# one\n# two", Value: "absent"},
	{Name: "only a docstring", Program: `"""Nothing else."""`, Value: "absent"},
	{Name: "an expression is no value", Program: "1 + 1", Value: "absent"},
	{Name: "body of an async function", Program: "import asyncio\nawait asyncio.sleep(0)\nreturn 1", Value: "1"},
	{Name: "await and no return", Program: "import asyncio\nawait asyncio.sleep(0)", Value: "absent"},
	{Name: "await and return None", Program: "await tools.null()\nreturn None", Value: "null"},
	{Name: "early", Program: "if 1:\n    return \"early\"\nreturn \"late\"", Value: `"early"`},
	{Name: "late", Program: "if 0:\n    return \"early\"\nreturn \"late\"", Value: `"late"`},
	{
		Name:    "return in try, finally runs",
		Program: "try:\n    return 1\nfinally:\n    print(\"done\")",
		Value:   "1",
		Logs:    []string{"done"},
	},
	{Name: "return in loop and with", Program: "import io\nfor i in range(9):\n    with io.StringIO():\n        if i == 3:\n            return i", Value: "3"},
	{Name: "every bool", Program: "return [True, False, 1 == 1, not 1]", Value: "[true,false,true,false]"},
	{Name: "empty containers", Program: "return [[], {}, \"\", [[]], {\"\": {}}]", Value: `[[],{},"",[[]],{"":{}}]`},
	{
		Name:    "members in their order",
		Program: "d = {\"b\": 1, \"a\": 2}\nd[\"c\"] = 3\ndel d[\"b\"]\nd[\"b\"] = 4\nreturn d",
		Value:   `{"a":2,"c":3,"b":4}`,
	},
	{
		Name:    "shared is not cyclic",
		Program: "s = [1]\nreturn [s, s, {\"k\": s}]",
		Value:   `[[1],[1],{"k":[1]}]`,
	},
	{
		Name:    "shared at many depths",
		Program: "s = {\"x\": []}\nreturn [s, [s, [s, [s[\"x\"], s]]], s]",
		Value:   `[{"x":[]},[{"x":[]},[{"x":[]},[[],{"x":[]}]]],{"x":[]}]`,
	},
	{
		Name: "annotations are not strings by themselves",
		Program: "def f(n: int): ...\n" +
			"return f.__annotations__[\"n\"].__name__",
		Value: `"int"`,
	},
	{
		Name: "the program's own future import",
		Program: "# a comment\n\"\"\"A docstring.\"\"\"\n# another\n\nfrom __future__ import annotations\n" +
			"def f(n: Unknown): ...\n" +
			"return [f.__annotations__[\"n\"], __doc__]",
		Value: `["Unknown","A docstring."]`,
	},
	{
		Name:    "a forged end with value and error",
		Program: "import os\nos.write(3, b'{\"type\":\"done\",\"value\":1,\"error\":{\"kind\":\"exception\",\"message\":\"forged\"}}\\n')\nreturn 2",
		Kind:    Exception,
		Message: []string{"forged"},
		Value:   "absent",
	},
	{
		Name:    "what a variable holds is no matter",
		Program: "import threading, sys\nlock = threading.Lock()\nfile = open(\"out.txt\", \"w\")\nloop = []\nloop.append(loop)\nnan = float(\"nan\")\nreturn \"fine\"",
		Value:   `"fine"`,
		Logs:    []string{},
	},
	{
		Name: "text is never parsed nor encoded again",
		Program: `texts = ["123", "null", "", "{\"a\":1}", "true", "\"quoted\"", "[1,2", "NaN", " 1 ", "-0", "1e5"]
back = [await tools.echo(text) for text in texts]
assert back == texts, back
return back`,
		Value: `["123","null","","{\"a\":1}","true","\"quoted\"","[1,2","NaN"," 1 ","-0","1e5"]`,
	},
	{
		Name:    "one text alone is no document",
		Program: "return await tools.echo(\"{\\\"a\\\":1}\")",
		Value:   `"{\"a\":1}"`,
	},
	{
		Name: "arguments are data",
		Program: `rows = {
    "quotes": "'\"'''\"\"\"", "format": "{x} {0} {{}} %s %(x)s $x ${x}", "code": "__import__('os')._exit(9)",
    "separators": "a\u2028b\u2029c\x85d\r\ne", "backslash": "\\n\\u0041\\", "class": 1, "from": 2, "None": 3,
    "": 4, "a b": 5, "__proto__": 6, "</script>": "<!--&", "nul": "\0",
}
assert await tools.echo(rows) == rows
assert await tools.echo(**{"class": 1, "from": 2, "a b": 3, "": 4}) == {"class": 1, "from": 2, "a b": 3, "": 4}
return rows`,
		Value: `{"quotes":"'\"'''\"\"\"","format":"{x} {0} {{}} %s %(x)s $x ${x}","code":"__import__('os')._exit(9)",` +
			"\"separators\":\"a\u2028b\u2029c\u0085d\\r\\ne\"," +
			`"backslash":"\\n\\u0041\\","class":1,"from":2,"None":3,"":4,"a b":5,"__proto__":6,"</script>":"<!--&","nul":"\u0000"}`,
		Logs: []string{},
	},
	{
		Name:    "data is a value like any other",
		Data:    `{"n":1.0,"t":"{x}","l":[null,true,10000000000000000000000]}`,
		Program: "return [data, type(data[\"n\"]).__name__, data[\"l\"][2] == 10**22]",
		Value:   `[{"n":1.0,"t":"{x}","l":[null,true,10000000000000000000000]},"float",true]`,
	},
}

var valueSizeCases = []programCase{
	{
		Name:    "over",
		Limits:  Limits{ValueBytes: 32768},
		Program: `return "z" * 40000`,
		Kind:    OutputLimit,
		Message: []string{"size limit", "40002 bytes", "32768"},
		Value:   "absent",
	},
	{
		Name:    "quotes count, fits",
		Limits:  Limits{ValueBytes: 32768},
		Program: `return "a" * 32766`,
		Value:   `"` + strings.Repeat("a", 32766) + `"`,
	},
	{
		Name:    "quotes count, over",
		Limits:  Limits{ValueBytes: 32768},
		Program: `return "a" * 32767`,
		Kind:    OutputLimit,
		Message: []string{"32769 bytes", "32768"},
	},
	{Name: "no spaces, fits", Limits: Limits{ValueBytes: 12}, Program: `return [1, "x", None]`, Value: `[1,"x",null]`},
	{Name: "no spaces, over", Limits: Limits{ValueBytes: 11}, Program: `return [1, "x", None]`, Kind: OutputLimit, Message: []string{"12 bytes", "11"}},
	{Name: "object, fits", Limits: Limits{ValueBytes: 12}, Program: `return {"a": [True]}`, Value: `{"a":[true]}`},
	{Name: "object, over", Limits: Limits{ValueBytes: 11}, Program: `return {"a": [True]}`, Kind: OutputLimit, Message: []string{"11"}},
	{Name: "null is four bytes", Limits: Limits{ValueBytes: 3}, Program: "return None", Kind: OutputLimit, Message: []string{"4 bytes", "3"}},
	{Name: "null fits four", Limits: Limits{ValueBytes: 4}, Program: "return None", Value: "null"},
	{Name: "absent has no size", Limits: Limits{ValueBytes: 1}, Program: "x = 1", Value: "absent"},
	{Name: "one digit", Limits: Limits{ValueBytes: 1}, Program: "return 7", Value: "7"},
	{Name: "two digits in one byte", Limits: Limits{ValueBytes: 1}, Program: "return 10", Kind: OutputLimit},
	{Name: "a sign in one byte", Limits: Limits{ValueBytes: 1}, Program: "return -1", Kind: OutputLimit},
	{
		Name:    "over budget before not lossless",
		Limits:  Limits{ValueBytes: 100},
		Program: `return [float("nan"), {1, 2}, "z" * 200]`,
		Kind:    OutputLimit,
	},
	{
		Name:    "not lossless and within budget",
		Limits:  Limits{ValueBytes: 100},
		Program: `return ["z" * 20, {1, 2}]`,
		Kind:    InvalidOutput,
	},
	{
		Name:    "a long list is over by its structure",
		Limits:  Limits{ValueBytes: 64, Memory: 256 << 20},
		Program: "return [0] * 3_000_000",
		Kind:    OutputLimit,
		Message: []string{"at least", "the limit is 64 bytes"},
	},
	{
		Name:    "a long list within a list",
		Limits:  Limits{ValueBytes: 64, Memory: 256 << 20},
		Program: "return [[[0] * 3_000_000]]",
		Kind:    OutputLimit,
	},
	{
		Name:    "a long dict is over by its structure",
		Limits:  Limits{ValueBytes: 64, Memory: 256 << 20},
		Program: "return dict.fromkeys(map(str, range(1_000_000)))",
		Kind:    OutputLimit,
	},
	{
		Name:    "five million elements",
		Limits:  Limits{ValueBytes: 20 << 20, Memory: 384 << 20},
		Program: "return [0] * 5_000_000",
		Value:   "[" + strings.Repeat("0,", 5_000_000-1) + "0]",
	},
}

var refusedShapeCases = []programCase{
	{
		Name:    "several values",
		Program: "return 1, 2",
		Kind:    InvalidOutput,
		Message: []string{"result is a tuple", "lossless JSON", "return list(x)"},
		Value:   "absent",
	},
	{
		Name:    "a set is not shown instead",
		Program: "return {3, 4}",
		Kind:    InvalidOutput, Message: []string{"result is a set", "lossless JSON"}, NotMessage: []string{"{3, 4}"},
	},
	{
		Name:    "a forgotten await",
		Program: "return tools.echo(1)",
		Kind:    InvalidOutput, Message: []string{"result is a coroutine", "write `await`"}, Logs: []string{},
	},
	{
		Name:    "a forgotten await within",
		Program: "return {\"rows\": [await tools.echo(1), tools.echo(2)]}",
		Kind:    InvalidOutput, Message: []string{`result["rows"][1] is a coroutine`, "write `await`"}, Logs: []string{},
	},
	{
		Name:    "merging keys",
		Program: `return {1: "a", "1": "b"}`,
		Kind:    InvalidOutput, Message: []string{"result has a non-string dict key (int) 1", "{str(k): v"},
	},
	{
		Name:    "the key's place",
		Program: `return {"rows": [{}, {"a": {None: 1}}]}`,
		Kind:    InvalidOutput, Message: []string{`result["rows"][1]["a"] has a non-string dict key (NoneType) None`},
	},
	{
		Name:    "keys that merge as text",
		Program: `return {"\ud83d\ude00": 1, "\U0001f600": 2}`,
		Kind:    InvalidOutput, Message: []string{"two dict keys that are the same", "😀"},
	},
	{
		Name:    "a list in itself",
		Program: "x = []\nx.append(x)\nreturn x",
		Kind:    InvalidOutput, Message: []string{"result[0] is a circular reference"},
	},
	{
		Name:    "a loop of several",
		Program: "x = [1]\nd = {\"up\": x}\nx.append([d])\nreturn {\"top\": x}",
		Kind:    InvalidOutput, Message: []string{`result["top"][1][0]["up"] is a circular reference`},
	},
	{
		Name: "a loop under a large budget, at once",
		// One that is found by its size alone would need the whole budget.
		Limits:  Limits{ValueBytes: 60 << 20},
		Program: "x = [0]\nfor i in range(3000):\n    x = [x]\ny = x\nwhile type(y[0]) is list:\n    y = y[0]\ny[0] = x\nreturn x",
		Kind:    InvalidOutput, Message: []string{"circular reference"},
	},
	{
		Name:    "a huge class name",
		Limits:  Limits{Memory: 1 << 30},
		Program: "return type(\"Q\" * 70_000_000, (), {})()",
		Kind:    InvalidOutput, Message: []string{"result is a QQQQ", "lossless JSON"},
		Check: func(t *testing.T, result *Result) {
			if n := len(result.Failure.Message); n > 1000 {
				t.Errorf("message of %d bytes", n)
			}
		},
	},
	{
		Name: "the object has no say",
		Program: `class Meta(type):
    @property
    def __name__(cls): raise SystemExit(3)
    def __instancecheck__(cls, x): raise SystemExit(4)
class Odd(metaclass=Meta):
    def __repr__(self): raise SystemExit(5)
    def __getattribute__(self, name): raise SystemExit(6)
    __class__ = dict
return [Odd()]`,
		Kind: InvalidOutput, Message: []string{"result[0] is an Odd"},
	},
}

// refused are values that JSON can't carry, what they are called and what to
// write instead.
var refused = []struct{ setup, value, found, instead string }{
	{"", `(1,)`, "is a tuple", "list(x)"},
	{"", `()`, "is a tuple", "list(x)"},
	{"", `{3, 4}`, "is a set", "sorted(x) or list(x)"},
	{"", `frozenset()`, "is a frozenset", "sorted(x) or list(x)"},
	{"", `b"raw"`, "is a bytes", ".decode() or .hex()"},
	{"", `bytearray(2)`, "is a bytearray", ".decode() or .hex()"},
	{"", `memoryview(b"x")`, "is a memoryview", ".tolist() or .hex()"},
	{"", `1j`, "is a complex", "[x.real, x.imag]"},
	{"", `range(3)`, "is a range", "list(x)"},
	{"", `(i for i in [])`, "is a generator", "list(x)"},
	{"", `map(str, [])`, "is a map", "list(x)"},
	{"", `zip()`, "is a zip", "[list(item) for item in x]"},
	{"", `{}.keys()`, "is a dict_keys", "list(x)"},
	{"", `{}.items()`, "is a dict_items", "dict(x)"},
	{"", `...`, "is an ellipsis", "None"},
	{"", `ValueError("v")`, "is a ValueError", "str(x) or repr(x)"},
	{"", `object()`, "is an object", "a dict of the values"},
	{"def f(): pass", `f`, "is a function", "what it gives: call it with ()"},
	{"", `print`, "is a builtin_function_or_method", "what it gives: call it with ()"},
	{"", `"".join`, "is a builtin_function_or_method", "what it gives: call it with ()"},
	{"class C:\n    def m(self): pass", `C().m`, "is a method", "what it gives: call it with ()"},
	{"class C: pass", `C`, "is a type", ".__name__"},
	{"class C: pass", `C()`, "is a C", "a dict of the values"},
	{"import sys", `sys`, "is a module", "a dict of the values"},
	{"import threading", `threading.Lock()`, "is a _thread.lock", "a dict of the values"},
	{"", `open("f.txt", "w")`, "is a _io.TextIOWrapper", "a dict of the values"},
	{"import datetime", `datetime.datetime(2020, 1, 1)`, "is a datetime.datetime", ".isoformat()"},
	{"import datetime", `datetime.date(2020, 1, 1)`, "is a datetime.date", ".isoformat()"},
	{"import datetime", `datetime.timedelta(1)`, "is a datetime.timedelta", ".total_seconds()"},
	{"import decimal", `decimal.Decimal("1.1")`, "is a decimal.Decimal", "str(x) or float(x)"},
	{"import fractions", `fractions.Fraction(1, 3)`, "is a fractions.Fraction", "str(x) or float(x)"},
	{"import enum\nclass E(enum.Enum):\n    A = 1", `E.A`, "is an E", ".value or .name"},
	{"import enum\nclass E(enum.IntEnum):\n    A = 1", `E.A`, "is an E, a subclass of int", "int(x)"},
	{"import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int", `P(1)`, "is a P", "dataclasses.asdict(x)"},
	{"import collections\nN = collections.namedtuple(\"N\", \"a b\")", `N(1, 2)`, "is a N", "._asdict() or list(x)"},
	{"import collections", `collections.deque()`, "is a collections.deque", "list(x)"},
	{"import uuid", `uuid.UUID(int=1)`, "is a uuid.UUID", "str(x)"},
	{"import pathlib", `pathlib.Path("x")`, "is a pathlib.", "str(x)"},
	{"import re", `re.match("a", "a")`, "is a re.Match", ".group() or .groupdict()"},
	{"import collections", `collections.OrderedDict()`, "is a collections.OrderedDict, a subclass of dict", "dict(x)"},
	{"import collections", `collections.defaultdict(int)`, "is a collections.defaultdict, a subclass of dict", "dict(x)"},
	{"import collections", `collections.Counter("aa")`, "is a collections.Counter, a subclass of dict", "dict(x)"},
	{"class D(dict): pass", `D(a=1)`, "is a D, a subclass of dict", "dict(x)"},
	{"class L(list): pass", `L([1])`, "is a L, a subclass of list", "list(x)"},
	{"class S(str): pass", `S("s")`, "is a S, a subclass of str", "str(x)"},
	{"class I(int): pass", `I(1)`, "is an I, a subclass of int", "int(x)"},
	{"class F(float): pass", `F(1)`, "is a F, a subclass of float", "float(x)"},
	{"", `{7: "a"}`, "has a non-string dict key (int) 7", "{str(k): v"},
	{"", `{None: 1}`, "has a non-string dict key (NoneType) None", "{str(k): v"},
	{"", `{True: 1}`, "has a non-string dict key (bool) True", "{str(k): v"},
	{"", `{1.5: 1}`, "has a non-string dict key (float) 1.5", "{str(k): v"},
	{"", `{(1, 2): 0}`, "has a non-string dict key (tuple)", "{str(k): v"},
	{"", `{b"k": 0}`, "has a non-string dict key (bytes)", "{str(k): v"},
	{"", `{"a": 1, "b": 2, 10**400: 3}`, "has a non-string dict key (int)", "{str(k): v"},
	{"class Name(str): pass", `{Name("k"): 0}`, "has a non-string dict key (Name)", "{str(k): v"},
	{"", `float("nan")`, "is nan, a non-finite float", "None or a string"},
	{"", `float("-inf")`, "is -inf, a non-finite float", "None or a string"},
	// The packages need not be installed: a type is told by what it says of itself.
	{"generic = type(\"generic\", (), {\"__module__\": \"numpy\"})", `type("float32", (generic,), {"__module__": "numpy"})()`, "is a numpy.float32", ".item()"},
	{"generic = type(\"generic\", (), {\"__module__\": \"numpy\"})", `type("float64", (generic, float), {"__module__": "numpy"})(2)`, "is a numpy.float64, a subclass of float", ".item()"},
	{"", `type("ndarray", (), {"__module__": "numpy"})()`, "is a numpy.ndarray", ".tolist()"},
	{"", `type("DataFrame", (), {"__module__": "pandas.core.frame"})()`, "is a pandas.core.frame.DataFrame", `.to_dict("records")`},
	{"", `type("Timestamp", (__import__("datetime").datetime,), {"__module__": "pandas._libs.tslibs.timestamps"})(2020, 1, 1)`,
		"is a pandas._libs.tslibs.timestamps.Timestamp", ".isoformat()"},
	{"", `type("NaTType", (), {"__module__": "pandas._libs.tslibs.nattype"})()`, "is a pandas._libs.tslibs.nattype.NaTType", "None"},
}

// TestRefusedValues returns some of the refused values from within a result. All
// of them are passed by TestRefusedArguments, which needs no run for each.
func TestRefusedValues(t *testing.T) {
	const every = 4
	var cases []programCase
	for i, r := range refused {
		if i%every != 0 {
			continue
		}
		cases = append(cases, programCase{
			Name:    r.value,
			Program: r.setup + "\nreturn {\"rows\": [0, {\"when\": " + r.value + "}]}",
			Kind:    InvalidOutput,
			Message: []string{`result["rows"][1]["when"] ` + r.found, "lossless JSON", "; return " + r.instead},
			Value:   "absent",
			Logs:    []string{},
		})
	}
	runCases(t, cases)
}

// TestRefusedArguments passes each of them to a function: the call rejects, the
// function isn't called, and the program goes on.
func TestRefusedArguments(t *testing.T) {
	var program strings.Builder
	for _, r := range refused {
		fmt.Fprintf(&program, `%s
try:
    await db.page([{"v": %s}])
except DBError as error:
    text = str(error)
    assert text.startswith('db.page argument[0]["v"] ' + %q), text
    assert "lossless JSON; pass " + %q in text, text
    assert error.operation == "page"
else:
    raise AssertionError(%q)
`, r.setup, r.value, r.found, r.instead, r.value)
	}
	program.WriteString("return \"all\"")
	runCases(t, []programCase{{
		Name:    "all",
		Program: program.String(),
		Value:   `"all"`,
		Check: func(t *testing.T, result *Result) {
			if result.Stats.Calls != 0 {
				t.Errorf("%d calls reached a function", result.Stats.Calls)
			}
		},
	}})
}

// TestAbsentAndNull tells the two apart as a caller of the package does.
func TestAbsentAndNull(t *testing.T) {
	rt := newRuntime(t, Config{})
	var into any = "untouched"
	absent := run1(t, rt, "pass", Limits{})
	if err := absent.Decode(&into); !errors.Is(err, ErrNoValue) || into != "untouched" {
		t.Errorf("absent decodes as %v, %v", into, err)
	}
	if absent.Value.Exists() || absent.Err() != nil {
		t.Errorf("absent: %q, %v", absent.Value, absent.Err())
	}
	null := run1(t, rt, "return None", Limits{})
	if err := null.Decode(&into); err != nil || into != nil {
		t.Errorf("null decodes as %v, %v", into, err)
	}
	if !null.Value.Exists() {
		t.Error("null is absent")
	}
	failed := run1(t, rt, "return {1}", Limits{})
	var failure *Failure
	if err := failed.Decode(&into); !errors.As(err, &failure) || failure.Kind != InvalidOutput {
		t.Errorf("a failed run decodes with %v", err)
	}
}
