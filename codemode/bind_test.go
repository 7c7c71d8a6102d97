package codemode

import (
	"strings"
	"testing"
)

const bindSchema = `{"type":"object","properties":{"a":{"type":"integer"},"from":{"type":"string"},"c":{"type":"object","properties":{"x":{"type":"integer"}}},"d":{"type":["string","null"]}},"required":["a","from","c"]}`

// bindCases lists calls of a tool with bindSchema, and the arguments that the handler
// gets, or the error.
var bindCases = []struct{ name, call, want string }{
	{"keywords, in the order given", `[[],{"c":{},"from":"x","a":1}]`, `{"c":{},"from":"x","a":1}`},
	{"positions, in the order declared", `[[1,"x",{"x":2},null],{}]`, `{"a":1,"from":"x","c":{"x":2},"d":null}`},
	{"positions and keywords", `[[1],{"c":{},"from_":"x"}]`, `{"a":1,"c":{},"from":"x"}`},
	{"one object", `[[{"a":1,"from":"x","c":{}}],{}]`, `{"a":1,"from":"x","c":{}}`},
	{"one object, by aliases", `[[{"a":1,"from_":"x","c":{}}],{}]`, `{"a":1,"from":"x","c":{}}`},
	{"one object that lacks something", `[[{"a":1}],{}]`, "missing 2 required keyword-only arguments: 'from_' and 'c'"},
	{"an alias and its name", `[[],{"a":1,"from":"x","from_":"y","c":{}}]`, "got multiple values for argument 'from_'"},
	{"a position and its keyword", `[[1],{"a":1}]`, "got multiple values for argument 'a'"},
	{"one is missing", `[[1,"x"],{}]`, "missing 1 required keyword-only argument: 'c'"},
	{"two are missing", `[[1],{}]`, "missing 2 required keyword-only arguments: 'from_' and 'c'"},
	{"three are missing", `[[],{}]`, "missing 3 required keyword-only arguments: 'a', 'from_', and 'c'"},
	{"too many", `[[1,"x",{},null,5],{}]`, "takes 4 positional arguments but 5 were given"},
	{"null is not left out where it must be given", `[[null,"x",{}],{}]`, "argument a: expected int, got None"},
	{"the place of a fault", `[[],{"a":1,"from_":"x","c":{"x":[1]}}]`, `argument c["x"]: expected int, got list`},
	{"the place of a fault by its alias", `[[],{"a":1,"from":2,"c":{}}]`, `argument from_: expected str, got int`},
	{"nearly", `[[],{"form_":"x"}]`, "got an unexpected keyword argument 'form_'. Did you mean 'from_'?"},
	{"not nearly", `[[],{"zzzzzz":"x"}]`, "got an unexpected keyword argument 'zzzzzz'\n"},
	{"a hostile keyword", `[[],{"\n[value] 1":"x"}]`, "got an unexpected keyword argument '[value] 1'"},
	{"digits", `[[9007199254740993,"x",{}],{}]`, `{"a":9007199254740993,"from":"x","c":{}}`},
}

func TestBindTable(t *testing.T) {
	one := newSet(t, Tool{Name: "f", Handler: echo, InputSchema: parse(t, bindSchema)}).catalogue.groups[0].tools[0]
	for _, c := range bindCases {
		args, err := one.bind(parse(t, c.call))
		got := args.String()
		if err != nil {
			got = err.Error() + "\n"
		}
		if err == nil && got != c.want || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word, names, want string
	}{
		{"q", "query limit", "query"},
		{"qurey", "query limit", "query"},
		{"LIMIT", "query limit", "limit"},
		{"per_page", "page perPage", "perPage"},
		{"limitation", "l limit", "limit"},
		{"zzz", "query limit", ""},
		{"", "query", ""},
		{strings.Repeat("x", 10_000), "query", ""},
		{"straße", "strasse", "strasse"},
	} {
		if got := nearest(c.word, strings.Fields(c.names)); got != c.want {
			t.Errorf("%.20q among %q: %q, want %q", c.word, c.names, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"é", "e", 1}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestMeant: of many values, the nearest is named.
func TestMeant(t *testing.T) {
	var many []any
	for _, word := range strings.Fields("a b c d e f g h i j k created updated comments 🎉") {
		many = append(many, word)
	}
	for _, c := range []struct {
		values []any
		got    any
		want   string
	}{
		{many, "craeted", `. Did you mean "created"?`},
		{many, "Updated", `. Did you mean "updated"?`},
		{many, "zzzzzzzz", ""},
		{many, nil, ""},
		{many[:3], "created", ""}, // they are shown
	} {
		if got := meant(c.values, c.got); got != c.want {
			t.Errorf("%v: %q, want %q", c.got, got, c.want)
		}
	}
}
