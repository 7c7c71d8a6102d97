package codemode

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// validator checks values against one schema.
type validator struct {
	schema *jsonschema.Schema
}

// schemaURL is the name that a schema has while it is compiled. Nothing is loaded.
const schemaURL = "thirdrail:///schema"

// newValidator compiles a schema. What the text of a schema may have and a strict
// compiler refuses is made harmless first: references that lead nowhere, and regular
// expressions of another dialect, accept everything, and the server judges.
func newValidator(text lossless.Value) (*validator, error) {
	if text.Kind() != lossless.KindObject {
		if !text.Exists() {
			return nil, errors.New(`there is none; {"type": "object"} is the shortest`)
		}
		return nil, fmt.Errorf("it is a JSON %s; a schema is an object", text.Kind())
	}
	c := cleaner{document: newDocument(text)}
	root, err := c.clean(text, 0)
	if err != nil {
		return nil, err
	}
	var first error
	for _, draft := range draftsFor(text) {
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(draft)
		compiler.UseLoader(noLoader{})
		compiler.UseRegexpEngine(lenientRegexp)
		if err := compiler.AddResource(schemaURL, root); err != nil {
			return nil, plainError(err)
		}
		schema, err := compiler.Compile(schemaURL)
		if err == nil {
			return &validator{schema}, nil
		}
		if first == nil {
			first = plainError(err)
		}
	}
	return nil, first
}

// draftsFor returns the drafts that a schema may be of. One that names none is of
// the newest that accepts it.
func draftsFor(text lossless.Value) []*jsonschema.Draft {
	if text.Get("$schema").Exists() {
		return []*jsonschema.Draft{jsonschema.Draft2020}
	}
	return []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not fetched", url)
}

// anything is a regular expression for those that Go has no word for.
type anything string

func (anything) MatchString(string) bool { return true }
func (a anything) String() string        { return string(a) }

func lenientRegexp(expression string) (jsonschema.Regexp, error) {
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return anything(expression), nil
	}
	return compiled, nil
}

// plainError returns the cause of an error of the compiler in one line.
func plainError(err error) error {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		var violation *jsonschema.ValidationError
		if errors.As(invalid.Err, &violation) {
			fault := deepest(violation)
			return fmt.Errorf("at %s: %s", place("schema", fault.InstanceLocation), expected(fault, nil))
		}
	}
	return errors.New(prose(strings.ReplaceAll(err.Error(), schemaURL, "schema"), 300))
}

// cleaner turns a schema's text into what the compiler takes.
type cleaner struct{ document *document }

func (c cleaner) clean(v lossless.Value, depth int) (any, error) {
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxSchemaDepth)
	}
	switch v.Kind() {
	case lossless.KindObject:
		return c.object(v, depth)
	case lossless.KindArray:
		list := []any{}
		for _, element := range v.Elements() {
			cleaned, err := c.clean(element, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, cleaned)
		}
		return list, nil
	}
	return scalar(v), nil
}

func (c cleaner) object(v lossless.Value, depth int) (any, error) {
	object := map[string]any{}
	for name, member := range v.Members() {
		if ref, err := member.Text(); err == nil && (name == "$ref" || name == "$dynamicRef") && c.leadsNowhere(ref) {
			continue
		}
		if member.Kind() == lossless.KindString && (name == "$id" || name == "id" && depth == 0) {
			continue // references to it are resolved without
		}
		cleaned, err := c.clean(member, depth+1)
		if err != nil {
			return nil, err
		}
		object[name] = cleaned
	}
	if ref, ok := object["$ref"].(string); ok {
		object["$ref"] = c.local(ref)
	}
	if object["nullable"] == true {
		admitNull(object)
	}
	return object, nil
}

// leadsNowhere tells whether a reference can't be found, or leads only to itself.
func (c cleaner) leadsNowhere(ref string) bool {
	if strings.HasPrefix(ref, "https://json-schema.org/") {
		return false
	}
	target := c.document.resolve(ref)
	seen := map[string]bool{}
	for s := target; s != nil; s = c.document.resolve(s.ref) {
		if seen[s.pointer] {
			return true
		}
		seen[s.pointer] = true
		if s.ref == "" {
			return false
		}
	}
	return target == nil
}

// local returns a reference by way of a name as one by place.
func (c cleaner) local(ref string) string {
	if s := c.document.resolve(ref); s != nil {
		return "#" + (&urlPath{s.pointer}).String()
	}
	return ref
}

type urlPath struct{ pointer string }

func (p *urlPath) String() string {
	var b strings.Builder
	for i := range len(p.pointer) {
		if c := p.pointer[i]; c > 0x20 && c < 0x7F && !strings.ContainsRune(`%"<>\^{|}`+"`#", rune(c)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// admitNull applies OpenAPI's keyword nullable.
func admitNull(object map[string]any) {
	null := map[string]any{"type": "null"}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if forms, ok := object[keyword].([]any); ok {
			object[keyword] = append(forms, null)
		}
	}
	for _, keyword := range []string{"$ref", "allOf", "const"} {
		if value, ok := object[keyword]; ok {
			// Beside null, which would break it, it is one of two forms.
			delete(object, keyword)
			either := map[string]any{"anyOf": []any{map[string]any{keyword: value}, null}}
			if all, ok := object["allOf"].([]any); ok {
				object["allOf"] = append(all, either)
			} else {
				object["allOf"] = []any{either}
			}
		}
	}
	switch kinds := object["type"].(type) {
	case string:
		object["type"] = []any{kinds, "null"}
	case []any:
		for _, kind := range kinds {
			if kind == "null" {
				return
			}
		}
		object["type"] = append(kinds, "null")
	}
	if values, ok := object["enum"].([]any); ok {
		for _, value := range values {
			if value == nil {
				return
			}
		}
		object["enum"] = append(values, nil)
	}
}

// maxValueDepth is how deep values may be nested where they are checked. Below it
// they are taken as they are.
const maxValueDepth = 200

// decode returns a value in the form that the validator reads, exact numbers
// included.
func decode(v lossless.Value, depth int) any {
	switch v.Kind() {
	case lossless.KindObject:
		object := map[string]any{}
		if depth < maxValueDepth {
			for name, member := range v.Members() {
				object[name] = decode(member, depth+1)
			}
		}
		return object
	case lossless.KindArray:
		list := []any{}
		if depth < maxValueDepth {
			for _, element := range v.Elements() {
				list = append(list, decode(element, depth+1))
			}
		}
		return list
	}
	return scalar(v)
}

// scalar returns a value that is no container. Numbers with an exponent are spelled
// out as the double that they are, since 1e-999999999 would take a gigabyte.
func scalar(v lossless.Value) any {
	switch v.Kind() {
	case lossless.KindBool:
		return v.String() == "true"
	case lossless.KindString:
		s, err := v.Text()
		if err != nil {
			_ = json.Unmarshal(v.Bytes(), &s) // a lone surrogate becomes U+FFFD
		}
		return s
	case lossless.KindNumber:
		number := v.String()
		if strings.ContainsAny(number, "eE") {
			double, _ := v.Float64()
			number = strconv.FormatFloat(double, 'g', -1, 64)
		}
		return json.Number(number)
	}
	return nil
}

// check returns the violation that tells most, or nil.
func (v *validator) check(value any) *jsonschema.ValidationError {
	var violation *jsonschema.ValidationError
	if err := v.schema.Validate(value); errors.As(err, &violation) {
		return deepest(violation)
	}
	return nil
}
