package codemode

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// deepest returns the cause of a violation that is furthest inside the value: of
// the branches of a union, the one that came closest.
func deepest(v *jsonschema.ValidationError) *jsonschema.ValidationError {
	switch v.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return closest(v)
	}
	best := v
	for i, cause := range v.Causes {
		if found := deepest(cause); i == 0 || len(found.InstanceLocation) > len(best.InstanceLocation) {
			best = found
		}
	}
	return best
}

func closest(v *jsonschema.ValidationError) *jsonschema.ValidationError {
	best, further := v, 0
	for _, cause := range v.Causes {
		found := deepest(cause)
		if len(found.InstanceLocation) > len(v.InstanceLocation) {
			further++
			best = found
		}
	}
	if further == 1 {
		return best
	}
	return v
}

var indexStep = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

// place writes where a value stands, as Python would: order["item"][0].
func place(root string, steps []string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, step := range steps {
		if indexStep.MatchString(step) {
			b.WriteString("[" + step + "]")
		} else {
			b.WriteString("[" + quote(prose(step, 60)) + "]")
		}
	}
	return b.String()
}

// expected says what a violation wanted, and what was there in the whole value.
func expected(v *jsonschema.ValidationError, root any) string {
	switch k := v.ErrorKind.(type) {
	case *kind.Type:
		return "expected " + alternatives(pythonKinds(k.Want)) + ", got " + kindAt(root, v.InstanceLocation, k.Got)
	case *kind.Enum:
		return "expected " + alternatives(shown(k.Want)) + ", got " + show(k.Got) + meant(k.Want, k.Got)
	case *kind.Const:
		return "expected " + show(k.Want) + ", got " + show(k.Got)
	case *kind.Required:
		return "expected " + keys(k.Missing) + plural(len(k.Missing), ", which is missing", ", which are missing")
	case *kind.AdditionalProperties:
		return "expected no further keys, got " + strings.Join(quoted(k.Properties), ", ")
	case *kind.Minimum:
		return "expected at least " + rational(k.Want) + ", got " + rational(k.Got)
	case *kind.Maximum:
		return "expected at most " + rational(k.Want) + ", got " + rational(k.Got)
	case *kind.ExclusiveMinimum:
		return "expected more than " + rational(k.Want) + ", got " + rational(k.Got)
	case *kind.ExclusiveMaximum:
		return "expected less than " + rational(k.Want) + ", got " + rational(k.Got)
	case *kind.MultipleOf:
		return "expected a multiple of " + rational(k.Want) + ", got " + rational(k.Got)
	case *kind.Pattern:
		return "expected text that matches " + prose(k.Want, 100) + ", got " + show(k.Got)
	case *kind.Format:
		return "expected text in the format " + k.Want + ", got " + show(k.Got)
	case *kind.AnyOf, *kind.OneOf:
		if len(v.Causes) == 0 {
			return "expected a value that fits exactly one of the forms, got one that fits several"
		}
		return "expected one of: " + branches(v, root)
	case *kind.Not:
		return "expected something else: the schema says not"
	case *kind.FalseSchema:
		return "expected nothing: no value is legal here"
	}
	return countExpected(v)
}

// countExpected says what a violation of a number of things wanted.
func countExpected(v *jsonschema.ValidationError) string {
	count := func(word, what string, want, got int) string {
		return fmt.Sprintf("expected at %s %d %s, got %d", word, want, plural(want, what, what+"s"), got)
	}
	switch k := v.ErrorKind.(type) {
	case *kind.MinLength:
		return count("least", "character", k.Want, k.Got)
	case *kind.MaxLength:
		return count("most", "character", k.Want, k.Got)
	case *kind.MinItems:
		return count("least", "item", k.Want, k.Got)
	case *kind.MaxItems:
		return count("most", "item", k.Want, k.Got)
	case *kind.MinProperties:
		return count("least", "key", k.Want, k.Got)
	case *kind.MaxProperties:
		return count("most", "key", k.Want, k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("expected no two items alike, got [%d] and [%d] alike", k.Duplicates[0], k.Duplicates[1])
	case *kind.DependentRequired:
		return "expected " + keys(k.Missing) + " beside " + quote(prose(k.Prop, 60))
	case *kind.Dependency:
		return "expected " + keys(k.Missing) + " beside " + quote(prose(k.Prop, 60))
	}
	return prose("expected what the schema says: "+v.Error(), 200)
}

// branches says what each branch of a union wanted.
func branches(v *jsonschema.ValidationError, root any) string {
	var parts []string
	for i, cause := range v.Causes {
		if i == 6 {
			parts = append(parts, "…")
			break
		}
		found := deepest(cause)
		words := strings.TrimPrefix(expected(found, root), "expected ")
		if inner := found.InstanceLocation[len(v.InstanceLocation):]; len(inner) > 0 {
			words = place("", inner) + " " + words
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, " | ")
}

var pythonNames = map[string]string{
	"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "array": "list", "object": "dict",
}

// kindAt returns the type of what stands at a place, which the validator knows as a
// number where it is an integer.
func kindAt(root any, steps []string, otherwise string) string {
	for _, step := range steps {
		switch container := root.(type) {
		case map[string]any:
			root = container[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(container) {
				return pythonKind(otherwise)
			}
			root = container[i]
		}
	}
	if n, ok := root.(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
		return "int"
	}
	return pythonKind(otherwise)
}

func pythonKind(name string) string {
	if known, ok := pythonNames[name]; ok {
		return known
	}
	return name
}

func pythonKinds(names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, pythonKind(name))
	}
	if i := slices.Index(list, "None"); i >= 0 {
		list = append(slices.Delete(list, i, i+1), "None")
	}
	return list
}

func alternatives(list []string) string {
	if len(list) > 12 {
		return strings.Join(list[:8], " | ") + fmt.Sprintf(" | … (%d in all)", len(list))
	}
	return strings.Join(list, " | ")
}

func keys(names []string) string {
	return plural(len(names), "the key ", "the keys ") + strings.Join(quoted(names), ", ")
}

// meant suggests one of many values, whose list isn't shown whole.
func meant(values []any, got any) string {
	word, ok := got.(string)
	if !ok || len(values) <= 12 {
		return ""
	}
	var texts []string
	for _, value := range values[:min(len(values), 1000)] {
		if text, ok := value.(string); ok {
			texts = append(texts, text)
		}
	}
	if name := nearest(word, texts); name != "" {
		return ". Did you mean " + show(name) + "?"
	}
	return ""
}

func quoted(names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, quote(prose(name, 60)))
	}
	return list
}

func shown(values []any) []string {
	var list []string
	for _, value := range values {
		list = append(list, show(value))
	}
	return list
}

// show writes a decoded value in a few characters, as Python does.
func show(value any) string {
	switch value := value.(type) {
	case nil:
		return "None"
	case bool:
		if value {
			return "True"
		}
		return "False"
	case string:
		return quote(cut(value, 60))
	case json.Number:
		return prose(value.String(), 40)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "a value"
	}
	return prose(string(text), 80)
}

func rational(r *big.Rat) string {
	if r.IsInt() {
		return cut(r.Num().String(), 40)
	}
	double, _ := r.Float64()
	return strconv.FormatFloat(double, 'g', -1, 64)
}
