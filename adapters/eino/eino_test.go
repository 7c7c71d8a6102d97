package eino_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/adapters/eino"
	"github.com/thirdrail-dev/thirdrail/codemode"
)

type query struct {
	City string `json:"city" jsonschema:"required" jsonschema_description:"the city's name"`
}

func weather(t testing.TB) tool.InvokableTool {
	t.Helper()
	made, err := utils.InferTool("get-weather", "The weather of a city.", func(_ context.Context, q query) (map[string]any, error) {
		if q.City == "Atlantis" {
			return nil, fmt.Errorf("no city %q", q.City)
		}
		return map[string]any{"celsius": 21.5}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// bare is a tool without parameters.
type bare struct{}

func (bare) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "ping"}, nil
}
func (bare) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "pong", nil
}

func newSet(t testing.TB) *codemode.Set {
	t.Helper()
	rt, err := thirdrail.New(t.Context(), thirdrail.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	tools, err := eino.Tools(t.Context(), "meteo", weather(t), bare{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := codemode.New(rt, tools...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRoundTrip(t *testing.T) {
	one := eino.Tool(newSet(t))
	info, err := one.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.Name != "run_code" || !strings.Contains(info.Desc, "async def get_weather(") || !strings.Contains(info.Desc, "city: str,  # the city's name") {
		t.Errorf("info %+v", info)
	}
	parameters, err := info.ToJSONSchema()
	if err != nil || len(parameters.Required) != 1 || parameters.Required[0] != "code" {
		t.Errorf("parameters %+v, %v", parameters, err)
	}
	for code, want := range map[string]string{
		`{"code":"return (await meteo.get_weather(city='Rome'))['celsius']"}`: "21.5",
		`{"code":"return await meteo.ping()"}`:                                `"pong"`,
		`{"code":"await meteo.get_weather(town='Rome')"}`:                     "got an unexpected keyword argument 'town'",
		`{"code":"await meteo.get_weather(city='Atlantis')"}`:                 `no city "Atlantis"`,
		`{}`: "must be a JSON object with the program",
	} {
		text, err := one.InvokableRun(t.Context(), code)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %q, %v, want %q", code, text, err, want)
		}
	}
}

func ExampleTool() {
	ctx := context.Background()
	rt, err := thirdrail.New(ctx, thirdrail.Config{})
	if err != nil {
		log.Panic(err)
	}
	defer rt.Close()
	tools, err := eino.Tools(ctx, "tools", bare{})
	if err != nil {
		log.Panic(err)
	}
	set, err := codemode.New(rt, tools...)
	if err != nil {
		log.Panic(err)
	}
	text, err := eino.Tool(set).InvokableRun(ctx, `{"code": "return await tools.ping() + '!'"}`)
	fmt.Println(text, err)
	// Output: "pong!" <nil>
}
