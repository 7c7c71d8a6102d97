package thirdrail

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

func TestDepth(t *testing.T) {
	runCases(t, slices.Concat(depthCases, forDouble(slices.Clone(doubleDepthCases))))
}
func TestWidth(t *testing.T)      { runCases(t, widthCases) }
func TestDeepSource(t *testing.T) { runCases(t, deepSourceCases) }

func TestMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten seconds of processor time for each Python")
	}
	runCases(t, millionCases)
}

// nested returns a text within so many pairs of brackets.
func nested(depth int, opening, inner, closing string) string {
	return strings.Repeat(opening, depth) + inner + strings.Repeat(closing, depth)
}

// deepNamespaces give texts nested to the depth that they are asked for.
func deepNamespaces() []Namespace {
	return append(testNamespaces(), Namespace{Global: "deep", Funcs: Funcs{
		"lists": Bind(func(_ context.Context, depth int) (lossless.Value, error) {
			return lossless.Parse([]byte(nested(depth, "[", "", "]")), lossless.Options{})
		}),
		"dicts": Bind(func(_ context.Context, depth int) (lossless.Value, error) {
			return lossless.Parse([]byte(nested(depth, `{"a":`, "-0.0", "}")), lossless.Options{})
		}),
		"both": Bind(func(_ context.Context, depth int) (lossless.Value, error) {
			return lossless.Parse([]byte(nested(depth, `[{"]}":`, `"\ud800"`, "}]")), lossless.Options{})
		}),
		// bottom looks at what it is given before it returns it.
		"bottom": func(_ context.Context, args lossless.Value) (lossless.Value, error) {
			if text := args.String(); text != nested(1_000_000, "[", "", "]") {
				return lossless.Value{}, fmt.Errorf("another value arrived: %s", short(text))
			}
			return args, nil
		},
	}})
}

// walk is Python that goes down a value and counts.
const walk = `def nest(depth, v=None):
    v = [] if v is None else v
    for i in range(depth - 1):
        v = [v]
    return v
def depth(v, step=lambda v: v[0]):
    n = 1
    while v:
        v = step(v)
        n += 1
    return n
`

var depthCases = []programCase{
	{Name: "10,000 lists", Program: "v = None\nfor i in range(10_000):\n    v = [v]\nreturn v", Value: nested(10_000, "[", "null", "]")},
	{
		Name:    "10,000 dicts",
		Limits:  Limits{ValueBytes: 60_004},
		Program: "v = None\nfor i in range(10_000):\n    v = {\"a\": v}\nreturn v",
		Value:   nested(10_000, `{"a":`, "null", "}"),
	},
	{
		Name:    "10,000 dicts, one byte less",
		Limits:  Limits{ValueBytes: 60_003},
		Program: "v = None\nfor i in range(10_000):\n    v = {\"a\": v}\nreturn v",
		Kind:    OutputLimit,
	},
	{
		Name:    "lists and dicts in turn, with neighbours",
		Program: "v = None\nfor i in range(10_000):\n    v = [{\"é\": v, \"b\": -0.0}, 2**70]\nreturn v",
		Value:   nested(10_000, `[{"é":`, "null", `,"b":-0.0},1180591620717411303424]`),
	},
	{
		Name:       "a reply of 12,000 lists",
		Program:    walk + "v = await deep.lists(12_000)\nassert depth(v) == 12_000\nreturn depth(v)",
		Namespaces: deepNamespaces(),
		Value:      "12000",
	},
	{
		Name:       "replies of dicts and of both",
		Program:    walk + "v = await deep.dicts(12_000)\nn = 0\nwhile type(v) is dict:\n    v = v[\"a\"]\n    n += 1\nw = await deep.both(12_000)\nm = 0\nwhile type(w) is list:\n    w = w[0][\"]}\"]\n    m += 1\nreturn [n, str(v), m, w]",
		Namespaces: deepNamespaces(),
		Value:      `[12000,"-0.0",12000,"\ud800"]`,
	},
	{
		Name:    "50,000 there and back",
		Program: walk + "v = await tools.echo(nest(50_000))\nassert depth(v) == 50_000\nreturn v",
		Value:   nested(50_000, "[", "", "]"),
	},
	{
		Name:    "100,000 with siblings",
		Limits:  Limits{ValueBytes: 2 << 20},
		Program: "v = 0\nfor i in range(100_000):\n    v = [i % 10, v, \"[\"]\nreturn v",
		Value:   siblings(100_000),
	},
	{
		Name: "in a thread with its small stack, whatever the recursion limit",
		Program: walk + `import asyncio, sys, threading
sys.setrecursionlimit(10**8)
found = []
async def call():
    found.append(depth(await tools.echo(nest(12_000))))
    found.append(depth(await deep.lists(60_000)))
thread = threading.Thread(target=lambda: asyncio.run(call()))
thread.start()
while thread.is_alive():
    await asyncio.sleep(0.01)
return found`,
		Namespaces: deepNamespaces(),
		Value:      "[12000,60000]",
	},
	{
		Name:    "with little stack left",
		Program: walk + "import sys\nv = nest(3000)\nasync def low(n):\n    return await low(n - 1) if n else await tools.echo(v)\nreturn depth(await low(sys.getrecursionlimit() - 150))",
		Value:   "3000",
	},
	{
		Name:    "a refusal deep down",
		Program: walk + "v = nest(20_000, [{1}])\nreturn v",
		Kind:    InvalidOutput, Message: []string{"result[0][0]", "more)…", "is a set"},
		Check: func(t *testing.T, result *Result) {
			if n := len(result.Failure.Message); n > 1000 {
				t.Errorf("message of %d bytes", n)
			}
		},
	},
	{
		Name:    "100,000 dicts there and back",
		Limits:  Limits{ValueBytes: 600_004},
		Program: "v = None\nfor i in range(100_000):\n    v = {\"a\": v}\nreturn await tools.echo(v)",
		Value:   nested(100_000, `{"a":`, "null", "}"),
	},
	{
		Name:    "data of 100,000 levels",
		Data:    nested(100_000, "[", "", "]"),
		Program: walk + "return depth(data)",
		Value:   "100000",
	},
	{
		Name:    "100,000, over budget",
		Limits:  Limits{ValueBytes: 199_999},
		Program: walk + "return nest(100_000)",
		Kind:    OutputLimit,
	},
	{
		Name:    "a forged end of 20,000 levels under a small budget",
		Limits:  Limits{ValueBytes: 32 << 10},
		Program: "import os\nos.write(3, b'{\"type\":\"done\",\"value\":' + b'[' * 20_000 + b']' * 20_000 + b'}\\n')",
		Kind:    OutputLimit, Message: []string{"40000 bytes"},
	},
	{
		Name:    "a forged end of 100,000 levels",
		Program: "import os\nrest = b'{\"type\":\"done\",\"value\":' + b'[' * 100_000 + b'1' + b']' * 100_000 + b'}\\n'\nwhile rest:\n    rest = rest[os.write(3, rest):]",
		Value:   nested(100_000, "[", "1", "]"),
	},
}

// millionCases cost seconds each, a few microseconds a level.
var millionCases = []programCase{{
	Name:   "argument, reply and value",
	Limits: Limits{ValueBytes: 2_000_000, Memory: 2 << 30, CPU: 5 * time.Minute, Wall: 10 * time.Minute},
	Program: walk + `v = await deep.bottom(nest(1_000_000))
assert depth(v) == 1_000_000
return v`,
	Namespaces: deepNamespaces(),
	Value:      nested(1_000_000, "[", "", "]"),
}}

var doubleDepthCases = []programCase{
	{
		Name:    "100,000 there and back",
		Program: "v = 5.0\nfor i in range(100_000):\n    v = [v]\nreturn await tools.echo(v)",
		Value:   nested(100_000, "[", "5", "]"),
	},
	{
		Name:    "negative zero at the bottom",
		Program: "v = -0.0\nfor i in range(100_000):\n    v = [v]\nreturn v",
		Kind:    InvalidOutput, Message: []string{"is -0.0", "negative zero"},
	},
}

// siblings is what the case "100,000 with siblings" returns.
func siblings(depth int) string {
	var text strings.Builder
	for i := depth - 1; i >= 0; i-- {
		text.WriteString("[" + strconv.Itoa(i%10) + ",")
	}
	text.WriteString("0")
	text.WriteString(strings.Repeat(`,"["]`, depth))
	return text.String()
}

// hundredThousand is an object of 100,000 members.
var hundredThousand = func() string {
	members := make([]string, 100_000)
	for i := range members {
		members[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	return "{" + strings.Join(members, ",") + "}"
}()

var twoMillion = "[" + strings.Repeat("1,", 2_000_000-1) + "1]"

var widthCases = []programCase{
	{
		Name:    "two million elements",
		Limits:  Limits{ValueBytes: int64(len(twoMillion))},
		Program: "return [1] * 2_000_000",
		Value:   twoMillion,
	},
	{
		Name:    "two million elements, one byte less",
		Limits:  Limits{ValueBytes: int64(len(twoMillion)) - 1},
		Program: "return [1] * 2_000_000",
		Kind:    OutputLimit, Message: []string{strconv.Itoa(len(twoMillion) - 1)},
	},
	{
		Name:    "100,000 members",
		Limits:  Limits{ValueBytes: int64(len(hundredThousand))},
		Program: "return {f\"k{i}\": i for i in range(100_000)}",
		Value:   hundredThousand,
	},
	{
		Name:    "100,000 members, one byte less",
		Limits:  Limits{ValueBytes: int64(len(hundredThousand)) - 1},
		Program: "return {f\"k{i}\": i for i in range(100_000)}",
		Kind:    OutputLimit, Message: []string{strconv.Itoa(len(hundredThousand) - 1)},
	},
	{
		Name:    "the same there and back, of mixed types",
		Program: "v = {f\"k{i}\": [i, None, str(i), i / 2, i % 2 == 0, {}] for i in range(20_000)}\nw = await tools.echo(v)\nassert w == v and list(w) == list(v)\nreturn len(w)",
		Value:   "20000",
	},
	{
		Name:    "five million elements as an argument",
		Limits:  Limits{Memory: 384 << 20},
		Program: "v = await tools.echo([0] * 5_000_000)\nreturn [len(v), set(v) == {0}]",
		Value:   "[5000000,true]",
	},
	{
		Name:    "sharing that blows up a value",
		Program: "v = [0]\nfor i in range(100):\n    v = [v, v]\nreturn v",
		Kind:    OutputLimit,
	},
	{
		Name:    "sharing that blows up a dict",
		Program: "v = {}\nfor i in range(100):\n    v = {\"a\": v, \"b\": v}\nreturn v",
		Kind:    OutputLimit,
	},
}

// deepSourceCases are texts that a recursive parser or compiler has trouble with.
var deepSourceCases = []programCase{
	{Name: "parentheses", Program: "return " + strings.Repeat("(", 5000), Kind: Exception, NotMessage: []string{"thirdrail"}},
	{Name: "closed parentheses", Program: "return " + nested(5000, "(", "1", ")"), Kind: Exception, NotMessage: []string{"thirdrail"}},
	{Name: "brackets", Program: "x = " + nested(5000, "[", "", "]"), Kind: Exception, NotMessage: []string{"thirdrail"}},
	{Name: "signs", Program: "return " + strings.Repeat("-", 100_000) + "1", Kind: Exception, NotMessage: []string{"thirdrail"}},
	{Name: "sums", Program: "return 1" + strings.Repeat("+1", 100_000), Since: 10, Kind: Exception, NotMessage: []string{"thirdrail"}},
	{Name: "attributes", Program: "x = 1\nreturn x" + strings.Repeat(".real", 100_000), Kind: Exception, NotMessage: []string{"thirdrail"}},
	{Name: "calls", Program: "return f" + strings.Repeat("()", 100_000), Kind: Exception, NotMessage: []string{"thirdrail"}},
	{Name: "not", Program: "return " + strings.Repeat("not ", 100_000) + "1", Kind: Exception, NotMessage: []string{"thirdrail"}},
	{Name: "lambdas", Program: "return " + strings.Repeat("lambda:", 10_000) + "1", Kind: Exception, NotMessage: []string{"thirdrail"}},
	{Name: "blocks", Program: deepBlocks(150), Kind: Exception, Message: []string{"too many levels of indentation"}},
	{Name: "20 blocks", Program: deepBlocks(18), Value: "1"},
	{Name: "90 brackets", Program: "return " + nested(90, "[", "", "]"), Value: nested(90, "[", "", "]")},
}

func deepBlocks(depth int) string {
	var text strings.Builder
	for i := range depth {
		text.WriteString(strings.Repeat(" ", i) + "if 1:\n")
	}
	return text.String() + strings.Repeat(" ", depth) + "return 1"
}

// TestSharedArgument passes an argument that sharing blows up without end. There
// is no budget for arguments, so the CPU limit ends it, and the host goes on.
func TestSharedArgument(t *testing.T) {
	rt := newRuntime(t, Config{})
	result := run1(t, rt, "v = [0]\nfor i in range(100):\n    v = [v, v]\nprint(\"before\")\nawait tools.echo(v)", Limits{CPU: time.Second})
	if result.Failure == nil || result.Failure.Kind != Timeout || !strings.Contains(result.Failure.Message, "CPU") {
		t.Errorf("failure is %v, want a timeout of CPU", result.Failure)
	}
	if !slices.Equal(result.Logs, []string{"before"}) || result.Stats.Calls != 0 {
		t.Errorf("logs %q and %d calls", result.Logs, result.Stats.Calls)
	}
	if next := run1(t, rt, "return 1", Limits{}); next.Value.String() != "1" {
		t.Errorf("the next run: %v", next.Failure)
	}
}
