package codemode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// mergeCases lists schemas and what is left of them once their references and allOf
// are folded in, as summary writes it.
var mergeCases = []struct{ name, schema, want string }{
	{"nothing to fold", `{"type":"string","minLength":1}`, "types string; limits at least 1 character"},
	{"one part", `{"allOf":[{"type":"string"}]}`, "types string"},
	{"types in common", `{"type":["string","null","integer"],"allOf":[{"type":["null","string"]}]}`, "types string, null"},
	{"an integer is a number", `{"allOf":[{"type":"number"},{"type":"integer"}]}`, "types integer"},
	{"and the other way", `{"allOf":[{"type":["integer","string"]},{"type":"number"}]}`, "types integer"},
	{"no type in common", `{"allOf":[{"type":"string"},{"type":"object"}]}`, "types string; notes two types at once: nothing fits"},
	{"values in common", `{"enum":[1,"a",null],"allOf":[{"enum":["a",1.0,true]}]}`, `enum 1, "a"`},
	{"no value in common", `{"enum":["a"],"allOf":[{"enum":["b"]}]}`, "enum "},
	{"the first const stays", `{"const":1,"allOf":[{"const":2}]}`, "const 1"},
	{"properties of all parts, in their order", `{"properties":{"z":{"type":"string"}},"allOf":[{"properties":{"a":true,"z":{"type":"string"}},"required":["a"]},{"properties":{"m":{}},"required":["a","m"]}]}`,
		"properties z both, a, m; required a, m"},
	{"a property of which one part says nothing", `{"properties":{"a":{"description":"why"}},"allOf":[{"properties":{"a":{"type":"integer"}}}]}`, "properties a why"},
	{"required beside a reference", `{"$ref":"#/$defs/B","required":["b"]}`, "properties b; required b"},
	{"a reference to a reference", `{"$ref":"#/$defs/R"}`, "properties b"},
	{"never", `{"allOf":[{"type":"string"},false]}`, "never; types string"},
	{"nullable", `{"allOf":[{"type":"string","nullable":true}]}`, "types string; nullable"},
	{"limits of all parts", `{"minimum":1,"allOf":[{"maximum":5},{"multipleOf":2}]}`, "limits >= 1, <= 5, a multiple of 2"},
	{"the nearest description", `{"description":"outer","allOf":[{"description":"inner","format":"uuid"},{"format":"date"}]}`, "description outer; format uuid"},
	{"the first default", `{"allOf":[{"default":1},{"default":2}]}`, "default 1"},
	{"one union", `{"allOf":[{"anyOf":[{"type":"string"},{"type":"null"}]}]}`, "anyOf 2"},
	{"two unions", `{"anyOf":[{"type":"string"}],"allOf":[{"oneOf":[{"type":"string"},{"type":"null"}]}]}`, "anyOf 1; notes and one of further forms"},
	{"items", `{"allOf":[{"items":{"type":"string"}},{"prefixItems":[{"type":"string"}]}]}`, "items; prefix 1"},
	{"further keys", `{"allOf":[{"additionalProperties":false},{"patternProperties":{"^x":{}}}]}`, "additional; patterns ^x"},
	{"not found", `{"$ref":"#/$defs/None","type":"integer"}`, `types integer; notes unresolved ref "#/$defs/None"`},
	{"itself", `{"$ref":"#/properties/x"}`, "notes refers to itself"},
	{"itself, by a part", `{"type":"string","allOf":[{"$ref":"#/properties/x"}]}`, "types string; notes refers to itself"},
}

// summary writes what a schema says, without what it doesn't.
func summary(s *schema) string {
	var parts []string
	add := func(there bool, format string, args ...any) {
		if there {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	var values, properties, patterns []string
	for _, v := range s.enum {
		values = append(values, v.String())
	}
	for _, p := range s.properties {
		name := p.name
		if len(p.schema.allOf) > 0 {
			name += " both"
		}
		properties = append(properties, strings.TrimSpace(name+" "+p.schema.description))
	}
	for _, p := range s.patterns {
		patterns = append(patterns, p.name)
	}
	join := func(list []string) string { return strings.Join(list, ", ") }
	add(s.never, "never")
	add(s.types != nil, "types %s", join(s.types))
	add(s.nullable, "nullable")
	add(s.enum != nil, "enum %s", join(values))
	add(s.constant.Exists(), "const %s", s.constant)
	add(properties != nil, "properties %s", join(properties))
	add(s.required != nil, "required %s", join(s.required))
	add(s.items != nil, "items")
	add(s.prefix != nil, "prefix %d", len(s.prefix))
	add(s.additional != nil, "additional")
	add(patterns != nil, "patterns %s", join(patterns))
	add(s.anyOf != nil, "anyOf %d", len(s.anyOf))
	add(s.oneOf != nil, "oneOf %d", len(s.oneOf))
	add(s.description != "", "description %s", s.description)
	add(s.format != "", "format %s", s.format)
	add(s.fallback.Exists(), "default %s", s.fallback)
	add(s.limits != nil, "limits %s", join(s.limits))
	add(s.notes != nil, "notes %s", join(slices.Compact(s.notes)))
	return strings.Join(parts, "; ")
}

func TestFlatten(t *testing.T) {
	for _, c := range mergeCases {
		d := newDocument(parse(t, `{"properties":{"x":`+c.schema+`},"$defs":{"B":{"properties":{"b":{"type":"integer"}}},"R":{"$ref":"#/$defs/B"}}}`))
		s := d.at("/properties/x")
		before := summary(s)
		if diff := cmp.Diff(c.want, summary(d.flatten(s))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if after := summary(s); after != before {
			t.Errorf("%s: the schema itself is changed, from %q to %q", c.name, before, after)
		}
	}
}

// TestOldReferencesAreAlone: before 2019-09, what stands beside a $ref says nothing.
func TestOldReferencesAreAlone(t *testing.T) {
	text := `{"$schema":%q,"properties":{"x":{"$ref":"#/definitions/N","type":"string","description":"beside"}},"definitions":{"N":{"type":"integer"}}}`
	for version, want := range map[string]string{
		"http://json-schema.org/draft-07/schema#":      "types integer",
		"http://json-schema.org/draft-04/schema#":      "types integer",
		"https://json-schema.org/draft/2020-12/schema": "types string; description beside; notes two types at once: nothing fits",
	} {
		d := newDocument(parse(t, fmt.Sprintf(text, version)))
		if got := summary(d.flatten(d.at("/properties/x"))); got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}

func TestCommonTypes(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"string", "", "string"},
		{"", "null string", "null string"},
		{"string null", "null", "null"},
		{"number string", "integer", "integer"},
		{"integer", "number", "integer"},
		{"string", "object", ""},
	} {
		if got := strings.Join(commonTypes(strings.Fields(c.a), strings.Fields(c.b)), " "); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestCommonValues(t *testing.T) {
	values := func(text string) (list []lossless.Value) {
		if text == "" {
			return nil
		}
		for _, v := range parse(t, text).Elements() {
			list = append(list, v)
		}
		if list == nil {
			list = []lossless.Value{}
		}
		return list
	}
	for _, c := range []struct{ a, b, want string }{
		{"", `["a"]`, `["a"]`},
		{`["a"]`, "", `["a"]`},
		{`[1,"1",null]`, `[null,"1"]`, `["1",null]`},
		{`[9007199254740993]`, `[9007199254740992]`, `[]`},
		{`[]`, `[1]`, `[]`},
		{`[{"a":1,"b":[2]}]`, `[{"b":[2],"a":1}]`, `[{"a":1,"b":[2]}]`},
	} {
		if got := array(commonValues(values(c.a), values(c.b))).String(); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// TestEitherProperties: a property that branches of a union have in different forms
// may have any of them.
func TestEitherProperties(t *testing.T) {
	d := newDocument(parse(t, `{"oneOf":[{"properties":{"a":{"type":"string"},"b":{}}},{"properties":{"a":{"type":"integer","description":"why"},"b":{},"c":{}}}]}`))
	one, two := d.at("/oneOf/0").properties, d.at("/oneOf/1").properties
	merged := eitherProperties(one, two)
	var names []string
	for _, p := range merged {
		names = append(names, p.name)
	}
	if got := strings.Join(names, " "); got != "a b c" || len(merged[0].schema.anyOf) != 2 || merged[0].schema.description != "why" || len(merged[1].schema.anyOf) != 0 {
		t.Errorf("%s, %+v", got, merged[0].schema)
	}
	if len(one) != 2 || len(one[0].schema.anyOf) != 0 {
		t.Error("the branch itself is changed")
	}
}
