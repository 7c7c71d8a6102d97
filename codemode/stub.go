package codemode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

const (
	// stubBytes is how long the declaration of one tool may be in the model's text,
	// and describedBytes where it is asked for by name.
	stubBytes      = 4 << 10
	describedBytes = 24 << 10
	// documentLimit is how much of a tool's description is shown, in characters.
	documentLimit = 1500
	// aboutLimit is how much of what is said of a namespace is shown, and
	// aboutDescribed where it is asked for by name, in characters.
	aboutLimit     = 400
	aboutDescribed = 6000
)

// details are tried in turn until a declaration is short enough: first go the
// descriptions of parameters, the types come last.
var details = []detail{
	{true, 1000, 1000}, {false, 1000, 1000}, {false, 250, 250}, {false, 120, 120}, {false, 60, 80}, {false, 30, 50}, {false, 15, 30}, {false, 6, 16}, {false, 0, 8}, {false, 0, 3},
}

// stub is the declaration of one tool.
type stub struct {
	types    []string // the lines of the types that it needs
	function []string // the lines of the function, which stand in a class
	head     string   // the signature on one line, without types' declarations
}

// stubber makes declarations that can stand in one source together.
type stubber struct {
	names   map[string]bool        // of types
	reserve func(name string) bool // names that no type may have
	more    string                 // where a reader finds what is left out
	limit   int
	whole   bool // shows long lists of values whole, and deeper objects
}

func newStubber(set *catalogue, more string, limit int) *stubber {
	return &stubber{
		names: map[string]bool{},
		more:  more,
		limit: limit,
		reserve: func(name string) bool {
			return builtins[name] || typeWords[name] || hardWords[name] || set.aliases[name]
		},
	}
}

// tool returns the declaration of a tool, as detailed as the limit allows.
func (b *stubber) tool(t *tool, seen string) stub {
	t.reading.Lock()
	defer t.reading.Unlock()
	for i, detail := range details {
		names := map[string]bool{}
		made := b.try(t, seen, detail, names)
		if b.size(made) <= b.limit || i == len(details)-1 {
			maps.Copy(b.names, names)
			return made
		}
	}
	return stub{}
}

// size returns how long a declaration is, in bytes. Lists of values that are asked
// for are bounded by themselves, and are no reason to leave out something else.
func (b *stubber) size(s stub) int {
	size := 0
	for _, line := range slices.Concat(s.types, s.function) {
		if b.whole {
			size += min(len(line), 1000) + 1
		} else {
			size += len(line) + 1
		}
	}
	return size
}

func (b *stubber) typer(root *document, t *tool, d detail, names map[string]bool) *typer {
	more := b.more
	if more != "" {
		more = fmt.Sprintf(more, t.path)
	}
	made := &typer{
		document: root, detail: d, more: more, names: names, given: map[string]string{}, depth: maxDepth,
		taken: func(name string) bool { return b.names[name] || b.reserve(name) },
	}
	if b.whole {
		made.depth, made.room = describedDepth, wholeValues
	}
	return made
}

// try returns a declaration of some detail, and adds its types to names.
func (b *stubber) try(t *tool, seen string, d detail, names map[string]bool) stub {
	inputs := b.typer(t.input, t, d, names)
	lines := inputs.parameters(t.arguments, []string{t.alias})
	types := inputs.declarations()

	result, note := "Any", "  # no output schema"
	if seen != "" {
		note = "  # no output schema; seen: " + seen
	}
	if t.output != nil {
		outputs := b.typer(t.output, t, d, names)
		root := t.output.at("")
		if t.wrapper {
			root = root.property("result")
		}
		returned := outputs.of(root, []string{t.alias, "Result"}, 0)
		types = append(types, outputs.declarations()...)
		result, note = returned.String(), comment("", returned.notes, commentLimit)
	}
	function := []string{"    @staticmethod"}
	function = append(function, signature("    ", t.alias, lines, result, note)...)
	function = append(function, docstring("        ", b.document(t, d))...)
	return stub{types, append(function, "        ..."), head(t.path, lines, result)}
}

// documentNamespace returns the lines of a namespace's docstring.
func (b *stubber) documentNamespace(g *group) []string {
	var lines []string
	if g.name != g.global {
		lines = paragraphs("The tools of "+quote(g.name)+".", 200)
	}
	limit := aboutLimit
	if b.whole {
		limit = aboutDescribed
	}
	said := paragraphs(g.about, limit)
	if len(lines) > 0 && len(said) > 0 {
		lines = append(lines, "")
	}
	return append(lines, said...)
}

// document returns the lines of a tool's docstring.
func (b *stubber) document(t *tool, d detail) []string {
	limit := documentLimit
	if !d.prose {
		limit /= 4
	}
	lines := paragraphs(t.Description, limit)
	if len(lines) == 0 {
		lines = paragraphs(t.Title, limit)
	}
	if !d.prose && describes(t) {
		more := b.more
		if more != "" {
			more = fmt.Sprintf(more, t.path)
		}
		lines = append(lines, "The descriptions of arguments and keys are left out"+more+".")
	}
	for _, note := range t.arguments.notes {
		lines = append(lines, paragraphs(note, commentLimit*2)...)
	}
	if t.alias != t.Name {
		lines = append(lines, paragraphs("Also "+t.namespace+"["+quote(t.Name)+"](...).", documentLimit)...)
	}
	return lines
}

// describes tells whether a tool's schemas describe parts of themselves.
func describes(t *tool) bool {
	const keyword = `"description"`
	return strings.Contains(t.InputSchema.String(), keyword) || strings.Contains(t.OutputSchema.String(), keyword)
}

// head returns a signature on one line.
func head(path string, lines []line, result string) string {
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.text)
	}
	star := ""
	if len(lines) > 0 && !strings.HasPrefix(lines[0].text, "**") {
		star = "*, "
	}
	return path + "(" + star + strings.Join(texts, ", ") + ") -> " + result
}

// header begins a source of declarations.
const header = `# mypy: allow-empty-bodies
# Every function is awaited: x = await %s
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict
`

// isWrapper tells whether an output schema is an object only because it has to be,
// around the value that is meant.
func isWrapper(schema lossless.Value) bool {
	return schema.Get("x-fastmcp-wrap-result").String() == "true" && schema.Get("properties").Get("result").Exists()
}
