package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

func echo(_ context.Context, args lossless.Value) (lossless.Value, error) { return args, nil }

// badGlobals are names that neither a namespace nor an error class may have, and
// a part of the reason.
var badGlobals = []struct {
	why   string
	names []string
}{
	{"not a usable Python identifier", []string{
		"9lives", "a-b", "", "$t", "a$b", "café", " a", "a ", "a\n", "\na", "a.b", "x y", "_é", "ſ", "\xff", "a\x00", "名", "+", "a[0]",
	}},
	{"is a reserved word", []string{
		"lambda", "nonlocal", "None", "True", "False", "def", "class", "async", "await", "global", "del", "pass", "raise",
		"typeof", "function", "let", "eval", "arguments", "var", "const", "new", "null", "this", "void", "enum", "true", "false", "export",
		"implements", "package", "static", "delete", "debugger", "instanceof", "interface", "throw", "default", "switch",
		"match", "case", "type", "_",
	}},
	{"belongs to the runtime", []string{
		"console", "__thirdrail__", "__builtins__", "__name__", "__debug__",
		"__file__", "__doc__", "__loader__", "__spec__", "__package__", "__annotations__",
	}},
}

// goodGlobals look bad, and are not.
var goodGlobals = []string{
	"tools", "of", "undefined", "Lambda", "none", "NULL", "__x", "x__", "__", "___", "_a", "a1", "self", "get", "set", "Console", "consoles",
	"ToolCallError", "_1", strings.Repeat("x", 1000),
}

// badMembers are attributes that exceptions have a use for.
var badMembers = []struct {
	why   string
	names []string
}{
	{"is not a usable name", []string{"", "\xff", "a\xed\xa0\x80"}},
	{"is a reserved error member", []string{
		"args", "name", "message", "stack", "with_traceback", "add_note",
		"__cause__", "__dict__", "__class__", "__context__", "__suppress_context__", "__traceback__", "__notes__", "__init__", "__x__", "_____",
	}},
}

// goodMembers are odd. A program reads them with getattr.
var goodMembers = []string{
	"toolName", "tool-name", "two words", "__", "____", "__x", "x__", "_", "9", "class", "é", "Args", "\x00", "\"", "__proto", "constructor",
}

// badNamespaces can't stand beside each other, or hold what can't be called.
var badNamespaces = []struct {
	name       string
	namespaces []Namespace
	hasData    bool
	why        string
}{
	{"the same global twice", []Namespace{{Global: "a"}, {Global: "b"}, {Global: "a"}}, false, `duplicate binding global "a"`},
	{"class named like its own global", []Namespace{{Global: "a", ErrorClass: &ErrorClass{"a", "m"}}}, false, `error class "a" collides with another injected global`},
	{"class named like a later global", []Namespace{{Global: "a", ErrorClass: &ErrorClass{"b", "m"}}, {Global: "b"}}, false, `error class "b" collides`},
	{"class named like an earlier global", []Namespace{{Global: "b"}, {Global: "a", ErrorClass: &ErrorClass{"b", "m"}}}, false, `error class "b" collides`},
	{"the same class twice", []Namespace{{Global: "a", ErrorClass: &ErrorClass{"E", "m"}}, {Global: "b", ErrorClass: &ErrorClass{"E", "m"}}}, false, `error class "E" collides`},
	{"a global beside data", []Namespace{{Global: "data"}}, true, `"data" stands beside Request.Data`},
	{"a class beside data", []Namespace{{Global: "a", ErrorClass: &ErrorClass{"data", "m"}}}, true, `error class "data" collides`},
	{"a class without a name", []Namespace{{Global: "a", ErrorClass: &ErrorClass{}}}, false, `error class "" is not a usable Python identifier`},
	{"a class without a member", []Namespace{{Global: "a", ErrorClass: &ErrorClass{Name: "E"}}}, false, `error member "" is not a usable name`},
	{"a nil function", []Namespace{{Global: "a", Funcs: Funcs{"f": nil}}}, false, `function a["f"] is nil`},
	{"a nil function, bound", []Namespace{{Global: "a", Funcs: Funcs{"f": Bind[int, int](nil)}}}, false, `function a["f"] is nil`},
	{"a function of no text", []Namespace{{Global: "a", Funcs: Funcs{"\xff": echo}}}, false, `function name "\xff" of a is not valid UTF-8`},
	{"no namespace at all", []Namespace{{}}, false, `namespace global "" is not a usable`},
}

// refuses checks that Run refuses namespaces as misuse. The context has ended, so
// that nothing can be started, and whatever came later would be an abort.
func refuses(t *testing.T, rt *Runtime, namespaces []Namespace, hasData bool, why string) {
	t.Helper()
	request := Request{Program: "return 1", Namespaces: namespaces}
	if hasData {
		request.Data = lossless.Null
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := rt.Run(ctx, request)
	if !errors.Is(err, ErrMisuse) || result != nil {
		t.Errorf("%+v: result %+v, error %v, want misuse", namespaces, result, err)
		return
	}
	if !strings.Contains(err.Error(), why) {
		t.Errorf("%q lacks %q", err, why)
	}
}

func TestBadNamespaces(t *testing.T) {
	rt := newRuntime(t, Config{})
	for _, bad := range badGlobals {
		for _, name := range bad.names {
			refuses(t, rt, []Namespace{{Global: name}}, false, bad.why)
			refuses(t, rt, []Namespace{{Global: "a", ErrorClass: &ErrorClass{name, "m"}}}, false, bad.why)
			refuses(t, rt, []Namespace{{Global: "a"}, {Global: name, Funcs: Funcs{"f": echo}}}, false, fmt.Sprintf("%q", name))
		}
	}
	for _, bad := range badMembers {
		for _, name := range bad.names {
			refuses(t, rt, []Namespace{{Global: "a", ErrorClass: &ErrorClass{"E", name}}}, false, bad.why)
		}
	}
	for _, bad := range badNamespaces {
		refuses(t, rt, bad.namespaces, bad.hasData, bad.why)
	}
}

// TestReservedWords holds the list of reserved words to Python's own.
func TestReservedWords(t *testing.T) {
	eachPython(t, Config{}, func(t *testing.T, rt *Runtime) {
		result := run1(t, rt, "import keyword\nreturn keyword.kwlist + list(getattr(keyword, 'softkwlist', []))", Limits{})
		var words []string
		if err := result.Decode(&words); err != nil {
			t.Fatal(err)
		}
		if len(words) < 35 {
			t.Errorf("only %d words", len(words))
		}
		for _, word := range words {
			if strings.HasPrefix(word, "__peg") { // 3.9's parser, not a word of the language
				continue
			}
			if !slices.Contains(reservedWords, word) {
				t.Errorf("%q is a reserved word of this Python, and not of ours", word)
			}
		}
	})
}

// TestGoodNames has a program use every name that is accepted, function names
// included, in one run.
func TestGoodNames(t *testing.T) {
	var namespaces []Namespace
	for i, global := range goodGlobals {
		namespaces = append(namespaces, Namespace{
			Global: global,
			Funcs:  Funcs{"f": echo, "x y": echo},
			ErrorClass: &ErrorClass{
				Name: fmt.Sprintf("E%d", i), MemberNameProperty: goodMembers[i%len(goodMembers)],
			},
		})
	}
	names, err := lossless.Of(goodGlobals)
	if err != nil {
		t.Fatal(err)
	}
	members, err := lossless.Of(goodMembers)
	if err != nil {
		t.Fatal(err)
	}
	request := Request{
		Namespaces: namespaces,
		Data:       parse(t, fmt.Sprintf(`{"names":%s,"members":%s}`, names, members)),
		Program: `
out = []
world = globals()
for i, name in enumerate(data["names"]):
    space, member = world[name], data["members"][i % len(data["members"])]
    try:
        await space["x y"]((1,))
    except world[f"E{i}"] as e:
        failed = getattr(e, member)
    fresh = world[f"E{i}"]("text")
    out.append([await space.f(name) == name, failed == "x y", getattr(fresh, member) is None, str(fresh) == "text"])
return [len(out), sum(map(sum, out))]`,
	}
	eachPython(t, Config{}, func(t *testing.T, rt *Runtime) {
		result, err := rt.Run(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		programCase{Value: fmt.Sprintf("[%d,%d]", len(goodGlobals), 4*len(goodGlobals)), Logs: []string{}}.compare(t, result)
	})
}

// shadowCases have globals that hide builtins.
var shadowCases = []programCase{
	{
		Name: "print", Namespaces: []Namespace{{Global: "print", Funcs: Funcs{"line": echo}}},
		Program: "import builtins\nbuiltins.print('hidden, not gone')\nreturn await print.line(1)", Value: "1", Logs: []string{"hidden, not gone"},
	},
	{
		Name: "ValueError", Namespaces: []Namespace{{Global: "a", Funcs: Funcs{"f": absent(func(context.Context) error { return errNope })}, ErrorClass: &ErrorClass{"ValueError", "where"}}},
		Program: `
import builtins
try:
    await a.f()
except ValueError as e:
    first = [e.where, isinstance(e, builtins.ValueError), str(e)]
try:
    int("x")
except ValueError:
    pass
except builtins.ValueError as e:
    return [first, type(e).__name__]`, Value: `[["f",false,"nope"],"ValueError"]`,
	},
	{Name: "no namespaces", Namespaces: []Namespace{}, Program: "return [n for n in globals() if not n.startswith('__')]", Value: "[]"},
	{Name: "a namespace without functions", Namespaces: []Namespace{{Global: "none", Funcs: Funcs{}}}, Program: "return [dir(none), hasattr(none, 'x'), bool(none)]", Value: "[[],false,true]"},
	{
		Name: "ToolCallError is a namespace like any other", Namespaces: []Namespace{{Global: "ToolCallError", Funcs: Funcs{"f": echo}}},
		Program: "return await ToolCallError.f(x=1)", Value: `{"x":1}`,
	},
	{
		Name: "a namespace named data without Data", Namespaces: []Namespace{{Global: "data", Funcs: Funcs{"f": echo}}},
		Program: "return await data.f(x=1)", Value: `{"x":1}`,
	},
	{
		Name: "thousands of functions are named in part", Namespaces: []Namespace{{Global: "many", Funcs: manyFuncs(5000)}},
		Program: "try:\n    many.absent\nexcept AttributeError as e:\n    return [len(str(e)) < 3000, 'f0' in str(e), 'and 4950 more' in str(e), await many.f4999(1)]",
		Value:   "[true,true,true,1]",
	},
}

func manyFuncs(count int) Funcs {
	funcs := Funcs{}
	for i := range count {
		funcs[fmt.Sprintf("f%d", i)] = echo
	}
	return funcs
}

func TestShadowing(t *testing.T) { runCases(t, shadowCases) }

// TestSeededGlobals lists what a program finds among its globals before its first
// line. Each such name is refused for namespaces, or can be taken without harm.
func TestSeededGlobals(t *testing.T) {
	const list = "return list(globals())"
	eachPython(t, Config{}, func(t *testing.T, rt *Runtime) {
		result, err := rt.Run(t.Context(), Request{Program: list})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		if err := result.Decode(&names); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"__name__", "__builtins__", "__file__"} {
			if !slices.Contains(names, name) {
				t.Errorf("no global %s", name)
			}
		}
		for _, name := range names {
			namespaces := []Namespace{{Global: name, Funcs: Funcs{"f": echo}}}
			if slices.Contains(ownedNames, name) || slices.Contains(seededNames, name) {
				refuses(t, rt, namespaces, false, "belongs to the runtime")
				continue
			}
			result, err := rt.Run(t.Context(), Request{Program: "return await " + name + ".f(1)", Namespaces: namespaces})
			if err != nil {
				t.Fatal(err)
			}
			programCase{Name: name, Value: "1"}.compare(t, result)
		}
	})
}
