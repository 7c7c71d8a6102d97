package codemode

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// TestQuoteIsRead: each hostile text is the same text once Python has read it.
func TestQuoteIsRead(t *testing.T) {
	var literals []string
	var want []string
	for _, text := range append(hostileTexts, "", "é", "\u00ad", "\U000e0001", "\x7f", "'", "\\u0041") {
		literals = append(literals, quote(text))
		want = append(want, text)
	}
	source := "import json\nprint(json.dumps([" + strings.Join(literals, ", ") + "]))"
	for _, python := range pythons.All(t) {
		out, err := exec.Command(python, "-I", "-W", "error", "-c", source).Output()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", python, diff)
		}
	}
}

// TestDocstringIsRead: what Python reads of a docstring has the words of the text,
// and none of its lines is code.
func TestDocstringIsRead(t *testing.T) {
	var source strings.Builder
	for _, text := range hostileTexts {
		lines := docstring("    ", paragraphs(text, 200))
		source.WriteString("class C:\n" + strings.Join(append(lines, "    pass"), "\n") + "\n")
	}
	program := "import ast, sys\nfor node in ast.parse(sys.stdin.buffer.read()).body:\n    assert len(node.body) <= 2, ast.dump(node)"
	for _, python := range pythons.All(t) {
		command := exec.Command(python, "-I", "-W", "error", "-c", program)
		command.Stdin = strings.NewReader(source.String())
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", python, err, out)
		}
	}
}

// TestIdentifiersAreIdentifiers asks each Python whether what we take for one is.
func TestIdentifiersAreIdentifiers(t *testing.T) {
	names := []string{"a", "_", "é", "ß", "Ω", "ж", "名前", "ひらがな", "カタカナ", "한국어", "ab1", "x²", "ﬁ", "1a", "a-b", "", "async", "match", "٣", "µ", "ª", "ſ"}
	for r := rune(0x80); r < 0x3100; r++ {
		names = append(names, string(r))
	}
	var ours []string
	for _, name := range names {
		if isIdentifier(name) {
			ours = append(ours, name)
		}
	}
	text, err := json.Marshal(ours)
	if err != nil {
		t.Fatal(err)
	}
	program := "import json, sys, unicodedata\nfrom keyword import iskeyword\nfor n in json.load(sys.stdin):\n    assert n.isidentifier() and not iskeyword(n) and unicodedata.normalize('NFKC', n) == n, ascii(n)"
	for _, python := range pythons.All(t) {
		command := exec.Command(python, "-I", "-c", program)
		command.Stdin = strings.NewReader(string(text))
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", python, err, out)
		}
	}
	for _, name := range []string{"é", "名前", "한국어", "match"} {
		if !slices.Contains(ours, name) {
			t.Errorf("%q is not taken for an identifier", name)
		}
	}
	for _, name := range []string{"", "1a", "a-b", "async", "ﬁ", "x²", "µ"} {
		if slices.Contains(ours, name) {
			t.Errorf("%q is taken for an identifier", name)
		}
	}
}

// TestBuiltinsAreComplete: every builtin of every Python is known, so that no alias
// hides one.
func TestBuiltinsAreComplete(t *testing.T) {
	for _, python := range pythons.All(t) {
		out, err := exec.Command(python, "-I", "-c", "import builtins, keyword\nprint(*[n for n in dir(builtins) + keyword.kwlist if n[0] != '_'])").Output()
		if err != nil {
			t.Fatal(err)
		}
		for name := range words(string(out)) {
			if !reservedFunction(name) || !reservedGlobal(name) {
				t.Errorf("%s: %s is not reserved", python, name)
			}
		}
	}
}

func TestProse(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"a  b\n\tc", 20, "a b c"},
		{"one two three four", 12, "one two…"},
		{"onetwothreefour", 8, "onetwot…"},
		{"\x00\u202e\ufeffx", 20, "x"},
		{"é 中文 💥", 20, "é 中文 💥"},
		{"", 5, ""},
		{"end.", 4, "end."},
	} {
		if got := prose(c.text, c.limit); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
	for _, text := range hostileTexts {
		if got := prose(text, 50); utf8.RuneCountInString(got) > 50 || strings.ContainsAny(got, "\n\r") {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"create_order", "items", "price"}, "CreateOrderItemsPrice"},
		{[]string{"createOrder", "line-items"}, "CreateOrderLineItems"},
		{[]string{"2fa"}, "T2fa"},
		{[]string{"", "-"}, "Type"},
		{[]string{"日本", "x"}, "日本X"},
		{[]string{strings.Repeat("long", 40), "end"}, "LonglonglonglonglonglongLon"},
	} {
		got := typeName(c.words...)
		if got != c.want && !(len(c.want) > 25 && utf8.RuneCountInString(got) <= 60 && strings.HasSuffix(got, "End")) {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
}

// TestFactsOfEachPython: modules of the standard library aren't taken for packages.
func TestFactsOfEachPython(t *testing.T) {
	if testing.Short() {
		t.Skip("starts every interpreter of the machine")
	}
	pythons.Each(t, func(t *testing.T, python string) {
		rt := newRuntimeOf(t, python)
		facts, err := askFacts(rt, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range facts.Packages {
			if modules[name] && name != "numpy" && name != "pandas" || name == "math" || name == "array" || strings.HasPrefix(name, "_") {
				t.Errorf("%s is taken for a package", name)
			}
		}
		if !strings.HasPrefix(facts.Version, "3.") {
			t.Errorf("version %q", facts.Version)
		}
		given, err := askFacts(rt, []string{"only this"})
		if err != nil || len(given.Packages) != 1 || given.Packages[0] != "only this" {
			t.Errorf("%v, %v", given, err)
		}
	})
}
