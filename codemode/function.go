package codemode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// parameter is one argument of a tool.
type parameter struct {
	name     string // in JSON
	alias    string // in Python
	schema   *schema
	required bool
}

// arguments are the parameters of a tool, in the order of its schema.
type arguments struct {
	list  []parameter
	extra *schema // what further arguments must be, nil where there may be none
	any   bool    // there may be further arguments of any kind
	notes []string
}

// readArguments returns the arguments that an input schema asks for.
func (t *typer) readArguments(root *schema) arguments {
	flat := t.document.flatten(root)
	base := *flat
	branches := append(flat.anyOf[:len(flat.anyOf):len(flat.anyOf)], flat.oneOf...)
	base.anyOf, base.oneOf = nil, nil
	result := arguments{notes: flat.notes}
	if len(branches) > 0 {
		result.notes = append(slices.Clone(result.notes), t.choice(flat))
		for _, branch := range branches {
			inner := t.document.flatten(branch)
			base.properties = eitherProperties(base.properties, t.properties(inner))
			base.additional = first(base.additional, inner.additional)
		}
	}
	properties := t.properties(&base)
	names := make([]string, len(properties))
	for i, p := range properties {
		names[i] = p.name
	}
	given := aliases(names, identifier, func(name string) bool { return false })
	for _, p := range properties {
		result.list = append(result.list, parameter{p.name, given[p.name], p.schema, base.isRequired(p.name)})
	}
	switch {
	case base.additional != nil && base.additional.never:
	case base.additional != nil && base.additional.says():
		result.extra = base.additional
	case base.additional != nil:
		result.any = true
	default:
		result.any = len(properties) == 0 && flat.properties == nil
	}
	if len(base.patterns) > 0 {
		result.any, result.extra = true, nil
		for _, pattern := range base.patterns {
			result.notes = append(slices.Clone(result.notes), "further keys match "+prose(pattern.name, 60))
		}
	}
	return result
}

// eitherProperties returns the properties of all branches; one that differs may be
// as in any of them.
func eitherProperties(a, b []property) []property {
	out := slices.Clone(a)
	for _, p := range b {
		i := slices.IndexFunc(out, func(q property) bool { return q.name == p.name })
		if i < 0 {
			out = append(out, p)
		} else if out[i].schema.pointer != p.schema.pointer && p.schema.says() {
			out[i].schema = &schema{
				pointer:     out[i].schema.pointer + "|" + p.schema.pointer,
				anyOf:       []*schema{out[i].schema, p.schema},
				description: firstText(out[i].schema.description, p.schema.description),
			}
		}
	}
	return out
}

// line is a parameter as the signature shows it.
type line struct{ text, comment string }

func (t *typer) parameters(a arguments, words []string) (lines []line) {
	list := a.list
	if len(list) > t.detail.fields {
		// Those that must be given come first, and all of them are shown.
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(p, q parameter) int { return order(q.required) - order(p.required) })
	}
	for i, p := range list {
		if i >= t.detail.fields && !p.required || i >= 4*t.detail.fields {
			lines = append(lines, line{"**extra: Any", fmt.Sprintf("  # %d more arguments%s", len(list)-i, t.more)})
			return lines
		}
		inner := t.of(p.schema, append(words[:len(words):len(words)], p.name), 0)
		if p.alias != p.name {
			inner.notes = append([]string{"sent as " + quote(prose(p.name, 60))}, inner.notes...)
		}
		text := p.alias + ": " + inner.String()
		if !p.required {
			text += " = " + absent(p.schema, inner)
		}
		lines = append(lines, line{text, comment(t.description(p.schema), inner.notes, commentLimit)})
	}
	if extra, ok := t.extra(a, words); ok {
		lines = append(lines, extra)
	}
	return lines
}

// absent returns the default of a parameter that may be left out. Where it is null,
// and null is legal, it can be said; else the server decides.
func absent(s *schema, inner typ) string {
	if s.fallback.Kind() == lossless.KindNull && inner.null {
		return "None"
	}
	return "..."
}

func order(required bool) int {
	if required {
		return 1
	}
	return 0
}

func (t *typer) extra(a arguments, words []string) (line, bool) {
	name := "extra"
	for slices.ContainsFunc(a.list, func(p parameter) bool { return p.alias == name }) {
		name += "_"
	}
	if a.extra != nil {
		inner := t.of(a.extra, append(words[:len(words):len(words)], "value"), 0)
		return line{"**" + name + ": " + inner.String(), comment("", inner.notes, commentLimit)}, true
	}
	return line{"**" + name + ": Any", "  # any further arguments"}, a.any
}

// signature returns the head of a function's declaration.
func signature(indent, name string, lines []line, result, note string) []string {
	star := ""
	if len(lines) > 0 && !strings.HasPrefix(lines[0].text, "**") {
		star = "*, "
	}
	var texts []string
	plain := true
	for _, l := range lines {
		texts = append(texts, l.text)
		plain = plain && l.comment == ""
	}
	short := indent + "async def " + name + "(" + star + strings.Join(texts, ", ") + ") -> " + result + ":"
	if plain && len(short) <= 110 || len(lines) == 0 {
		return []string{short + note}
	}
	out := []string{indent + "async def " + name + "("}
	if star != "" {
		out = append(out, indent+"    *,")
	}
	for _, l := range lines {
		comma := ","
		out = append(out, indent+"    "+l.text+comma+l.comment)
	}
	return append(out, indent+") -> "+result+":"+note)
}
