package codemode

import (
	"fmt"
	"strings"
)

// commentLimit is how long a description may be in a comment.
const commentLimit = 140

// declarations returns the declarations of all types that were asked for so far,
// and of those that they use.
func (t *typer) declarations() []string {
	var lines []string
	for i := 0; i < len(t.queue); i++ {
		lines = append(lines, t.declaration(t.queue[i])...)
	}
	return lines
}

func (t *typer) declaration(d declared) []string {
	flat := t.document.flatten(d.schema)
	if !t.isClass(flat) {
		return t.alias(d)
	}
	place := d.place
	if d.depth == 0 {
		place = []string{d.name}
	}
	fields := t.fields(flat, place, d.depth)
	var lines []string
	if t.detail.prose && flat.description != "" {
		lines = append(lines, "# "+prose(flat.description, commentLimit))
	}
	if needsDict(fields) {
		lines = append(lines, d.name+" = TypedDict(", "    "+quote(d.name)+",", "    {")
		for _, f := range fields {
			lines = append(lines, f.item())
		}
		return append(lines, "    },", ")")
	}
	lines = append(lines, "class "+d.name+"(TypedDict):")
	for _, f := range fields {
		lines = append(lines, f.member())
	}
	if !hasMember(fields) {
		lines = append(lines, "    pass")
	}
	return lines
}

// isClass tells whether a schema is an object and nothing else, with keys.
func (t *typer) isClass(s *schema) bool {
	kinds := s.types
	if len(kinds) == 0 {
		kinds = s.impliedTypes()
	}
	if len(kinds) != 1 || kinds[0] != "object" || s.nullable || s.enum != nil || s.constant.Exists() {
		return false
	}
	if len(s.anyOf)+len(s.oneOf) > 0 {
		base := *s
		base.anyOf, base.oneOf = nil, nil
		return t.areRefinements(&base, append(s.anyOf[:len(s.anyOf):len(s.anyOf)], s.oneOf...))
	}
	if len(s.properties) > 0 || len(s.required) > 0 {
		return true
	}
	return s.additional != nil && s.additional.never && len(s.patterns) == 0
}

// alias returns the declaration of a type that is no TypedDict. It is text, since
// it may speak of types that come later.
func (t *typer) alias(d declared) []string {
	// The name stands for the schema's place, so what it consists of has another.
	flat := *t.document.flatten(d.schema)
	flat.pointer += "="
	inner := t.plain(&flat, []string{d.name}, d.depth)
	inner.null = inner.null || flat.nullable
	notes := append(t.about(&flat), inner.notes...)
	text := inner.String()
	if text == d.name {
		text, notes = "Any", append(notes, "refers to itself")
	}
	description := ""
	if t.detail.prose {
		description = flat.description
	}
	return []string{d.name + ": TypeAlias = " + asText(text) + comment(description, notes, commentLimit)}
}

// asText puts a type into quotes, so that it may name types that come later. A type
// whose own quotes would need escapes, which type checkers refuse, stays as it is.
func asText(expression string) string {
	switch {
	case !strings.ContainsAny(expression, "\"\\"):
		return `"` + expression + `"`
	case !strings.ContainsAny(expression, `'\`):
		return `'` + expression + `'`
	}
	return expression
}

// field is one key of a TypedDict, or a line of comment among them.
type field struct {
	name     string
	typ      string
	optional bool
	comment  string
}

func (f field) wrapped() string {
	if f.optional {
		return "NotRequired[" + f.typ + "]"
	}
	return f.typ
}

// member returns the field's line in a class.
func (f field) member() string {
	if f.typ == "" {
		return "    " + strings.TrimSpace(f.comment)
	}
	return "    " + f.name + ": " + f.wrapped() + f.comment
}

// item returns the field's line in a dict.
func (f field) item() string {
	if f.typ == "" {
		return "        " + strings.TrimSpace(f.comment)
	}
	return "        " + quote(f.name) + ": " + asText(f.wrapped()) + "," + f.comment
}

func hasMember(fields []field) bool {
	for _, f := range fields {
		if f.typ != "" {
			return true
		}
	}
	return false
}

// needsDict tells whether a key can't be written as a name in a class: it is none,
// Python would change it, or it would hide a type.
func needsDict(fields []field) bool {
	for _, f := range fields {
		if f.typ != "" && (!isIdentifier(f.name) || isPrivate(f.name) || builtins[f.name] && isTypeWord(f.name) || typeWords[f.name]) {
			return true
		}
	}
	return false
}

func isTypeWord(name string) bool {
	switch name {
	case "str", "int", "float", "bool", "list", "dict":
		return true
	}
	return false
}

// fields returns the keys of an object, and lines of comment for what they don't say.
func (t *typer) fields(s *schema, place []string, depth int) []field {
	var fields []field
	note := func(format string, args ...any) {
		fields = append(fields, field{comment: "# " + prose(fmt.Sprintf(format, args...), 2*commentLimit)})
	}
	for _, words := range s.notes {
		note("%s", words)
	}
	if len(s.anyOf)+len(s.oneOf) > 0 {
		note("%s", t.choice(s))
	}
	all := t.properties(s)
	for i, p := range all {
		if i == t.detail.fields {
			note("and %d more keys%s", len(all)-i, t.more)
			break
		}
		inner := t.of(p.schema, append(place[:len(place):len(place)], p.name), depth)
		fields = append(fields, field{p.name, inner.String(), !s.isRequired(p.name), comment(t.description(p.schema), inner.notes, commentLimit)})
	}
	for _, pattern := range s.patterns {
		inner := t.of(pattern.schema, append(place[:len(place):len(place)], "value"), depth)
		note("keys that match %s: %s", pattern.name, inner.String())
	}
	if s.additional != nil && !s.additional.never {
		inner := t.of(s.additional, append(place[:len(place):len(place)], "value"), depth)
		note("any other key: %s", inner.String())
	}
	return fields
}

// properties returns the properties that a value may have: those named, those that
// are only required, and those that conditions add.
func (t *typer) properties(s *schema) []property {
	var all []property
	add := func(p property) {
		for _, q := range all {
			if q.name == p.name {
				return
			}
		}
		if !p.schema.never {
			all = append(all, p)
		}
	}
	for _, p := range s.properties {
		add(p)
	}
	for _, conditional := range s.conditional {
		flat := t.document.flatten(conditional)
		for _, p := range flat.properties {
			add(p)
		}
		for _, name := range flat.required {
			add(onlyRequired(flat, name))
		}
	}
	for _, name := range s.required {
		add(onlyRequired(s, name))
	}
	return all
}

// onlyRequired returns a property of which the schema says no more than its name.
func onlyRequired(s *schema, name string) property {
	return property{name, &schema{pointer: s.pointer + "/required/" + escape(name)}}
}

// description returns what a schema, or what it refers to, says of itself.
func (t *typer) description(s *schema) string {
	if !t.detail.prose {
		return ""
	}
	if s.description != "" {
		return s.description
	}
	if len(s.allOf) == 1 {
		return s.allOf[0].description
	}
	return ""
}
