package codemode

import (
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// intricateSchemas refer to themselves in every way that could go on for ever.
var intricateSchemas = []string{
	`{"$ref":"#"}`, `{"allOf":[{"$ref":"#"}]}`, `{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`, `{"oneOf":[{"allOf":[{"$ref":"#"},{"$ref":"#"}]}]}`,
	`{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"x":{}},"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/A","properties":{"y":{}}}]}}}`,
	`{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"x":{}},"anyOf":[{"$ref":"#/$defs/A"},{"properties":{"y":{}},"anyOf":[{"$ref":"#/$defs/A"},{"properties":{"z":{"$ref":"#/$defs/A"}}}]}]}}}`,
	`{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`,
	`{"properties":{"a":{"items":{"$ref":"#/properties/a"}}}}`, `{"properties":{"a":{"additionalProperties":{"$ref":"#/properties/a"}}}}`,
	`{"properties":{"a":{"prefixItems":[{"$ref":"#/properties/a"},{"$ref":"#/properties/a"}]}}}`,
	`{"if":{"$ref":"#"},"then":{"$ref":"#"},"else":{"$ref":"#"},"not":{"$ref":"#"}}`, `{"$dynamicRef":"#x","$dynamicAnchor":"x"}`,
	`{"properties":{"a":{"allOf":[{"$ref":"#/properties/a"},{"allOf":[{"$ref":"#/properties/a"},{"$ref":"#/properties/b"}]}]},"b":{"allOf":[{"$ref":"#/properties/a"},{"type":"string"}]}}}`,
	`{"properties":{"a":{"type":["object","null","string"],"properties":{"b":{"$ref":"#/properties/a"}}}}}`,
	`{"properties":{"a":{"dependentSchemas":{"b":{"$ref":"#/properties/a"}},"properties":{"c":{"$ref":"#/properties/a"}}}}}`,
}

func TestIntricateSchemas(t *testing.T) {
	for _, text := range intricateSchemas {
		for _, schema := range []string{text, `{"type":"object","properties":{"x":` + text + `}}`} {
			one := Tool{Name: "f", Handler: echo, InputSchema: parse(t, schema), OutputSchema: parse(t, schema)}
			s, err := New(nil, one)
			if err != nil {
				continue // a schema of which nothing can be made is refused
			}
			if source := s.Source(); len(source) > 2*describedBytes {
				t.Errorf("%s: %d bytes", schema, len(source))
			}
			_, _ = s.catalogue.groups[0].tools[0].bind(parse(t, `[[],{"x":{"a":{"b":{"c":[1,null]}}}}]`))
		}
	}
}

// FuzzSchema: no schema and no arguments make a panic or go on for ever, and a
// description never shows a character that isn't plain.
func FuzzSchema(f *testing.F) {
	for _, cases := range readCorpus(f) {
		for _, c := range cases {
			f.Add(string(c.Input), `{"a":1}`)
		}
	}
	for _, text := range intricateSchemas {
		f.Add(text, `[1]`)
	}
	f.Fuzz(func(t *testing.T, schema, args string) {
		parsed, err := lossless.Parse([]byte(schema), lossless.Options{})
		if err != nil {
			return
		}
		s, err := New(nil, Tool{Name: "f", Handler: echo, InputSchema: parsed, OutputSchema: parsed})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		for _, r := range s.Source() {
			if r != '\n' && r != ' ' && !isPlain(r) {
				t.Errorf("the declarations have %U", r)
			}
		}
		call, err := lossless.Parse([]byte("[["+args+"],{}]"), lossless.Options{})
		if err == nil {
			_, _ = s.catalogue.groups[0].tools[0].bind(call)
		}
	})
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	s := newSet(t, hostileTools(t)[:4]...)
	first := s.Source()
	done := make(chan string)
	for range 4 {
		go func() {
			s.Search("t", 5)
			s.Instructions()
			_, _ = s.Describe("x")
			done <- s.Source()
		}()
	}
	for range 4 {
		if got := <-done; got != first {
			t.Error("the declarations differ")
		}
	}
}
