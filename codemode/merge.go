package codemode

import (
	"slices"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// maxMerges bounds how many schemas are folded into one, for those that refer to
// themselves.
const maxMerges = 64

// flatten returns a schema with what its $ref and allOf lead to folded in.
func (d *document) flatten(s *schema) *schema {
	left := maxMerges
	return d.fold(s, &left)
}

func (d *document) fold(s *schema, left *int) *schema {
	if s.ref == "" && s.dynamicRef == "" && len(s.allOf) == 0 {
		return s
	}
	if *left--; *left < 0 {
		return &schema{notes: []string{"refers to itself"}}
	}
	target := d.target(s)
	if target != nil && d.old && s.ref != "" {
		return d.fold(target, left)
	}
	out := *s
	out.ref, out.dynamicRef, out.allOf = "", "", nil
	out.notes = slices.Clone(s.notes)
	if target == nil && (s.ref != "" || s.dynamicRef != "") {
		out.notes = append(out.notes, unresolved(s))
	}
	merged := &out
	if target != nil {
		merged = combine(merged, d.fold(target, left))
	}
	for _, part := range s.allOf {
		merged = combine(merged, d.fold(part, left))
	}
	return merged
}

// target returns what a schema refers to, nil for nothing or what can't be found.
func (d *document) target(s *schema) *schema {
	switch {
	case s.ref != "":
		return d.resolve(s.ref)
	case s.dynamicRef != "":
		return d.resolve(s.dynamicRef)
	}
	return nil
}

func unresolved(s *schema) string {
	return "unresolved ref " + quote(prose(s.ref+s.dynamicRef, 80))
}

// combine returns a schema for what satisfies both.
func combine(a, b *schema) *schema {
	out := *a
	out.never = a.never || b.never
	out.types = commonTypes(a.types, b.types)
	if len(out.types) == 0 && len(a.types)+len(b.types) > 0 {
		out.types = a.types
		out.notes = append(slices.Clone(a.notes), "two types at once: nothing fits")
	}
	out.nullable = a.nullable || b.nullable
	out.enum = commonValues(a.enum, b.enum)
	if !a.constant.Exists() {
		out.constant = b.constant
	}
	out.properties = bothProperties(a.properties, b.properties)
	out.required = slices.Clone(a.required)
	for _, name := range b.required {
		if !slices.Contains(out.required, name) {
			out.required = append(out.required, name)
		}
	}
	out.patterns = slices.Concat(a.patterns, b.patterns)
	out.additional = first(a.additional, b.additional)
	out.items = first(a.items, b.items)
	if len(a.prefix) == 0 {
		out.prefix = b.prefix
	}
	out.anyOf, out.oneOf = a.anyOf, a.oneOf
	if len(a.anyOf)+len(a.oneOf) == 0 {
		out.anyOf, out.oneOf = b.anyOf, b.oneOf
	} else if len(b.anyOf)+len(b.oneOf) > 0 {
		out.notes = append(slices.Clone(out.notes), "and one of further forms")
	}
	out.pointer = a.pointer + "&" + b.pointer
	out.title = firstText(a.title, b.title)
	out.description = firstText(a.description, b.description)
	out.format = firstText(a.format, b.format)
	out.encoding = firstText(a.encoding, b.encoding)
	if !a.fallback.Exists() {
		out.fallback = b.fallback
	}
	out.limits = slices.Concat(a.limits, b.limits)
	out.notes = slices.Concat(out.notes, b.notes)
	out.conditional = slices.Concat(a.conditional, b.conditional)
	return &out
}

func first(a, b *schema) *schema {
	if a != nil {
		return a
	}
	return b
}

func firstText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func commonTypes(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	var common []string
	for _, name := range a {
		switch {
		case slices.Contains(b, name):
			common = append(common, name)
		case name == "integer" && slices.Contains(b, "number"):
			common = append(common, name)
		case name == "number" && slices.Contains(b, "integer"):
			common = append(common, "integer")
		}
	}
	return common
}

func commonValues(a, b []lossless.Value) []lossless.Value {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	common := []lossless.Value{}
	for _, value := range a {
		if slices.ContainsFunc(b, func(other lossless.Value) bool { return isSame(value, other) }) {
			common = append(common, value)
		}
	}
	return common
}

// isSame tells whether two values are one to JSON Schema, for which 1.0 is 1 and the
// order of members means nothing.
func isSame(a, b lossless.Value) bool {
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case lossless.KindNumber:
		one, err := a.BigInt()
		other, wrong := b.BigInt()
		if err == nil && wrong == nil {
			return one.Cmp(other) == 0
		}
		x, _ := a.Float64()
		y, _ := b.Float64()
		return x == y
	case lossless.KindArray:
		for i, element := range a.Elements() {
			if !isSame(element, b.Index(i)) {
				return false
			}
		}
		return true
	case lossless.KindObject:
		for name, member := range a.Members() {
			if !isSame(member, b.Get(name)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// bothProperties returns the properties of two schemas. One that both have must
// satisfy both.
func bothProperties(a, b []property) []property {
	out := slices.Clone(a)
	for _, p := range b {
		i := slices.IndexFunc(out, func(q property) bool { return q.name == p.name })
		switch {
		case i < 0:
			out = append(out, p)
		case out[i].schema.pointer == p.schema.pointer:
		case !out[i].schema.says():
			merged := *p.schema
			merged.description = firstText(out[i].schema.description, merged.description)
			out[i].schema = &merged
		case p.schema.says():
			out[i].schema = &schema{
				pointer: out[i].schema.pointer + "&" + p.schema.pointer,
				allOf:   []*schema{out[i].schema, p.schema},
			}
		}
	}
	return out
}
