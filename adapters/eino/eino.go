// Package eino offers a codemode.Set to agents made with Eino, and Eino's tools to a
// Set.
package eino

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Tool returns the one tool of a Set, for an agent's list of tools. What goes wrong
// with a program is in the text that it returns; an error is for misuse.
func Tool(set *codemode.Set) tool.InvokableTool { return runner{set} }

type runner struct{ set *codemode.Set }

// Info returns what the model is told.
func (r runner) Info(context.Context) (*schema.ToolInfo, error) {
	d := r.set.Definition()
	var parameters jsonschema.Schema
	if err := json.Unmarshal(d.InputSchema.Bytes(), &parameters); err != nil {
		return nil, fmt.Errorf("eino: the schema of %s: %w", d.Name, err)
	}
	return &schema.ToolInfo{
		Name: d.Name, Desc: d.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&parameters),
	}, nil
}

// InvokableRun runs a program.
func (r runner) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	outcome, err := r.set.Call(ctx, []byte(arguments))
	if err != nil {
		return "", err
	}
	return outcome.Text(), nil
}

// Tools returns Eino's tools as tools for a Set, in one namespace.
func Tools(ctx context.Context, namespace string, tools ...tool.InvokableTool) ([]codemode.Tool, error) {
	var list []codemode.Tool
	for _, one := range tools {
		info, err := one.Info(ctx)
		if err != nil {
			return nil, fmt.Errorf("eino: a tool says nothing of itself: %w", err)
		}
		input, err := inputSchema(info)
		if err != nil {
			return nil, fmt.Errorf("eino: the schema of %q: %w", info.Name, err)
		}
		list = append(list, codemode.Tool{
			Namespace: namespace, Name: info.Name, Description: info.Desc, InputSchema: input,
			Handler: func(ctx context.Context, args lossless.Value) (codemode.Result, error) {
				text, err := one.InvokableRun(ctx, args.String())
				return codemode.Text(text), err
			},
		})
	}
	return list, nil
}

func inputSchema(info *schema.ToolInfo) (lossless.Value, error) {
	if info.ParamsOneOf == nil {
		return lossless.Parse([]byte(`{"type":"object","properties":{}}`), lossless.Options{})
	}
	parameters, err := info.ToJSONSchema()
	if err != nil {
		return lossless.Value{}, err
	}
	text, err := json.Marshal(parameters)
	if err != nil {
		return lossless.Value{}, err
	}
	return lossless.Parse(text, lossless.Options{})
}
