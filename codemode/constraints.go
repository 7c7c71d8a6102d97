package codemode

import (
	"fmt"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// words reads a keyword that only a comment can say.
func (p parser) words(name string, v lossless.Value) {
	s := p.schema
	note := func(format string, args ...any) { s.notes = append(s.notes, fmt.Sprintf(format, args...)) }
	switch name {
	case "pattern":
		s.limits = append(s.limits, "matches "+prose(text(v), 80))
	case "multipleOf":
		if v.String() != "1" {
			s.limits = append(s.limits, "a multiple of "+v.String())
		}
	case "uniqueItems":
		if v.String() == "true" {
			s.limits = append(s.limits, "no two alike")
		}
	case "contentMediaType":
		s.limits = append(s.limits, prose(text(v), 60))
	case "contains":
		note("at least one item is %s", p.brief(v))
	case "minContains", "maxContains":
		note("%s %s of those items", map[string]string{"minContains": "at least", "maxContains": "at most"}[name], prose(v.String(), 20))
	case "contentSchema":
		note("holds: %s", p.brief(v))
	case "examples":
		var shown []string
		for i, example := range v.Elements() {
			if i < 2 && len(example.Bytes()) <= 60 {
				shown = append(shown, literal(example))
			}
		}
		if len(shown) > 0 {
			note("such as %s", prose(strings.Join(shown, ", "), 120))
		}
	case "propertyNames":
		note("keys: %s", p.brief(v))
	case "not":
		note("not: %s", p.brief(v))
	case "if":
		p.condition(v)
	case "dependentRequired", "dependencies":
		p.dependencies(name, v)
	case "deprecated":
		if v.String() == "true" {
			note("deprecated")
		}
	case "readOnly":
		if v.String() == "true" {
			note("read only")
		}
	case "writeOnly":
		if v.String() == "true" {
			note("write only")
		}
	}
}

// condition says what if, then and else ask for.
func (p parser) condition(v lossless.Value) {
	for _, branch := range []struct{ keyword, word string }{{"then", "if"}, {"else", "unless"}} {
		if then := p.value.Get(branch.keyword); then.Exists() {
			p.schema.notes = append(p.schema.notes, fmt.Sprintf("%s %s: %s", branch.word, p.brief(v), p.brief(then)))
		}
	}
}

// dependencies reads the members of dependentRequired, and of draft-07's
// dependencies, which can be schemas as well.
func (p parser) dependencies(keyword string, v lossless.Value) {
	for name, member := range v.Members() {
		if member.Kind() == lossless.KindArray {
			p.schema.notes = append(p.schema.notes, fmt.Sprintf("%s needs %s",
				prose(name, 40), prose(strings.Join(texts(member), ", "), 80)))
			continue
		}
		p.schema.notes = append(p.schema.notes, fmt.Sprintf("if %s is given: %s", prose(name, 40), p.brief(member)))
		p.schema.conditional = append(p.schema.conditional, p.child(member, keyword, name))
	}
}

// brief says in a few words what a schema asks for, or shows its JSON.
func (p parser) brief(v lossless.Value) string {
	var parts []string
	for name, member := range v.Members() {
		switch name {
		case "required":
			parts = append(parts, strings.Join(texts(member), ", ")+" given")
		case "properties":
			for property, inner := range member.Members() {
				if c := inner.Get("const"); c.Exists() && inner.Len() == 1 {
					parts = append(parts, property+" is "+literal(c))
				} else if inner.String() != "true" && inner.Len() > 0 {
					parts = append(parts, property+" "+inner.String())
				}
			}
		case "const":
			parts = append(parts, literal(member))
		case "type":
			parts = append(parts, "type "+strings.Join(append(texts(member), text(member)), " "))
		case "pattern":
			parts = append(parts, "match "+text(member))
		default:
			parts = append(parts, name+" "+member.String())
		}
	}
	if len(parts) == 0 {
		return prose(v.String(), 80)
	}
	return prose(strings.Join(parts, ", "), 120)
}

// ranges turns pairs of limits into words.
func (p parser) ranges() {
	s := p.schema
	low, lowOpen := p.bound("minimum", "exclusiveMinimum")
	high, highOpen := p.bound("maximum", "exclusiveMaximum")
	switch {
	case low != "" && high != "" && !lowOpen && !highOpen:
		s.limits = append(s.limits, low+".."+high)
	default:
		if low != "" {
			s.limits = append(s.limits, sign(">", lowOpen)+" "+low)
		}
		if high != "" {
			s.limits = append(s.limits, sign("<", highOpen)+" "+high)
		}
	}
	for _, pair := range []struct{ min, max, what string }{
		{"minLength", "maxLength", "character"},
		{"minItems", "maxItems", "item"},
		{"minProperties", "maxProperties", "key"},
	} {
		low, high := p.value.Get(pair.min), p.value.Get(pair.max)
		lowText, highText := low.String(), high.String()
		what := func(number string) string {
			if number == "1" {
				return "1 " + pair.what
			}
			return number + " " + pair.what + "s"
		}
		switch {
		case low.Kind() == lossless.KindNumber && lowText == highText:
			s.limits = append(s.limits, "exactly "+what(lowText))
		case low.Kind() == lossless.KindNumber && high.Kind() == lossless.KindNumber:
			s.limits = append(s.limits, lowText+".."+what(highText))
		case low.Kind() == lossless.KindNumber && lowText != "0":
			s.limits = append(s.limits, "at least "+what(lowText))
		case high.Kind() == lossless.KindNumber:
			s.limits = append(s.limits, "at most "+what(highText))
		}
	}
}

// bound returns a limit of numbers. In draft-04 the exclusive keyword is a bool.
func (p parser) bound(inclusive, exclusive string) (value string, open bool) {
	if v := p.value.Get(exclusive); v.Kind() == lossless.KindNumber {
		return v.String(), true
	}
	if v := p.value.Get(inclusive); v.Kind() == lossless.KindNumber {
		return v.String(), p.value.Get(exclusive).String() == "true"
	}
	return "", false
}

func sign(relation string, open bool) string {
	if open {
		return relation
	}
	return relation + "="
}

// literal returns a JSON value as Python writes it.
func literal(v lossless.Value) string {
	switch v.Kind() {
	case lossless.KindNull, lossless.KindAbsent:
		return "None"
	case lossless.KindBool:
		if v.String() == "true" {
			return "True"
		}
		return "False"
	case lossless.KindString:
		return quote(text(v))
	case lossless.KindArray:
		var parts []string
		for _, element := range v.Elements() {
			parts = append(parts, literal(element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case lossless.KindObject:
		var parts []string
		for name, member := range v.Members() {
			parts = append(parts, quote(name)+": "+literal(member))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v.String()
}
