package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools that look for tools, where those are too many for a description.
var (
	searchTool = &sdk.Tool{
		Name:        "tools_search",
		Title:       "Search tools",
		Description: "Finds tools that programs of run_code can call, by words. Returns their Python signatures, best first.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"Words, such as: create an issue"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":50,"description":"The most hits; 8 when left out."}` +
			`},"required":["query"],"additionalProperties":false}`),
		Annotations: lookingUp,
	}
	describeTool = &sdk.Tool{
		Name:        "tools_describe",
		Title:       "Describe tools",
		Description: "Returns the full Python declarations of tools that programs of run_code can call.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"names":{"type":"array","items":{"type":"string"},"minItems":1,"description":"Tools as namespace.name, or whole namespaces."}` +
			`},"required":["names"],"additionalProperties":false}`),
		Annotations: lookingUp,
	}
	lookingUp = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)}
)

// search answers tools_search.
func (s *Server) search(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var arguments struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}
	if err := json.Unmarshal(req.Params.Arguments, &arguments); err != nil || strings.TrimSpace(arguments.Query) == "" {
		return wrong(`tools_search takes words: {"query": "create an issue"}`), nil
	}
	hits := s.current.Load().set.Search(arguments.Query, arguments.Limit)
	if len(hits) == 0 {
		return text("No tool fits these words. Try others, or fewer."), nil
	}
	return text(strings.Join(hits, "\n")), nil
}

// describe answers tools_describe.
func (s *Server) describe(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var arguments struct {
		Names []string `json:"names"`
	}
	if err := json.Unmarshal(req.Params.Arguments, &arguments); err != nil || len(arguments.Names) == 0 {
		return wrong(`tools_describe takes names: {"names": ["namespace.name"]}`), nil
	}
	source, err := s.current.Load().set.Describe(arguments.Names...)
	if err != nil {
		return wrong(err.Error()), nil
	}
	return text(source), nil
}

func text(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// wrong is a result that tells the model what to write instead.
func wrong(message string) *sdk.CallToolResult {
	result := text(message)
	result.IsError = true
	return result
}
