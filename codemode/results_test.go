package codemode

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// resultCases lists what a tool answers, and what its program gets of it. In the
// value, the name of handles is written as #.
var resultCases = []struct {
	name     string
	output   string // the tool's output schema
	result   func(t *testing.T) Result
	want     string
	failure  string
	warnings []string
	content  int
}{
	{name: "nothing", result: content(), want: "null"},
	{name: "an empty text", result: content(Content{}), want: `""`},
	{name: "text", result: content(Content{Text: "x"}), want: `"x"`},
	{name: "several texts", result: content(Content{Text: "a"}, Content{Text: "b"}), want: `"a\nb"`},
	{name: "an object as text", result: content(Content{Text: ` {"z":9007199254740993,"a":-0.0}`}), want: `{"z":9007199254740993,"a":-0.0}`},
	{name: "an array as text", result: content(Content{Text: "[1]\n"}), want: `[1]`},
	{name: "an array of two texts", result: content(Content{Text: "[1"}, Content{Text: ",2]"}), want: "[1,2]"},
	{name: "a broken object", result: content(Content{Text: `{"a":`}), want: `"{\"a\":"`},
	{name: "a name twice", result: content(Content{Text: `{"a":1,"a":2}`}), want: `"{\"a\":1,\"a\":2}"`},
	{name: "a number as text", result: content(Content{Text: "42"}), want: `"42"`},
	{name: "null as text", result: content(Content{Text: "null"}), want: `"null"`},
	{name: "digits", result: content(Content{Text: "007"}), want: `"007"`},
	{name: "a string as text", result: content(Content{Text: `"x"`}), want: `"\"x\""`},

	{name: "structure before content", result: structured(`{"a":1}`, Content{Text: "shown"}), want: `{"a":1}`},
	{name: "structure that is null", result: structured(`null`, Content{Text: "shown"}), want: `null`},
	{name: "structure that is an array", result: structured(`[1,2]`), want: `[1,2]`},
	{name: "a lone result", result: structured(`{"result":1}`), want: `{"result":1}`},
	{name: "a wrapper by its schema", output: `{"type":"object","properties":{"result":{"type":"integer"}},"x-fastmcp-wrap-result":true}`, result: structured(`{"result":1}`), want: `1`},
	{name: "a wrapper with more in it", output: `{"type":"object","properties":{"result":{}},"x-fastmcp-wrap-result":true}`, result: structured(`{"result":1,"b":2}`), want: `{"result":1,"b":2}`},
	{name: "a wrapper by the result", result: func(t *testing.T) Result {
		return Result{Structured: parse(t, `{"result":[null]}`), Wrapped: true}
	}, want: `[null]`},
	{name: "no wrapper without its member", result: func(t *testing.T) Result {
		return Result{Structured: parse(t, `{"value":1}`), Wrapped: true}
	}, want: `{"value":1}`},
	{name: "a broken promise", output: `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`, result: structured(`{"id":[1]}`), want: `{"id":[1]}`,
		warnings: []string{`tools.f: the result does not match its output schema: result["id"]: expected int, got list`}},
	{name: "a broken promise in a wrapper", output: `{"type":"object","properties":{"result":{"type":"integer"}},"x-fastmcp-wrap-result":true}`, result: structured(`{"result":"x"}`), want: `"x"`,
		warnings: []string{`tools.f: the result does not match its output schema: result["result"]: expected int, got str`}},
	{name: "a required result that isn't there", output: `{"type":"object","required":["result"]}`, result: structured(`{}`), want: `{}`,
		warnings: []string{`tools.f: the result does not match its output schema: result: expected the key "result", which is missing`}},
	{name: "text where structure was promised", output: `{"type":"object"}`, result: content(Content{Text: `{"a":1}`}), want: `"{\"a\":1}"`,
		warnings: []string{"tools.f: it declares an output schema, and sent no structured result"}},

	{name: "an image", result: content(Content{MIME: "image/png", Data: pixel}), want: `{"#":0,"mime":"image/png","size":14}`, content: 1},
	{name: "an image with a name", result: content(Content{MIME: "image/png", Data: pixel, Name: "a\xff.png"}), want: `{"#":0,"mime":"image/png","size":14,"name":"a\ufffd.png"}`, content: 1},
	{name: "text and images", result: content(Content{Text: "[1]"}, Content{MIME: "a/b"}, Content{MIME: "c/d", Data: []byte("x")}), want: `["[1]",{"#":0,"mime":"a/b","size":0},{"#":1,"mime":"c/d","size":1}]`, content: 2},
	{name: "structure beside an image", result: structured(`{"a":1}`, Content{MIME: "image/png", Data: pixel}), want: `{"a":1}`},

	{name: "an error", result: failed(Content{Text: "no such row"}), failure: "no such row"},
	{name: "an error with an image", result: failed(Content{Text: "see"}, Content{MIME: "image/png", Data: pixel}), failure: "see\n[image/png, 14 bytes]"},
	{name: "an error with structure", result: func(t *testing.T) Result { return Result{IsError: true, Structured: parse(t, `{"code":7}`)} }, failure: `{"code":7}`},
	{name: "an error without a word", result: failed(), failure: "the tool failed and did not say why"},
	{name: "an error breaks no promise", output: `{"type":"object","required":["a"]}`, result: func(t *testing.T) Result { return Result{IsError: true, Structured: parse(t, `{}`)} }, failure: "{}"},
}

func content(parts ...Content) func(*testing.T) Result {
	return func(*testing.T) Result { return Result{Content: parts} }
}

func failed(parts ...Content) func(*testing.T) Result {
	return func(*testing.T) Result { return Result{IsError: true, Content: parts} }
}

func structured(text string, parts ...Content) func(*testing.T) Result {
	return func(t *testing.T) Result { return Result{Structured: parse(t, text), Content: parts} }
}

func TestValueOfAResult(t *testing.T) {
	for _, c := range resultCases {
		t.Run(c.name, func(t *testing.T) {
			one := simple(t, "", "f", echo)
			if c.output != "" {
				one.OutputSchema = parse(t, c.output)
			}
			set := newSet(t, one)
			s := set.Session()
			value, err := s.value(set.catalogue.groups[0].tools[0], c.result(t))
			message := ""
			if err != nil {
				message = err.Error()
			}
			if message != c.failure {
				t.Errorf("error %q, want %q", message, c.failure)
			}
			want := c.want
			if want != "" {
				want = parse(t, strings.ReplaceAll(want, `"#"`, `"`+s.marker+`"`)).String()
			}
			if value.String() != want {
				t.Errorf("value %s, want %s", value, want)
			}
			if diff := cmp.Diff(c.warnings, s.warnings); diff != "" && len(c.warnings)+len(s.warnings) > 0 {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if len(s.content) != c.content {
				t.Errorf("%d parts of content, want %d", len(s.content), c.content)
			}
		})
	}
}

func TestShapes(t *testing.T) {
	for value, want := range map[string]string{
		`1`: "int", `1.0`: "float", `1e3`: "float", `"x"`: "str", `true`: "bool", `null`: "None",
		`[]`:                                  "list",
		`{}`:                                  "{}",
		`[1,"x"]`:                             "[int, …]",
		`{"z":1,"a":[{"b":null}]}`:            `{"z": int, "a": [{"b": None}, …]}`,
		`{"a":{"b":{"c":{"d":1}}}}`:           `{"a": {"b": {"c": {"d": int}}}}`,
		`{"a":{"b":{"c":{"d":{"e":1}}}}}`:     `{"a": {"b": {"c": {"d": dict}}}}`,
		`[[[[[1]]]]]`:                         "[[[[list, …], …], …], …]",
		`{"#":0,"mime":"image/png","size":1}`: "handle of image/png",
		`["x",{"#":0,"mime":"image/png","size":1}]`:                                           "[str, …]",
		`{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1,"12":1,"13":1}`: `{"1": int, "2": int, "3": int, "4": int, "5": int, "6": int, "7": int, "8": int, "9": int, "10": int, "11": int, "12": int, …}`,
		`{"\"\n":1}`: `{"\"\n": int}`,
	} {
		if got := shapeOf(parse(t, value), "#", 0); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

// TestFirstShapeIsKept: a tool without an output schema shows its first result that
// is one, and no later one; a tool with a schema shows that.
func TestFirstShapeIsKept(t *testing.T) {
	typed := simple(t, "", "typed", echo)
	typed.OutputSchema = parse(t, `{"type":"object","properties":{"id":{"type":"integer"}}}`)
	set := newSet(t, simple(t, "", "free", echo), typed)
	s := set.Session()
	for _, one := range set.catalogue.groups[0].tools {
		for _, r := range []Result{{IsError: true}, {}, Value(parse(t, `{"a":1}`)), Value(parse(t, `[]`))} {
			_, _ = s.value(one, r)
		}
	}
	source, err := set.Describe("tools")
	if err != nil || !strings.Contains(source, `-> Any:  # no output schema; seen: {"a": int}`) || !strings.Contains(source, "-> TypedResult:\n") {
		t.Errorf("%v:\n%s", err, source)
	}
	if set.Instructions() != newSet(t, simple(t, "", "free", echo), typed).Instructions() {
		t.Error("what was seen changes the instructions")
	}
}

// TestBuilding: values are put together from values, and nothing else.
func TestBuilding(t *testing.T) {
	one := parse(t, `[1.50]`)
	for name, c := range map[string]struct {
		got  lossless.Value
		want string
	}{
		"an empty object": {object(nil), "{}"},
		"members":         {object([]member{{"z", one}, {"a\"\n", lossless.Null}}), `{"z":[1.50],"a\"\n":null}`},
		"a name twice":    {object([]member{{"a", one}, {"a", one}}), "null"},
		"a broken name":   {object([]member{{"\xff", one}}), "{\"\ufffd\":[1.50]}"},
		"an empty array":  {array(nil), "[]"},
		"elements":        {array([]lossless.Value{one, lossless.True}), "[[1.50],true]"},
		"a number":        {number(-7), "-7"},
		"text":            {str("a\x00\u2028"), parse(t, `"a\u0000\u2028"`).String()},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s: %s, want %s", name, c.got, c.want)
		}
	}
}
