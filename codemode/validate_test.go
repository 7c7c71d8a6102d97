package codemode

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	google "github.com/google/jsonschema-go/jsonschema"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// otherwise lists cases of the corpus that the other validator judges differently,
// with the reason: it reads schemas more strictly than servers write them.
var otherwise = map[string]string{
	"enum-with-null":            "knows no nullable",
	"nullable-openapi":          "knows no nullable",
	"recursive-ref":             "knows no draft 2019-09",
	"old-tuple-without-schema":  "takes an array of items only where draft-07 is named",
	"old-bounds":                "knows no draft-04",
	"old-bounds-without-schema": "knows no draft-04",
	"nothing-but-itself":        "overflows the stack",
	"unresolved":                "refuses references that lead nowhere",
	"ref_by_id":                 "wants an absolute $id",
	"lookahead_pattern":         "refuses what RE2 doesn't know",
	"numbers":                   "reads limits as doubles",
	"order_and_digits":          "reads values as doubles",
	"lengths":                   "divides doubles for multipleOf",
}

// TestAgreesWithAnotherValidator compares verdicts on the corpus with those of
// google/jsonschema-go.
func TestAgreesWithAnotherValidator(t *testing.T) {
	compared := 0
	for _, cases := range readCorpus(t) {
		for _, c := range cases {
			if c.Refused != "" || otherwise[c.Name] != "" {
				continue
			}
			var schema google.Schema
			if err := json.Unmarshal(c.Input, &schema); err != nil {
				t.Errorf("%s: %v", c.Name, err)
				continue
			}
			resolved, err := schema.Resolve(nil)
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
				continue
			}
			ours, err := newValidator(parse(t, string(c.Input)))
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Clone(c.Valid)
			for _, pair := range c.Invalid {
				all = append(all, pair[0])
			}
			for _, args := range all {
				compared++
				var value any
				if err := json.Unmarshal(args, &value); err != nil {
					t.Fatal(err)
				}
				theirs := resolved.Validate(value)
				violation := ours.check(decode(parse(t, string(args)), 0))
				if (theirs == nil) != (violation == nil) {
					t.Errorf("%s: %s: theirs %v, ours %v", c.Name, args, theirs, violation)
				}
			}
		}
	}
	if compared < 120 {
		t.Errorf("only %d verdicts compared", compared)
	}
}

// violations lists schemas of one value, what breaks them, and what is said.
var violations = []struct{ schema, value, want string }{
	{`{"type":["integer","null"]}`, `"x"`, `v: expected int | None, got str`},
	{`{"type":"object"}`, `[1]`, `v: expected dict, got list`},
	{`{"type":"boolean"}`, `0`, `v: expected bool, got int`},
	{`{"type":"integer"}`, `1.5`, `v: expected int, got float`},
	{`{"type":"string"}`, `true`, `v: expected str, got bool`},
	{`{"minimum":9007199254740993}`, `9007199254740992`, `v: expected at least 9007199254740993, got 9007199254740992`},
	{`{"exclusiveMaximum":0.5}`, `0.5`, `v: expected less than 0.5, got 0.5`},
	{`{"multipleOf":0.1}`, `0.25`, `v: expected a multiple of 0.1, got 0.25`},
	{`{"const":{"a":1}}`, `2`, `v: expected {"a":1}, got 2`},
	{`{"enum":["a"]}`, `"b"`, `v: expected "a", got "b"`},
	{`{"maxLength":2}`, `"abc"`, `v: expected at most 2 characters, got 3`},
	{`{"minItems":1}`, `[]`, `v: expected at least 1 item, got 0`},
	{`{"maxProperties":0}`, `{"a":1}`, `v: expected at most 0 keys, got 1`},
	{`{"items":{"items":{"type":"string"}}}`, `[["a"],["b",3]]`, `v[1][1]: expected str, got int`},
	{`{"properties":{"a b":{"properties":{"0":{"type":"string"}}}}}`, `{"a b":{"0":1}}`, `v["a b"][0]: expected str, got int`},
	{`{"required":["a","b"]}`, `{}`, `v: expected the keys "a", "b", which are missing`},
	{`{"required":["a"]}`, `{}`, `v: expected the key "a", which is missing`},
	{`{"minLength":1}`, `""`, `v: expected at least 1 character, got 0`},
	{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `v: expected the key "b" beside "a"`},
	{`{"propertyNames":{"maxLength":1}}`, `{"abc":1}`, `v: expected`},
	{`{"not":{"type":"string"}}`, `"x"`, `v: expected something else`},
	{`{"anyOf":[{"properties":{"k":{"const":1}},"required":["k"]},{"properties":{"k":{"const":2},"n":{"type":"string"}},"required":["k","n"]}]}`, `{"k":3}`, `v: expected one of: ["k"] 1, got 3 |`},
	{`{"anyOf":[{"type":"string"},{"items":{"type":"integer"}}]}`, `["x"]`, `v[0]: expected int, got str`},
	{`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `3`, `v: expected a value that fits exactly one of the forms`},
	{`{"uniqueItems":true}`, `[1,2,1.0]`, `v: expected no two items alike, got [`},
	{`{"contains":{"type":"string"}}`, `[1]`, `v`},
	{`{"maxContains":1,"contains":{"type":"string"}}`, `["a","b"]`, `v: expected what the schema says`},
	{`{"additionalProperties":false}`, `{"x":1}`, `v: expected no further keys, got "x"`},
	{`{"properties":{"x":false}}`, `{"x":1}`, `v["x"]: expected nothing`},
	{`{"pattern":"^a+$"}`, `"b"`, `v: expected text that matches ^a+$, got "b"`},
}

func TestViolations(t *testing.T) {
	for _, c := range violations {
		v, err := newValidator(parse(t, c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		value := decode(parse(t, c.value), 0)
		violation := v.check(value)
		if violation == nil {
			t.Errorf("%s accepts %s", c.schema, c.value)
			continue
		}
		got := place("v", violation.InstanceLocation) + ": " + expected(violation, value)
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s, %s: %q, want %q", c.schema, c.value, got, c.want)
		}
	}
}

// TestExtremeValues: neither huge exponents nor deep values cost much or fail.
func TestExtremeValues(t *testing.T) {
	v, err := newValidator(parse(t, `{"properties":{"n":{"type":"number","minimum":0,"multipleOf":2},"d":{"$ref":"#/$defs/D"}},"$defs":{"D":{"type":"array","items":{"$ref":"#/$defs/D"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, value := range []string{`{"n":1e-999999999}`, `{"n":1e308}`, `{"n":` + strings.Repeat("2", 10_000) + `}`, `{"d":` + deep + `}`} {
		if violation := v.check(decode(parse(t, value), 0)); violation != nil {
			t.Errorf("%.40s: %v", value, expected(violation, nil))
		}
	}
}

func TestSurrogatesAreChecked(t *testing.T) {
	v, err := newValidator(parse(t, `{"type":"string","maxLength":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if violation := v.check(decode(parse(t, `"\ud800"`), 0)); violation != nil {
		t.Error(expected(violation, nil))
	}
	if decode(lossless.Null, 0) != nil {
		t.Error("null is not nil")
	}
}
