package codemode

import (
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Definition returns the tool that runs programs, for the model. It is the same,
// byte for byte, for the same tools.
func (s *Set) Definition() Definition {
	return Definition{
		Name:        s.options.Name,
		Description: s.Instructions(),
		InputSchema: built([]byte(`{"type":"object","properties":{"code":{"type":"string",` +
			`"description":"The Python program."}},"required":["code"],"additionalProperties":false}`)),
	}
}

// seeDescribe is where a reader finds what a declaration leaves out.
const seeDescribe = ": await " + describeName + "(\"%s\")"

// inlineBytes bounds the declarations in a description. Where they are longer, those
// of single tools say less; where that isn't enough, they are looked up.
const inlineBytes = 32 << 10

// Instructions returns the text that teaches a model to write programs, with the
// declarations of the tools, or with how to find them where they are many.
func (s *Set) Instructions() string {
	var b strings.Builder
	b.WriteString(s.howTo())
	if s.catalogue.count == 0 {
		return b.String()
	}
	if source, ok := s.inline(); ok {
		b.WriteString("\nThe tools, as Python declarations (" + "`= ...`" + " marks what may be left out; the server decides then):\n\n```python\n")
		b.WriteString(strings.TrimSpace(source) + "\n```\n")
		return b.String()
	}
	b.WriteString(s.namespacesText())
	return b.String()
}

// inline returns all declarations, if they are few enough for a description.
func (s *Set) inline() (string, bool) {
	if s.catalogue.count > s.options.Inline {
		return "", false
	}
	shape := func(*tool) string { return "" } // so that the text never changes
	source := ""
	for _, limit := range []int{stubBytes, inlineBytes / max(s.catalogue.count, 1)} {
		source = s.catalogue.source(newStubber(s.catalogue, seeDescribe, limit), s.catalogue.groups, shape)
		if len(source) <= inlineBytes {
			return source, true
		}
	}
	return source, false
}

// howTo is the part of the instructions that is the same for all tools, but for
// its examples.
func (s *Set) howTo() string {
	version := ""
	if s.facts.Version != "" {
		version = " " + s.facts.Version
	}
	sandbox, limits := s.around()
	lines := []string{
		"Runs a Python" + version + " program. Write plain code: its top level may `await` and `return`, no main function and no asyncio.run.",
		"",
		"- `return` a JSON value (None, bool, int, float, str, list, dict) as the result; only it and what you `print` come back. Filter and sum up in the program, and return little.",
		"- Each run starts fresh: no variables or files of earlier runs.",
		"- " + walls(sandbox) + " " + importable(s.facts.Packages, sandbox),
		"- " + allowance(s.options.Limits, limits),
	}
	if s.options.NoLastExpression {
		lines = append(lines, "- Only `return` gives a value; a bare expression at the end does not.")
	}
	if t := s.exampleTool(); t != nil {
		call := s.exampleArguments(t)
		lines = append(lines,
			"- Tools are functions of namespaces, there without an import. Await each call: `r = await "+call+"`. Pass arguments by keyword, and leave out what you don't need instead of passing None.",
			"- Independent calls at once: `a, b = await asyncio.gather("+call+", "+call+")` after `import asyncio`; with `return_exceptions=True` one failure doesn't lose the others.",
			"- A failed call raises ToolError, with the function in `.tool`: `try: … except ToolError as e: print(e)`.",
			"- Images and files come as handles: `.mime`, `.size`, `.read()` for the bytes, `.save(path)`. Return one to show it.",
		)
	}
	return strings.Join(lines, "\n") + "\n"
}

// mostNamespaces bounds how many namespaces a description names.
const mostNamespaces = 60

// aboutBeside is how much of what is said of a namespace stands beside its name, in
// characters.
const aboutBeside = 120

// namespacesText lists namespaces where the tools themselves are too many.
func (s *Set) namespacesText() string {
	lines := []string{
		"",
		"The tools are too many to list here. In a program, `await " + searchName + "(\"words\")` returns the signatures that fit best, and `await " +
			describeName + "([\"ns.name\"])` full declarations of any number of them. What is found can be called in the same program. The namespaces:",
		"",
	}
	for i, g := range s.catalogue.groups {
		if i == mostNamespaces {
			lines = append(lines, "- and "+count(int64(len(s.catalogue.groups)-i), "more namespace"))
			break
		}
		var names []string
		for _, t := range g.tools[:min(len(g.tools), 5)] {
			names = append(names, t.alias)
		}
		more := ""
		if len(g.tools) > len(names) {
			more = ", …"
		}
		line := "- " + g.global + ": " + cut(strings.Join(names, ", "), 160) + more
		if about := prose(g.about, aboutBeside); about != "" {
			line += " (" + about + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

// exampleTool returns the tool that the examples call: one that is easily called.
func (s *Set) exampleTool() *tool {
	var best *tool
	least := 0
	for _, g := range s.catalogue.groups {
		for _, t := range g.tools {
			if cost := s.exampleCost(t); best == nil || cost < least {
				best, least = t, cost
			}
		}
	}
	return best
}

// exampleCost says how much stands against showing a tool in the examples.
func (s *Set) exampleCost(t *tool) int {
	n := 0
	for _, p := range t.arguments.list {
		if !p.required {
			continue
		}
		n += 2
		switch value, ok := s.exampleValue(t, p); {
		case !ok:
			n += 100
		case value.Kind() != lossless.KindString && value.Kind() != lossless.KindNumber:
			n++
		}
	}
	if n == 0 {
		n = 9 // a call without arguments shows less
	}
	return n
}

// exampleArguments returns a call that the tool's schema accepts, or one with an
// ellipsis where no value is plain.
func (s *Set) exampleArguments(t *tool) string {
	var texts []string
	for _, p := range t.arguments.list {
		if !p.required {
			continue
		}
		value, ok := s.exampleValue(t, p)
		if !ok {
			return t.path + "(...)"
		}
		texts = append(texts, p.alias+"="+literal(value))
	}
	return t.path + "(" + strings.Join(texts, ", ") + ")"
}

// exampleValue returns a value that an argument may have.
func (s *Set) exampleValue(t *tool, p parameter) (lossless.Value, bool) {
	schema := t.checkInput.schema.Properties[p.name]
	t.reading.Lock()
	flat := t.input.flatten(p.schema)
	t.reading.Unlock()
	candidates := slices.Concat(flat.enum, []lossless.Value{flat.constant, flat.fallback, str("text"), number(1), lossless.True, built([]byte(`["text"]`)), built([]byte("{}"))})
	for _, candidate := range candidates {
		if candidate.Exists() && (schema == nil || schema.Validate(decode(candidate, 0)) == nil) {
			return candidate, len(candidate.Bytes()) < 40
		}
	}
	return lossless.Value{}, false
}

// Deferred tells that the tools are too many for the description: then it names
// namespaces, and tools are found by Search and Describe, or by a program.
func (s *Set) Deferred() bool {
	if s.catalogue.count == 0 {
		return false
	}
	_, inlined := s.inline()
	return !inlined
}
