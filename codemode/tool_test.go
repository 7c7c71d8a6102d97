package codemode

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// bound are arguments of a typed function, not in the order of the alphabet.
type bound struct {
	Zone  int64             `json:"zone" jsonschema:"where it is"`
	Also  *string           `json:"also,omitempty"`
	Many  []string          `json:"many,omitempty"`
	Map   map[string]int    `json:"map,omitzero"`
	From  time.Time         `json:"from,omitzero"`
	Inner struct{ N int64 } `json:"inner"`
	Any   any               `json:"any,omitempty"`
	Skip  int               `json:"-"`
}

type boundResult struct {
	ID   int64   `json:"id"`
	Rows [][]any `json:"rows,omitempty"`
}

func TestBindInfersSchemas(t *testing.T) {
	tool, err := Bind("find-it", "Finds.", func(_ context.Context, b bound) (boundResult, error) {
		if b.Zone == 0 {
			return boundResult{}, errors.New("no zone")
		}
		return boundResult{ID: b.Zone + b.Inner.N}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	source := newSet(t, tool).Source()
	for _, part := range []string{
		"class FindItInner(TypedDict):\n    N: int\n",
		"class FindItResult(TypedDict):\n    id: int\n    rows: NotRequired[",
		"        zone: int,  # where it is\n        also: str | None = ...,\n        many: list[str]",
		"        from_: str = ...,  # sent as \"from\"\n        inner: FindItInner,\n        any: Any = ...,",
		"    ) -> FindItResult:\n        \"\"\"Finds.\n",
	} {
		if !strings.Contains(source, part) {
			t.Errorf("the declarations lack %q:\n%s", part, source)
		}
	}
	if strings.Contains(source, "kip") {
		t.Errorf("the declarations have what isn't sent:\n%s", source)
	}
	for args, want := range map[string]string{
		`{"zone":9007199254740993,"inner":{"N":2}}`: `{"id":9007199254740995}`,
		`{"zone":0,"inner":{"N":0}}`:                "no zone",
		`{"zone":1e30,"inner":{"N":0}}`:             "zone",
	} {
		result, err := tool.Handler(t.Context(), parse(t, args))
		got := result.Structured.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	refused := func(name string, tool Tool, err error, want string) {
		t.Helper()
		if err == nil {
			_, err = New(nil, tool)
		}
		if !errors.Is(err, ErrTool) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	tool, err := Bind[bound, any]("f", "", nil)
	refused("no function", tool, err, `"f" has no function`)
	tool, err = Bind("f", "", func(context.Context, int) (int, error) { return 1, nil })
	refused("no struct", tool, err, `arguments are an object`)
	tool, err = Bind("f", "", func(context.Context, struct{ C chan int }) (int, error) { return 1, nil })
	refused("a channel", tool, err, `"f": the arguments have no schema`)
	tool, err = Bind("f", "", func(context.Context, struct{}) (func(), error) { return nil, nil })
	refused("a function for a result", tool, err, `"f": the result has no schema`)
	tool, err = Bind("", "", func(context.Context, struct{}) (any, error) { return nil, nil })
	refused("no name", tool, err, "it has no name")
	tool, err = Bind("f", "", func(context.Context, struct{}) (any, error) { return nil, nil })
	if err != nil || tool.OutputSchema.Exists() {
		t.Errorf("a result of any: %v, schema %s", err, tool.OutputSchema)
	}
}
