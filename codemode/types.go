package codemode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// typ is a type as Python writes it, and what only words can say about it.
type typ struct {
	text  string
	null  bool // None is legal too
	notes []string
}

// String returns the type's expression.
func (t typ) String() string {
	switch {
	case !t.null:
		return t.text
	case t.text == "":
		return "None"
	case t.text == "Any":
		return "Any"
	}
	return t.text + " | None"
}

// detail says how much declarations show.
type detail struct {
	prose  bool // descriptions of parameters and keys
	types  int  // how many types are declared
	fields int  // how many parameters and keys are shown
}

const (
	// maxAlternatives is the longest union and the longest Literal.
	maxAlternatives = 30
	// maxDepth is how deep objects without a name of their own are declared, and
	// describedDepth where a tool is asked for by name.
	maxDepth       = 6
	describedDepth = 24
	// fewValues is how many values of a longer enum are shown, and wholeValues how
	// many characters of them where a tool is asked for by name.
	fewValues   = 5
	wholeValues = 64 << 10
	// maxNesting and maxUnionMerges end schemas that refer to themselves inside
	// unions, where each round makes a new type.
	maxNesting     = 40
	maxUnionMerges = 500
)

// typer turns the schemas of one document into types, and collects those that need
// a declaration of their own, in the order in which they are first used.
type typer struct {
	document *document
	detail   detail
	more     string // where the reader finds what is left out
	taken    func(name string) bool
	given    map[string]string // names of declared types by pointer
	names    map[string]bool
	queue    []declared

	depth int // how deep objects are declared
	room  int // characters for long lists of values, shown whole as far as it goes

	nesting int // of types in one another
	merges  int // of the forms of unions
}

// declared is a type that has a name.
type declared struct {
	name   string
	schema *schema
	place  []string
	depth  int
}

// of returns the type of a schema. Place are the words that a type in this place is
// named by.
func (t *typer) of(s *schema, place []string, depth int) typ {
	if s == nil {
		return typ{text: "Any", notes: []string{"any JSON value"}}
	}
	if target := t.reference(s); target != nil {
		return t.referred(s, target, place)
	}
	if s.ref != "" || s.dynamicRef != "" {
		if !s.ownType() {
			return typ{text: "Any", notes: append(t.about(s), unresolved(s))}
		}
	}
	if len(s.allOf) == 1 && !s.ownType() && len(s.required) == 0 {
		inner := t.of(s.allOf[0], place, depth)
		inner.notes = slices.Concat(inner.notes, t.about(s))
		inner.null = inner.null || s.nullable
		return inner
	}
	flat := t.document.flatten(s)
	result := t.plain(flat, place, depth)
	result.notes = slices.Concat(t.about(flat), result.notes)
	result.null = result.null || flat.nullable
	return result
}

// reference returns what a schema consists of, if that is nothing but a reference.
func (t *typer) reference(s *schema) *schema {
	target := t.document.target(s)
	if target == nil || !t.document.old && (s.ownType() || len(s.required) > 0 || len(s.allOf) > 0) {
		return nil
	}
	return target
}

// ownType tells whether a schema says something about its type beside a reference.
func (s *schema) ownType() bool {
	own := *s
	own.ref, own.dynamicRef, own.allOf, own.required = "", "", nil, nil
	return own.says()
}

// referred returns the type that a reference leads to.
func (t *typer) referred(s, target *schema, place []string) typ {
	result := t.named(target, place)
	if !t.document.old {
		result.notes = slices.Concat(t.about(s), result.notes)
		result.null = result.null || s.nullable
	}
	return result
}

// named returns the name of a schema that has a place of its own in the document,
// and has it declared.
func (t *typer) named(s *schema, place []string) typ {
	if name, ok := t.given[s.pointer]; ok {
		return typ{text: name}
	}
	words := place[:min(len(place), 1)]
	if at := strings.LastIndexByte(s.pointer, '/'); at >= 0 {
		words = []string{unescape(s.pointer[at+1:])}
	}
	name, ok := t.declare(s.pointer, s, words, 0)
	if !ok {
		return typ{text: "Any", notes: []string{"a " + typeName(words...) + t.more}}
	}
	return typ{text: name}
}

// declare gives a schema a name, unless there are enough of them.
func (t *typer) declare(key string, s *schema, place []string, depth int) (string, bool) {
	if len(t.queue) >= t.detail.types {
		return "", false
	}
	base := typeName(place...)
	name := base
	for n := 2; t.names[name] || t.taken(name); n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	t.names[name] = true
	t.given[key] = name
	t.queue = append(t.queue, declared{name, s, place, depth})
	return name, true
}

// plain returns the type of a schema without references, and without what stands
// in about.
func (t *typer) plain(s *schema, place []string, depth int) typ {
	t.nesting++
	defer func() { t.nesting-- }()
	switch {
	case t.nesting > maxNesting || t.merges > maxUnionMerges:
		return typ{text: "Any", notes: []string{"too intricate" + t.more}}
	case s.never:
		return typ{text: "Any", notes: []string{"nothing is legal here"}}
	case s.constant.Exists():
		return t.literals([]lossless.Value{s.constant}, s.types)
	case s.enum != nil:
		return t.literals(s.enum, s.types)
	case len(s.anyOf)+len(s.oneOf) > 0:
		return t.union(s, place, depth)
	}
	kinds := s.types
	if len(kinds) == 0 {
		kinds = s.impliedTypes()
	}
	if len(kinds) == 0 {
		return typ{text: "Any", notes: []string{"any JSON value"}}
	}
	var parts []typ
	for _, kind := range kinds {
		parts = append(parts, t.kind(kind, s, place, depth))
	}
	return join(parts)
}

// impliedTypes are the types that keywords speak of where none is named.
func (s *schema) impliedTypes() []string {
	switch {
	case len(s.properties) > 0 || len(s.patterns) > 0 || s.additional != nil || len(s.required) > 0:
		return []string{"object"}
	case len(s.prefix) > 0 || s.items != nil:
		return []string{"array"}
	}
	return nil
}

func (t *typer) kind(kind string, s *schema, place []string, depth int) typ {
	switch kind {
	case "null":
		return typ{null: true}
	case "boolean":
		return typ{text: "bool"}
	case "integer":
		return typ{text: "int"}
	case "number":
		return typ{text: "float"}
	case "string":
		return typ{text: "str"}
	case "array":
		return t.array(s, place, depth)
	case "object":
		return t.object(s, place, depth)
	}
	return typ{text: "Any", notes: []string{"unknown type " + quote(prose(kind, 40))}}
}

// join returns the union of types.
func join(parts []typ) typ {
	var result typ
	var texts, literal []string
	for _, part := range parts {
		result.null = result.null || part.null
		for _, note := range part.notes {
			if !slices.Contains(result.notes, note) {
				result.notes = append(result.notes, note)
			}
		}
		if inner, ok := strings.CutPrefix(part.text, "Literal["); ok && strings.HasSuffix(inner, "]") && !strings.Contains(inner, "] | ") {
			if literal == nil {
				texts = append(texts, "")
			}
			literal = append(literal, strings.TrimSuffix(inner, "]"))
			continue
		}
		if part.text != "" && !slices.Contains(texts, part.text) {
			texts = append(texts, part.text)
		}
	}
	if literal != nil {
		texts[slices.Index(texts, "")] = "Literal[" + strings.Join(literal, ", ") + "]"
	}
	if slices.Contains(texts, "float") {
		texts = slices.DeleteFunc(texts, func(text string) bool { return text == "int" })
	}
	if slices.Contains(texts, "Any") {
		texts = []string{"Any"}
	}
	if len(texts) > maxAlternatives {
		result.notes = append(result.notes, fmt.Sprintf("one of %d types: %s, …", len(texts), strings.Join(texts[:8], ", ")))
		texts = []string{"Any"}
	}
	result.text = strings.Join(texts, " | ")
	return result
}

// literals returns the type of a few values.
func (t *typer) literals(values []lossless.Value, types []string) typ {
	var result typ
	var exact []string
	others := []typ{}
	for _, v := range values {
		kind := kindOf(v)
		if len(types) > 0 && !slices.Contains(types, kind) && !(kind == "integer" && slices.Contains(types, "number")) {
			continue
		}
		switch kind {
		case "null":
			result.null = true
		case "string", "integer", "boolean":
			exact = append(exact, literal(v))
		case "number":
			others = append(others, typ{text: "float", notes: []string{literal(v)}})
		case "array":
			others = append(others, typ{text: "list[Any]", notes: []string{"exactly " + prose(literal(v), 80)}})
		case "object":
			others = append(others, typ{text: "dict[str, Any]", notes: []string{"exactly " + prose(literal(v), 80)}})
		}
	}
	if size := len(strings.Join(exact, "")); len(exact) > maxAlternatives || size > 2000 {
		return t.manyLiterals(exact, values, result.null)
	}
	if len(exact) > 0 {
		others = append([]typ{{text: "Literal[" + strings.Join(exact, ", ") + "]"}}, others...)
	}
	if len(others) == 0 && !result.null {
		return typ{text: "Any", notes: []string{"no value is legal"}}
	}
	joined := join(others)
	joined.null = joined.null || result.null
	return joined
}

// manyLiterals shows the first of many values in a comment.
func (t *typer) manyLiterals(exact []string, values []lossless.Value, null bool) typ {
	kinds := map[string]string{"string": "str", "integer": "int", "boolean": "bool"}
	text := kinds[kindOf(values[0])]
	for _, v := range values {
		if kind := kinds[kindOf(v)]; kind != text && kindOf(v) != "null" {
			text = "Any"
		}
	}
	shown := strings.Join(exact, ", ")
	if len(shown) <= t.room {
		t.room -= len(shown)
		shown = prose(shown, len(shown))
	} else {
		shown = prose(strings.Join(exact[:min(len(exact), fewValues)], ", "), 20*fewValues) + ", …" + t.more
	}
	return typ{text: firstText(text, "Any"), null: null, notes: []string{fmt.Sprintf("one of %d: %s", len(exact), shown)}}
}

// kindOf returns the JSON Schema type of a value.
func kindOf(v lossless.Value) string {
	switch v.Kind() {
	case lossless.KindNumber:
		if _, err := v.BigInt(); err == nil && !strings.ContainsAny(v.String(), ".eE") {
			return "integer"
		}
		return "number"
	case lossless.KindBool:
		return "boolean"
	}
	return v.Kind().String()
}
