package codemode

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// TestCorpusIsLarge: there are many schemas, and each has arguments of both kinds.
func TestCorpusIsLarge(t *testing.T) {
	count := 0
	for group, cases := range readCorpus(t) {
		for _, c := range cases {
			if c.Refused != "" {
				continue
			}
			count++
			if len(c.Valid) == 0 {
				t.Errorf("%s/%s: no valid arguments", group, c.Name)
			}
			if (len(c.Invalid) == 0) == (c.Free == "") {
				t.Errorf("%s/%s: invalid arguments, or the word on why there are none", group, c.Name)
			}
		}
	}
	if count < 60 {
		t.Errorf("the corpus has %d schemas, at least 60", count)
	}
}

// TestCorpus: each schema has the declarations that it should, passes valid
// arguments on as they are, and refuses invalid ones with their place.
func TestCorpus(t *testing.T) {
	for group, cases := range readCorpus(t) {
		for _, c := range cases {
			t.Run(group+"/"+c.Name, func(t *testing.T) { c.run(t) })
		}
	}
}

func (c corpusCase) run(t *testing.T) {
	s, err := New(nil, c.tool(t))
	if c.Refused != "" {
		if err == nil || !strings.Contains(err.Error(), c.Refused) {
			t.Errorf("error %v, want %q", err, c.Refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	source := s.Source()
	for _, part := range c.Want {
		if !strings.Contains(source, part) {
			t.Errorf("the declarations lack %q:\n%s", part, source)
		}
	}
	for _, part := range c.Not {
		if strings.Contains(source, part) {
			t.Errorf("the declarations have %q:\n%s", part, source)
		}
	}
	one := s.catalogue.groups[0].tools[0]
	for _, args := range c.Valid {
		got, err := one.bind(keywords(t, args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
		} else if text := string(args); !strings.Contains(text, "null") && got.String() != parse(t, text).String() {
			t.Errorf("%s arrives as %s", args, got)
		}
	}
	for _, pair := range c.Invalid {
		var want string
		if err := json.Unmarshal(pair[1], &want); err != nil {
			t.Fatal(err)
		}
		_, err := one.bind(keywords(t, pair[0]))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", pair[0], err, want)
		}
	}
}

// keywords returns a call with keyword arguments, as the child sends it.
func keywords(t *testing.T, args []byte) lossless.Value {
	t.Helper()
	return parse(t, "[[],"+string(args)+"]")
}

// corpusSources returns the declarations of each file of the corpus as one source.
func corpusSources(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for group, cases := range readCorpus(t) {
		var tools []Tool
		for _, c := range cases {
			if c.Refused == "" {
				tool := c.tool(t)
				tool.Namespace = group
				tools = append(tools, tool)
			}
		}
		sources[group] = newSet(t, tools...).Source()
	}
	return sources
}

// TestGolden compares the declarations of the corpus with those in testdata, which
// are there to be read.
func TestGolden(t *testing.T) {
	for group, source := range corpusSources(t) {
		path := "testdata/corpus/" + group + ".py"
		if *update {
			if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), source); diff != "" {
			t.Errorf("%s (-want +got), -update writes it anew:\n%s", path, diff)
		}
	}
}

// TestEveryAnyIsExplained: where a type is Any, a comment on its line, or the
// declaration's, says why.
func TestEveryAnyIsExplained(t *testing.T) {
	for group, source := range corpusSources(t) {
		for _, line := range strings.Split(source, "\n") {
			code, words, _ := strings.Cut(line, "  # ")
			if strings.Contains(code, "Any") && words == "" && !strings.HasPrefix(line, "from typing") &&
				!strings.HasPrefix(strings.TrimSpace(code), "#") && !strings.Contains(code, `"Any": `) && !strings.Contains(code, "class ") {
				t.Errorf("%s: no word on why: %s", group, line)
			}
		}
	}
}

// TestDeterministic: the order in which tools are given makes no difference, nor
// does making them again.
func TestDeterministic(t *testing.T) {
	var tools []Tool
	for _, c := range readCorpus(t)["servers"] {
		tools = append(tools, c.tool(t))
	}
	first := newSet(t, tools...)
	for i := range tools {
		again := newSet(t, append(tools[i:len(tools):len(tools)], tools[:i]...)...)
		if again.Source() != first.Source() || again.Instructions() != first.Instructions() {
			t.Fatalf("another order of tools (%d) gives other declarations", i)
		}
	}
}
