package codemode

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// generatedCases are cases of the corpus that are too long to be written down.
func generatedCases(t testing.TB) []corpusCase {
	t.Helper()
	return []corpusCase{thousandsOfValues(t), nestedObjects(12), hostileDescriptions(t), definitionsCase(t)}
}

func raw(texts ...string) (list []json.RawMessage) {
	for _, text := range texts {
		list = append(list, json.RawMessage(text))
	}
	return list
}

// refused is an invalid call, and a part of what is said of it.
func refused(args, message string) [2]json.RawMessage {
	return [2]json.RawMessage{json.RawMessage(args), json.RawMessage(str(message).String())}
}

// thousandsOfValues has an enum of 5,000 values.
func thousandsOfValues(t testing.TB) corpusCase {
	t.Helper()
	var values []string
	for i := range 5000 {
		values = append(values, fmt.Sprintf(`"C%04d"`, i))
	}
	return corpusCase{
		Name:  "thousands-of-values",
		Input: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","enum":[` + strings.Join(values, ",") + `]}},"required":["city"]}`),
		Want:  []string{`city: str,  # one of 5000: "C0000", "C0001", "C0002", "C0003", "C0004", …: await tools_describe("tools.thousands_of_values")`},
		Not:   []string{"C0005", "Literal["},
		Valid: raw(`{"city":"C4999"}`),
		Invalid: [][2]json.RawMessage{
			refused(`{"city":"C0999x"}`, `argument city: expected "C0000" | "C0001" | "C0002" | "C0003" | "C0004" | "C0005" | "C0006" | "C0007" | … (5000 in all), got "C0999x". Did you mean "C0999"?`),
		},
	}
}

// nestedObjects has so many levels of objects without a name.
func nestedObjects(levels int) corpusCase {
	schema, valid, invalid, place := `{"type":"integer"}`, "1", `"x"`, ""
	for i := levels; i > 0; i-- {
		schema = fmt.Sprintf(`{"type":"object","properties":{"level%d":%s}}`, i, schema)
		valid, invalid = fmt.Sprintf(`{"level%d":%s}`, i, valid), fmt.Sprintf(`{"level%d":%s}`, i, invalid)
		if i > 1 {
			place = fmt.Sprintf(`["level%d"]`, i) + place
		}
	}
	return corpusCase{
		Name: "nested-objects", Input: json.RawMessage(schema),
		Want: []string{
			"level1: NestedObjectsLevel1 = ...",
			"class NestedObjectsLevel1Level2(TypedDict):\n    level3: NotRequired[NestedObjectsLevel1Level2Level3]",
			`NotRequired[dict[str, Any]]  # nested deeper: await tools_describe("tools.nested_objects")`,
		},
		Not:     []string{"level9"},
		Valid:   raw(valid),
		Invalid: [][2]json.RawMessage{refused(invalid, "argument level1"+place+": expected int, got str")},
	}
}

// hostileDescriptions has each hostile text as the description of a parameter, of a
// key, and of a definition.
func hostileDescriptions(t testing.TB) corpusCase {
	t.Helper()
	texts := append(hostileTexts[:len(hostileTexts):len(hostileTexts)], strings.Repeat("prose ", 700))
	var properties []string
	for i, text := range texts {
		described := str(text).String()
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"object","description":%s,"properties":{"k":{"type":"integer","description":%s}}}`, i, described, described))
	}
	return corpusCase{
		Name: "hostile-descriptions", Description: strings.Join(texts, "\n"),
		Input: json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`),
		Want:  []string{"p0: HostileDescriptionsP0 = ...", "The descriptions of arguments and keys are left out: await tools_describe("},
		Not:   []string{"\nimport evil", "\n    import evil", "\x00", "\u2028", "\u202e", "\x1b"},
		Valid: raw(`{"p0":{"k":1},"p3":{}}`),
		Invalid: [][2]json.RawMessage{
			refused(`{"p2":{"k":"x"}}`, `argument p2["k"]: expected int, got str`),
		},
	}
}

// definitionsCase has 500 definitions.
func definitionsCase(t testing.TB) corpusCase {
	t.Helper()
	return corpusCase{
		Name: "large", Input: json.RawMessage(manyDefinitions(t).InputSchema.Bytes()),
		Want:    []string{"property0: Definition0 = ...", `more arguments: await tools_describe("tools.large")`},
		Valid:   raw(`{"property3":{"value":"x","next":{"value":"y"}},"property499":{}}`),
		Invalid: [][2]json.RawMessage{refused(`{"property400":{"next":{"value":1}}}`, `argument property400["next"]["value"]: expected str, got int`)},
	}
}

// TestDescribedWhole: what a declaration leaves out is there where the tool is asked for.
func TestDescribedWhole(t *testing.T) {
	for _, c := range []struct {
		one  corpusCase
		want []string
	}{
		{thousandsOfValues(t), []string{`one of 5000: "C0000", "C0001"`, `"C4999"`}},
		{nestedObjects(12), []string{"level12: NotRequired[int]"}},
		{hostileDescriptions(t), []string{"k: NotRequired[int]  # ends with a quote\"", "中文 é 💥"}},
		{definitionsCase(t), []string{"a Definition120", "property30: "}},
	} {
		s := newSet(t, c.one.tool(t))
		source, err := s.Describe("tools")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range c.want {
			if !strings.Contains(source, part) {
				t.Errorf("%s: the description lacks %q:\n%.3000s", c.one.Name, part, source)
			}
		}
		if most := describedBytes + wholeValues + 1000; len(source) > most {
			t.Errorf("%s: %d bytes, at most %d", c.one.Name, len(source), most)
		}
	}
}

// sameInAllDrafts lists schemas that say the same in the words of several drafts.
var sameInAllDrafts = [][]string{
	{
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"t":{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":{"type":"boolean"}}}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"boolean"}}}}`,
		`{"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"boolean"}}}}`,
	},
	{
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/N"}},"definitions":{"N":{"type":"object","properties":{"n":{"$ref":"#/definitions/N"}}}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#N"}},"$defs":{"N":{"$anchor":"N","type":"object","properties":{"n":{"$ref":"#N"}}}}}`,
	},
	{
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"dependencies":{"a":["b"]}}`,
		`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"dependentRequired":{"a":["b"]}}`,
	},
	{
		`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"type":"number","exclusiveMinimum":0}}}`,
		`{"type":"object","properties":{"n":{"type":"number","exclusiveMinimum":0}}}`,
	},
}

func TestDraftsGiveTheSame(t *testing.T) {
	for _, schemas := range sameInAllDrafts {
		var first string
		for i, schema := range schemas {
			source := newSet(t, Tool{Name: "f", Handler: echo, InputSchema: parse(t, schema)}).Source()
			if i == 0 {
				first = source
			} else if source != first {
				t.Errorf("%s\ngives\n%s\nand not\n%s", schema, source, first)
			}
		}
	}
}
