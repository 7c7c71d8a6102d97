// Package langchaingo offers a codemode.Set to agents made with LangChainGo, and
// LangChainGo's tools to a Set.
package langchaingo

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Tool returns the one tool of a Set, for an agent's list of tools. Its input is a
// program, or the arguments of a tool call. What goes wrong with a program is in the
// text that it returns; an error is for misuse.
func Tool(set *codemode.Set) tools.Tool { return runner{set} }

type runner struct{ set *codemode.Set }

// Name returns the name that the model calls.
func (r runner) Name() string { return r.set.Definition().Name }

// Description returns what the model is told.
func (r runner) Description() string { return r.set.Definition().Description }

// Call runs a program.
func (r runner) Call(ctx context.Context, input string) (string, error) {
	run := func() (*codemode.Outcome, error) { return r.set.Run(ctx, input) }
	if strings.HasPrefix(strings.TrimSpace(input), "{") && json.Valid([]byte(input)) {
		run = func() (*codemode.Outcome, error) { return r.set.Call(ctx, []byte(input)) }
	}
	outcome, err := run()
	if err != nil {
		return "", err
	}
	return outcome.Text(), nil
}

// Definition returns the tool for models that call functions. Pass the arguments of
// a call to Tool's Call.
func Definition(set *codemode.Set) llms.Tool {
	d := set.Definition()
	return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: d.Name, Description: d.Description, Parameters: json.RawMessage(d.InputSchema.Bytes()),
	}}
}

// textSchema is that of all of LangChainGo's tools, which take one text.
const textSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// Tools returns LangChainGo's tools as tools for a Set, in one namespace. Each has
// one parameter, input.
func Tools(namespace string, list ...tools.Tool) ([]codemode.Tool, error) {
	input, err := lossless.Parse([]byte(textSchema), lossless.Options{})
	if err != nil {
		return nil, err
	}
	var made []codemode.Tool
	for _, one := range list {
		made = append(made, codemode.Tool{
			Namespace: namespace, Name: one.Name(), Description: one.Description(), InputSchema: input,
			Handler: func(ctx context.Context, args lossless.Value) (codemode.Result, error) {
				text, err := args.Get("input").Text()
				if err != nil {
					return codemode.Result{}, err
				}
				answer, err := one.Call(ctx, text)
				return codemode.Text(answer), err
			},
		})
	}
	return made, nil
}
