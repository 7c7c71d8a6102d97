package codemode

import (
	"fmt"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// array returns the type of an array. Values in a program are lists, also where the
// schema describes a tuple.
func (t *typer) array(s *schema, place []string, depth int) typ {
	if len(s.prefix) > 0 {
		return t.tuple(s, place, depth)
	}
	if s.items == nil || !s.items.says() && !s.items.never {
		return typ{text: "list[Any]", notes: []string{"items of any type"}}
	}
	if s.items.never {
		return typ{text: "list[Any]", notes: []string{"always empty"}}
	}
	item := t.of(s.items, place, depth)
	return typ{text: "list[" + item.String() + "]", notes: itemNotes(item.notes)}
}

func itemNotes(notes []string) []string {
	if len(notes) == 0 {
		return nil
	}
	return []string{"items: " + strings.Join(notes, "; ")}
}

func (t *typer) tuple(s *schema, place []string, depth int) typ {
	var parts []typ
	var shown []string
	for i, element := range s.prefix {
		part := t.of(element, append(place[:len(place):len(place)], fmt.Sprint("item", i+1)), depth)
		words := part.String()
		if len(part.notes) > 0 {
			words += " (" + strings.Join(part.notes, "; ") + ")"
		}
		shown = append(shown, words)
		part.notes = nil
		parts = append(parts, part)
	}
	note := "[" + strings.Join(shown, ", ") + "]"
	switch {
	case s.items == nil:
		note = "starts with " + note
	case s.items.never:
		note = "up to " + note
		for _, limit := range s.limits {
			if strings.HasPrefix(limit, fmt.Sprintf("at least %d item", len(s.prefix))) || strings.HasPrefix(limit, fmt.Sprintf("exactly %d item", len(s.prefix))) {
				note = "exactly " + strings.TrimPrefix(note, "up to ")
			}
		}
	default:
		rest := t.of(s.items, append(place[:len(place):len(place)], "item"), depth)
		note = note + ", then " + rest.String()
		rest.notes = nil
		parts = append(parts, rest)
	}
	union := join(parts)
	return typ{text: "list[" + union.String() + "]", notes: []string{note}}
}

// object returns the type of an object: a dict, or the name of a TypedDict.
func (t *typer) object(s *schema, place []string, depth int) typ {
	if len(s.properties) == 0 && len(s.required) == 0 {
		if dict, ok := t.dict(s, place, depth); ok {
			return dict
		}
	}
	if depth > t.depth {
		return typ{text: "dict[str, Any]", notes: []string{"nested deeper" + t.more}}
	}
	if name, ok := t.given[s.pointer]; ok && s.pointer != "" {
		return typ{text: name}
	}
	alone := *s // what else the value may be stands beside the name
	alone.types, alone.nullable = []string{"object"}, false
	name, ok := t.declare(s.pointer, &alone, place, depth+1)
	if !ok {
		return typ{text: "dict[str, Any]", notes: []string{keysNote(s, 6) + t.more}}
	}
	return typ{text: name}
}

// dict returns the type of an object whose keys have no names.
func (t *typer) dict(s *schema, place []string, depth int) (typ, bool) {
	var parts []typ
	var notes []string
	for _, pattern := range s.patterns {
		part := t.of(pattern.schema, append(place[:len(place):len(place)], "value"), depth)
		notes = append(notes, "keys match "+prose(pattern.name, 60))
		notes = append(notes, part.notes...)
		part.notes = nil
		parts = append(parts, part)
	}
	switch {
	case s.additional != nil && s.additional.never:
		if len(parts) == 0 {
			return typ{}, false
		}
	case s.additional != nil && s.additional.says():
		part := t.of(s.additional, append(place[:len(place):len(place)], "value"), depth)
		notes = append(notes, valueNotes(part.notes)...)
		part.notes = nil
		parts = append(parts, part)
	default:
		notes = append(notes, "any keys")
		parts = append(parts, typ{text: "Any"})
	}
	return typ{text: "dict[str, " + join(parts).String() + "]", notes: notes}, true
}

func valueNotes(notes []string) []string {
	if len(notes) == 0 {
		return nil
	}
	return []string{"values: " + strings.Join(notes, "; ")}
}

// keysNote names the first keys of an object that isn't declared.
func keysNote(s *schema, most int) string {
	var names []string
	for i, p := range s.properties {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(s.properties)-most))
			break
		}
		names = append(names, prose(p.name, 40))
	}
	return "keys " + strings.Join(names, ", ")
}

// union returns the type of anyOf and oneOf.
func (t *typer) union(s *schema, place []string, depth int) typ {
	base := *s
	base.anyOf, base.oneOf = nil, nil
	branches := append(s.anyOf[:len(s.anyOf):len(s.anyOf)], s.oneOf...)
	if t.areRefinements(&base, branches) {
		result := t.plain(&base, place, depth)
		result.notes = append(result.notes, t.choice(s))
		return result
	}
	var parts []typ
	for i, branch := range branches {
		words := append(place[:len(place):len(place)], t.variant(branch, i))
		if base.says() {
			t.merges++
			merged := *combine(&base, t.document.flatten(branch))
			merged.description, merged.limits, merged.notes = branch.description, branch.limits, branch.notes
			parts = append(parts, t.plainOf(&merged, words, depth))
			continue
		}
		parts = append(parts, t.of(branch, words, depth))
	}
	return join(parts)
}

func (t *typer) plainOf(s *schema, place []string, depth int) typ {
	result := t.plain(s, place, depth)
	result.notes = append(t.about(s), result.notes...)
	return result
}

// areRefinements tells whether the branches of a union only say which members of
// an object must be there together.
func (t *typer) areRefinements(base *schema, branches []*schema) bool {
	if len(base.properties) == 0 {
		return false
	}
	for _, branch := range branches {
		flat := t.document.flatten(branch)
		for _, p := range flat.properties {
			if base.property(p.name) == nil {
				return false
			}
		}
		if len(flat.anyOf)+len(flat.oneOf) > 0 || flat.items != nil || flat.enum != nil {
			return false
		}
	}
	return true
}

// choice says which members go together in the branches of a schema.
func (t *typer) choice(s *schema) string {
	list, words := s.oneOf, "give exactly one of: "
	if len(list) == 0 {
		list, words = s.anyOf, "give at least one of: "
	}
	var sets []string
	for _, branch := range list {
		flat := t.document.flatten(branch)
		names := append([]string{}, flat.required...)
		for _, p := range flat.properties {
			if p.schema.constant.Exists() {
				names = append(names, p.name+" = "+literal(p.schema.constant))
			}
		}
		if len(names) == 0 {
			names = append(append(names, flat.notes...), "neither")[:1]
		}
		sets = append(sets, prose(strings.Join(names, " and "), 80))
	}
	return words + strings.Join(sets, " | ")
}

// variant returns the word that tells a branch of a union from the others.
func (t *typer) variant(branch *schema, i int) string {
	flat := t.document.flatten(branch)
	for _, p := range flat.properties {
		values := p.schema.enum
		if p.schema.constant.Exists() {
			values = []lossless.Value{p.schema.constant}
		}
		if len(values) == 1 && values[0].Kind() == lossless.KindString {
			return prose(text(values[0]), 30)
		}
	}
	if flat.title != "" {
		return prose(flat.title, 30)
	}
	return fmt.Sprint("Option", i+1)
}
