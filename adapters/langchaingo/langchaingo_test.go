package langchaingo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/tools"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/adapters/langchaingo"
	"github.com/thirdrail-dev/thirdrail/codemode"
)

// upper is a tool of LangChainGo's.
type upper struct{}

func (upper) Name() string        { return "Upper Case" }
func (upper) Description() string { return "Turns text into capitals." }
func (upper) Call(_ context.Context, input string) (string, error) {
	if input == "" {
		return "", fmt.Errorf("there is no text")
	}
	return strings.ToUpper(input), nil
}

func newSet(t *testing.T) *codemode.Set {
	t.Helper()
	rt, err := thirdrail.New(t.Context(), thirdrail.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	list, err := langchaingo.Tools("chain", upper{}, tools.Calculator{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := codemode.New(rt, list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRoundTrip(t *testing.T) {
	set := newSet(t)
	one := langchaingo.Tool(set)
	if one.Name() != "run_code" || !strings.Contains(one.Description(), "async def Upper_Case(*, input: str)") {
		t.Errorf("%s: %s", one.Name(), one.Description())
	}
	for input, want := range map[string]string{
		"return await chain.Upper_Case('abc')":                    `"ABC"`,
		`{"code":"return await chain.calculator(input='2 + 3')"}`: `"5"`,
		"{'a': 1}":                         `{"a":1}`,
		"await chain.Upper_Case(input='')": "there is no text",
		"await chain.Upper_Case()":         "missing 1 required keyword-only argument: 'input'",
	} {
		text, err := one.Call(t.Context(), input)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %q, %v, want %q", input, text, err, want)
		}
	}
}

func TestDefinition(t *testing.T) {
	text, err := json.Marshal(langchaingo.Definition(newSet(t)))
	if err != nil || !strings.Contains(string(text), `"parameters":{"type":"object","properties":{"code":{"type":"string"`) {
		t.Errorf("%s, %v", text, err)
	}
}
