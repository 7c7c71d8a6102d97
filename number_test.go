package thirdrail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

func TestNumbers(t *testing.T) {
	runCases(t, slices.Concat(exactNumberCases, doubleNumberCases, bothProfiles(numberCases)))
}
func TestForgedNumbers(t *testing.T) {
	runCases(t, slices.Concat(forgedNumberCases, bothProfiles(forgedIDCases)))
}

// bothProfiles returns the cases for Exact and for Double.
func bothProfiles(cases []programCase) []programCase {
	both := slices.Clone(cases)
	for _, c := range cases {
		c.Numbers = lossless.Double
		both = append(both, c)
	}
	return both
}

// numberCases hold under either profile.
var numberCases = []programCase{
	{Name: "nan", Program: `return float("nan")`, Kind: InvalidOutput, Message: []string{"result is nan", "non-finite"}},
	{Name: "inf", Program: `return [1.5, {"x": float("inf")}]`, Kind: InvalidOutput, Message: []string{`result[1]["x"] is inf`, "non-finite"}},
	{Name: "-inf", Program: `return {"a": [[-1e308 * 10]]}`, Kind: InvalidOutput, Message: []string{`result["a"][0][0] is -inf`, "non-finite"}},
	{Name: "safe integers", Program: "return [2**53 - 1, -(2**53 - 1)]", Value: "[9007199254740991,-9007199254740991]"},
	{
		Name:    "large integers that doubles hold",
		Program: "return [2**53, 2**60, 2**64, 10**22, -(2**60), 2**53 + 2]",
		Value:   "[9007199254740992,1152921504606846976,18446744073709551616,10000000000000000000000,-1152921504606846976,9007199254740994]",
	},
	{Name: "2**1023", Program: "return 2**1023", Value: new(big.Int).Lsh(big.NewInt(1), 1023).String()},
	{Name: "2**60 there and back", Program: "v = await tools.echo(2**60)\nreturn v == 2**60 and type(v) is int", Value: "true"},
	{Name: "zero", Program: "return [0, -0, +0, 0 * -5]", Value: "[0,0,0,0]"},
	{Name: "bools are no numbers", Program: "v = await tools.echo([True, 1, False, 0])\nreturn [type(x).__name__ for x in v]", Value: `["bool","int","bool","int"]`},
	{
		Name: "doubles, bit for bit",
		Program: `import random, struct
random.seed(7)
some = [1.0, 0.1, 1e-5, 98.6, -3.5e-9, 1e21, 5e-324, -5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 2.225073858507201e-308,
        1e16, 1e15, 9007199254740993.0, 0.0001, 0.00001234, 1e-6, 1e-7, 123456789012345680.0, 1e22, 1e23, 5e22, 1/3, 0.1 + 0.2]
while len(some) < 2000:
    x, = struct.unpack("<d", random.randbytes(8) if hasattr(random, "randbytes") else bytes(random.choices(range(256), k=8)))
    if x == x and abs(x) != float("inf") and x != 0:
        some.append(x)
bits = [struct.pack(">d", x).hex() for x in some]
assert await numbers.bits(some) == bits, "on the way to the host"
back = await numbers.doubles(bits)
assert [struct.pack(">d", x).hex() for x in back] == bits, "on the way to the program"
echoed = await numbers.echo(some)
assert [struct.pack(">d", x).hex() for x in echoed] == bits, "there and back"
return len(some)`,
		Namespaces: numberNamespaces(),
		Value:      "2000",
	},
	{
		Name: "the program's decimal context",
		Program: `import decimal
context = decimal.getcontext()
context.prec = 2
context.traps[decimal.Inexact] = True
decimal.DefaultContext.prec = 2
decimal.DefaultContext.traps[decimal.Inexact] = True
return [1.2345678901234567, await tools.echo(1.2345678901234567), 2**60]`,
		Value: "[1.2345678901234567,1.2345678901234567,1152921504606846976]",
	},
	{Name: "a half is a float", Program: "v = await numbers.half()\nreturn [v, type(v).__name__]", Namespaces: numberNamespaces(), Value: `[0.5,"float"]`},
	{
		Name: "what Go can't give",
		Program: `for name in ("nan", "inf", "beyond"):
    try:
        await numbers[name]()
    except RuntimeError as error:
        assert "lossless" in str(error) or "not a number" in str(error), error
        print(name)
    else:
        raise AssertionError(name)
return "all"`,
		Namespaces: numberNamespaces(),
		Value:      `"all"`,
		Logs:       []string{"nan", "inf", "beyond"},
	},
	{
		Name:    "nan at the very end",
		Limits:  Limits{ValueBytes: 20 << 20},
		Program: "return [[0.5] * 200_000, {\"a\": [1]}, float(\"nan\")]",
		Kind:    InvalidOutput, Message: []string{"result[2] is nan"},
	},
}

var exactNumberCases = []programCase{
	{Name: "negative zero", Program: "return [-0.0, {\"x\": 0.0 * -1}, 0.0, -0]", Value: `[-0.0,{"x":-0.0},0.0,0]`},
	{
		Name:    "negative zero there and back",
		Program: "import math\nv = await tools.echo(-0.0)\nassert type(v) is float and math.copysign(1, v) == -1\nreturn v",
		Value:   "-0.0",
	},
	{
		Name:    "integers of any size",
		Program: "return [2**53 + 1, -(2**53 + 1), 10**23, 2**1024]",
		Value:   "[9007199254740993,-9007199254740993,100000000000000000000000," + new(big.Int).Lsh(big.NewInt(1), 1024).String() + "]",
	},
	{Name: "10**400", Program: "return 10**400", Value: "1" + strings.Repeat("0", 400)},
	{
		Name:    "a float stays a float",
		Program: "v = await tools.echo([5.0, 5, 1e300, 1e16, 1e-7, 123456789.0, 1.0])\nassert [type(x).__name__ for x in v] == [\"float\", \"int\"] + [\"float\"] * 5\nreturn v",
		Value:   "[5.0,5,1e+300,1e+16,1e-07,123456789.0,1.0]",
	},
	{Name: "5.0 in three bytes", Limits: Limits{ValueBytes: 3}, Program: "return 5.0", Value: "5.0"},
	{Name: "5.0 in two bytes", Limits: Limits{ValueBytes: 2}, Program: "return 5.0", Kind: OutputLimit},
	{Name: "1e300 in six bytes", Limits: Limits{ValueBytes: 6}, Program: "return 1e300", Value: "1e+300"},
	{Name: "1e300 in five bytes", Limits: Limits{ValueBytes: 5}, Program: "return 1e300", Kind: OutputLimit},
	{Name: "the ends of the doubles", Program: "return [5e-324, -5e-324, 1.7976931348623157e308]", Value: "[5e-324,-5e-324,1.7976931348623157e+308]"},
	{Name: "a float that Go gives", Program: "v = await numbers.three()\nreturn [v, type(v).__name__]", Namespaces: numberNamespaces(), Value: `[3.0,"float"]`},
	{
		Name: "64-bit integers",
		Program: `ids = await numbers.ids()
assert ids == [2**63 - 1, -2**63, 2**64 - 1, 2**53 + 1], ids
assert await numbers.take_ids({"max": 2**63 - 1, "min": -2**63, "unsigned": 2**64 - 1}) == "taken"
try:
    await numbers.take_ids({"max": 2**63})
except RuntimeError as error:
    assert "max" in str(error), error
else:
    raise AssertionError("2**63 fits an int64")
return ids`,
		Namespaces: numberNamespaces(),
		Value:      "[9223372036854775807,-9223372036854775808,18446744073709551615,9007199254740993]",
	},
	{
		Name: "2**20000, and Python's guard stays",
		Program: `import sys
v = await numbers.power(2**20000)
assert v == 2**20000 + 1
assert await tools.echo([2**20000, -(2**20000)]) == [2**20000, -(2**20000)]
def guarded(action):
    try:
        action()
    except ValueError as error:
        return "digits" in str(error)
    return not hasattr(sys, "get_int_max_str_digits")
assert guarded(lambda: str(10**5000))
assert guarded(lambda: int("9" * 5000))
if hasattr(sys, "get_int_max_str_digits"):
    assert sys.get_int_max_str_digits() == 4300
return 2**20000`,
		Namespaces: append(testNamespaces(), numberNamespaces()...),
		Value:      new(big.Int).Lsh(big.NewInt(1), 20000).String(),
	},
	{
		Name: "the least guard",
		Program: `import sys
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(640)
v = await tools.echo([10**700, {"x": -10**9000}])
assert v == [10**700, {"x": -10**9000}]
return v[0]`,
		Value: "1" + strings.Repeat("0", 700),
	},
	{
		Name: "an int of 300,000 digits",
		Program: `import decimal
decimal.getcontext().prec = 3
v = 1 << 1_000_000
w = await tools.echo(v)
assert w == v
return w`,
		Value: new(big.Int).Lsh(big.NewInt(1), 1_000_000).String(),
	},
	{
		Name:    "a huge int is over budget before it is text",
		Limits:  Limits{ValueBytes: 100, CPU: 2 * time.Second},
		Program: "return 1 << 400_000_000",
		Kind:    OutputLimit, Message: []string{"the limit is 100 bytes"},
	},
}

var doubleNumberCases = forDouble([]programCase{
	{Name: "negative zero", Program: "return -0.0", Kind: InvalidOutput, Message: []string{"result is -0.0", "negative zero"}},
	{Name: "negative zero within", Program: "return {\"x\": 0.0 * -1}", Kind: InvalidOutput, Message: []string{`result["x"] is -0.0`, "negative zero"}},
	{Name: "positive zero", Program: "return [0.0, -0]", Value: "[0,0]"},
	{
		Name: "refused arguments",
		Program: `for value, what in ((-0.0, "negative zero"), (2**53 + 1, "not exactly representable"), (float("nan"), "non-finite")):
    try:
        await db.page({"x": [value]})
    except DBError as error:
        assert 'db.page argument["x"][0]' in str(error) and what in str(error) and "lossless JSON" in str(error), error
    else:
        raise AssertionError(value)
return "all"`,
		Value: `"all"`,
		Check: func(t *testing.T, result *Result) {
			if result.Stats.Calls != 0 {
				t.Errorf("%d calls reached a function", result.Stats.Calls)
			}
		},
	},
	{Name: "2**53+1", Program: "return 2**53 + 1", Kind: InvalidOutput, Message: []string{"9007199254740993, not exactly representable"}},
	{Name: "-(2**53+1)", Program: "return [-(2**53 + 1)]", Kind: InvalidOutput, Message: []string{"result[0] is -9007199254740993, not exactly representable"}},
	{Name: "10**23", Program: "return 10**23", Kind: InvalidOutput, Message: []string{"not exactly representable"}},
	{Name: "2**1024", Program: "return 2**1024", Kind: InvalidOutput, Message: []string{"not exactly representable"}},
	{Name: "10**400", Program: "return {\"n\": 10**400}", Kind: InvalidOutput, Message: []string{`result["n"]`, "not exactly representable"}},
	{Name: "10**6000, past Python's guard", Program: "return 10**6000", Kind: InvalidOutput, Message: []string{"not exactly representable"}},
	{Name: "5.0 in one byte", Limits: Limits{ValueBytes: 1}, Program: "return 5.0", Value: "5"},
	{Name: "1e21 in 22 bytes", Limits: Limits{ValueBytes: 22}, Program: "return 1e21", Value: "1" + strings.Repeat("0", 21)},
	{Name: "1e21 in 21 bytes", Limits: Limits{ValueBytes: 21}, Program: "return 1e21", Kind: OutputLimit, Message: []string{"22 bytes"}},
	{Name: "1e300 in 301 bytes", Limits: Limits{ValueBytes: 301}, Program: "return 1e300", Value: digits(1e300)},
	{Name: "1e300 in 64 bytes", Limits: Limits{ValueBytes: 64}, Program: "return 1e300", Kind: OutputLimit, Message: []string{"301 bytes"}},
	{Name: "the largest in 309 bytes", Limits: Limits{ValueBytes: 309}, Program: "return 1.7976931348623157e308", Value: digits(math.MaxFloat64)},
	{Name: "the largest in 308 bytes", Limits: Limits{ValueBytes: 308}, Program: "return 1.7976931348623157e308", Kind: OutputLimit},
	{
		Name:    "as ECMAScript spells",
		Program: "return [5.0, 1e-7, 1e-6, 1.5e-5, 0.0001, 5e-324, 123456789.0, 1e16, 98.6, -3.5e-9, 2.0**53, 1e15]",
		Value:   "[5,1e-7,0.000001,0.000015,0.0001,5e-324,123456789,10000000000000000,98.6,-3.5e-9,9007199254740992,1000000000000000]",
	},
	{Name: "a float that Go gives", Program: "v = await numbers.three()\nreturn [v, type(v).__name__]", Namespaces: numberNamespaces(), Value: `[3,"int"]`},
	{
		Name: "what Go gives and a double can't hold",
		Program: `for name in ("odd", "unsigned", "beyond", "negative_zero", "ids"):
    try:
        v = await numbers[name]()
    except RuntimeError as error:
        assert "lossless" in str(error) or "not a number" in str(error), error
    else:
        raise AssertionError([name, v])
return "all"`,
		Namespaces: numberNamespaces(),
		Value:      `"all"`,
	},
	{
		Name:    "negative zero at the very end",
		Limits:  Limits{ValueBytes: 20 << 20},
		Program: "v = [0] * 2_000_000\nv[-1] = -0.0\nreturn v",
		Kind:    InvalidOutput, Message: []string{"result[1999999] is -0.0"},
	},
	{
		Name:    "negative zero after a nested container",
		Program: "return [[[{\"a\": [0.0]}]], {\"b\": [-0.0]}]",
		Kind:    InvalidOutput, Message: []string{`result[1]["b"][0] is -0.0`},
	},
	{
		Name:    "points within strings stay",
		Program: "return [[1.0, \"1.0,2.0]\", {\"3.0}\": 2.0}] for _ in range(200)][199]",
		Value:   `[1,"1.0,2.0]",{"3.0}":2}]`,
	},
})

func forDouble(cases []programCase) []programCase {
	for i := range cases {
		cases[i].Numbers = lossless.Double
	}
	return cases
}

// digits returns an integral double in full.
func digits(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }

// numberNamespaces are functions that give and take numbers as Go has them.
func numberNamespaces() []Namespace {
	give := func(v any) Func {
		return func(context.Context, lossless.Value) (lossless.Value, error) { return lossless.Of(v) }
	}
	return []Namespace{{Global: "numbers", Funcs: Funcs{
		"three":         give(3.0),
		"half":          give(0.5),
		"odd":           give(int64(1<<53 + 1)),
		"unsigned":      give(uint64(math.MaxUint64)),
		"negative_zero": give(math.Copysign(0, -1)),
		"beyond":        give(json.Number("1e999")),
		"nan":           give(map[string]any{"x": math.NaN()}),
		"inf":           Bind(func(context.Context, struct{}) (float64, error) { return math.Inf(-1), nil }),
		"ids": Bind(func(context.Context, struct{}) ([]any, error) {
			return []any{int64(math.MaxInt64), int64(math.MinInt64), uint64(math.MaxUint64), int64(1<<53 + 1)}, nil
		}),
		"take_ids": Bind(takeIDs),
		"power": Bind(func(_ context.Context, n *big.Int) (*big.Int, error) {
			if n.Cmp(new(big.Int).Lsh(big.NewInt(1), 20000)) != 0 {
				return nil, errors.New("another number arrived")
			}
			return n.Add(n, big.NewInt(1)), nil
		}),
		"bits":    Bind(bitsOf),
		"doubles": Bind(doublesOf),
		"echo":    func(_ context.Context, args lossless.Value) (lossless.Value, error) { return args, nil },
	}}}
}

func takeIDs(_ context.Context, in struct {
	Max      int64  `json:"max"`
	Min      int64  `json:"min"`
	Unsigned uint64 `json:"unsigned"`
}) (string, error) {
	if in.Max != math.MaxInt64 || in.Min != math.MinInt64 || in.Unsigned != math.MaxUint64 {
		return "", fmt.Errorf("other ids arrived: %+v", in)
	}
	return "taken", nil
}

func bitsOf(_ context.Context, doubles []float64) ([]string, error) {
	all := make([]string, len(doubles))
	for i, d := range doubles {
		all[i] = fmt.Sprintf("%016x", math.Float64bits(d))
	}
	return all, nil
}

func doublesOf(_ context.Context, all []string) ([]float64, error) {
	doubles := make([]float64, len(all))
	for i, text := range all {
		u, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return nil, err
		}
		doubles[i] = math.Float64frombits(u)
	}
	return doubles, nil
}

// forge returns a program that writes lines to descriptor 3, and goes on.
func forge(rest string, lines ...string) string {
	return fmt.Sprintf("import os\nfor line in %s:\n    os.write(3, line.encode() + b\"\\n\")\n%s", pythonList(lines), rest)
}

// pythonList writes strings as a Python list. Go's quoting of printable ASCII is
// Python's too.
func pythonList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.QuoteToASCII(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// forgedCalls are lines that call tools.echo with each of some arguments.
func forgedCalls(args ...string) []string {
	lines := make([]string, len(args))
	for i, text := range args {
		lines[i] = `{"type":"call","id":0,"global":"tools","name":"echo","args":` + text + `}`
	}
	return lines
}

// droppedAll checks that so many frames were dropped, and one call was made.
func droppedAll(frames int) func(*testing.T, *Result) {
	return func(t *testing.T, result *Result) {
		if result.Stats.DroppedFrames != int64(frames) || result.Stats.Calls != 1 {
			t.Errorf("%d frames dropped and %d calls made, want %d and 1", result.Stats.DroppedFrames, result.Stats.Calls, frames)
		}
	}
}

const honest = "return await tools.echo(\"honest\")"

// forgedIDs are no ids that are due.
var forgedIDs = []string{"1e400", "-0", `"0"`, "null", "0.0", "0.5", "1e0", "0e0", "-1", "7", "1", "true", "[0]", "18446744073709551616", "00"}

var forgedIDCases = []programCase{
	{
		Name: "ids",
		Program: forge(honest, func() []string {
			lines := make([]string, len(forgedIDs))
			for i, id := range forgedIDs {
				lines[i] = `{"type":"call","id":` + id + `,"global":"tools","name":"echo","args":{}}`
			}
			return lines
		}()...),
		Value: `"honest"`,
		Check: droppedAll(len(forgedIDs)),
	},
	{Name: "done beyond the doubles", Program: forge("return 1", `{"type":"done","value":1e400}`), Kind: InvalidOutput, Value: "absent"},
	{Name: "done beyond the doubles, within", Program: forge("return 1", `{"type":"done","value":[[-1.5E+400]]}`), Kind: InvalidOutput},
	{
		Name:    "calls beyond the doubles",
		Program: forge(honest, forgedCalls(`{"n":1e400}`, `[-1e400]`, `1.0E999`)...),
		Value:   `"honest"`,
		Check:   droppedAll(3),
	},
	{
		Name:    "exact tokens",
		Program: forge("return 1", `{"type":"done","value":[9007199254740992,18446744073709551616]}`),
		Value:   "[9007199254740992,18446744073709551616]",
	},
	{
		Name:    "digits in strings are data",
		Program: forge("return 1", `{"type":"done","value":["9007199254740993","\"9007199254740993,-0,1e400","\\",{"-0":"1e400"}]}`),
		Value:   `["9007199254740993","\"9007199254740993,-0,1e400","\\",{"-0":"1e400"}]`,
	},
	{
		Name:    "over budget before all",
		Limits:  Limits{ValueBytes: 64},
		Program: forge("return 1", `{"type":"done","value":[1e400,"`+strings.Repeat("x", 100)+`"]}`),
		Kind:    OutputLimit,
	},
}

var forgedNumberCases = slices.Concat(
	[]programCase{
		{
			Name:    "any integer",
			Program: forge("return 1", `{"type":"done","value":[9007199254740993,-0,-0.0,9e99,1e-400,1.50]}`),
			Value:   "[9007199254740993,-0,-0.0,9e99,1e-400,1.50]",
		},
		{Name: "underflow keeps its spelling", Program: forge("return 1", `{"type":"done","value":1e-400}`), Value: "1e-400"},
	},
	forDouble([]programCase{
		{
			Name: "inexact or negative zero",
			Program: forge(honest, forgedCalls(`9007199254740993`, `[-9007199254740993]`, `{"a":[`+strings.Repeat("9", 400)+`]}`,
				`[-0]`, `{"x":-0.0}`, `[1,[-0e5]]`)...),
			Value: `"honest"`,
			Check: droppedAll(6),
		},
		{
			Name:    "inexact in a member that is not declared",
			Program: forge(honest, `{"type":"call","id":0,"global":"tools","name":"echo","args":{},"extra":9007199254740993}`),
			Value:   `"honest"`,
			Check:   droppedAll(1),
		},
		{Name: "inexact end", Program: forge("return 1", `{"type":"done","value":9007199254740993}`), Kind: InvalidOutput, Value: "absent"},
		{Name: "negative inexact end", Program: forge("return 1", `{"type":"done","value":{"a":-9007199254740993}}`), Kind: InvalidOutput},
		{Name: "400 nines", Program: forge("return 1", `{"type":"done","value":[`+strings.Repeat("9", 400)+`]}`), Kind: InvalidOutput},
		{Name: "inexact beside the value", Program: forge("return 1", `{"type":"done","value":1,"extra":9007199254740993}`), Kind: InvalidOutput},
		{Name: "negative zero", Program: forge("return 1", `{"type":"done","value":[-0]}`), Kind: InvalidOutput},
		{
			Name:    "a fraction or an exponent means a double",
			Program: forge("return 1", `{"type":"done","value":[9007199254740993.0,9e99,1e-400,5.0,0.0]}`),
			Value:   "[9007199254740992," + digits(9e99) + ",0,5,0]",
		},
	}),
)

// TestBindingSeesNumbers looks at what a function gets, token by token.
func TestBindingSeesNumbers(t *testing.T) {
	for _, c := range []struct {
		numbers lossless.Numbers
		want    string
	}{
		{lossless.Exact, "[3.0,-0.0,1e+16,1e-07,5e-324,9007199254740993]"},
		{lossless.Double, "[3,0,10000000000000000,1e-7,5e-324,9007199254740992]"},
	} {
		t.Run(c.numbers.String(), func(t *testing.T) {
			var seen recorder
			rt := newRuntime(t, Config{Numbers: c.numbers})
			program := "return await r.take([3.0, -0.0, 1e16, 1e-7, 5e-324, 2**53 + 1])"
			if c.numbers == lossless.Double {
				program = "return await r.take([3.0, 0.0, 1e16, 1e-7, 5e-324, 2**53])"
			}
			result, err := rt.Run(t.Context(), Request{
				Program:    program,
				Namespaces: []Namespace{{Global: "r", Funcs: Funcs{"take": seen.call}}},
			})
			if err != nil || result.Err() != nil {
				t.Fatal(err, result.Err())
			}
			if got := seen.seen(); !slices.Equal(got, []string{c.want}) || result.Value.String() != c.want {
				t.Errorf("the function got %s and the value is %s, want %s", got, result.Value, c.want)
			}
		})
	}
}
