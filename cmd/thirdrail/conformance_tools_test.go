//go:build unix

package main

//lint:file-ignore SA1019 logging is deprecated from protocol 2026-07-28 on, but the suite checks it

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// conformanceTool is one that the suite asks a server to have, as its scenarios
// describe it. It says how it goes on, and returns its result.
type conformanceTool func(ctx context.Context, req *sdk.CallToolRequest) ([]sdk.Content, error)

var conformanceToolList = map[string]conformanceTool{
	"test_simple_text":            says(&sdk.TextContent{Text: "This is a simple text response for testing."}),
	"test_image_content":          says(&sdk.ImageContent{Data: []byte("\x89PNG\r\n\x1a\n"), MIMEType: "image/png"}),
	"test_audio_content":          says(&sdk.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"}),
	"test_embedded_resource":      says(resource("text/plain", "This is an embedded resource content.")),
	"test_multiple_content_types": says(&sdk.TextContent{Text: "Multiple content types test:"}, &sdk.ImageContent{Data: []byte("\x89PNG"), MIMEType: "image/png"}, resource("application/json", `{"test":"data","value":123}`)),
	"test_error_handling": func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return nil, errors.New("This tool intentionally returns an error for testing")
	},
	"test_tool_with_logging":            logsThrice,
	"test_tool_with_progress":           progresses,
	"test_sampling":                     samples,
	"test_elicitation":                  elicits(`{"username":{"type":"string","description":"User's response"},"email":{"type":"string"}},"required":["username","email"]`),
	"test_elicitation_sep1034_defaults": elicits(defaultsForm),
	"test_elicitation_sep1330_enums":    elicits(enumsForm),
}

const defaultsForm = `{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},` +
	`"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}`

const enumsForm = `{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},` +
	`"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"}]},` +
	`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},` +
	`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},` +
	`"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"}]}}}`

func isConformanceTool(name string) bool { return conformanceToolList[name] != nil }

// conformanceTools is a server with these tools. It stands behind the command.
func conformanceTools() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "fixture", Version: "1"}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Logging: &sdk.LoggingCapabilities{}},
	})
	for name, call := range conformanceToolList {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object","additionalProperties":true}`)},
			func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				content, err := call(ctx, req)
				if err != nil {
					return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}, nil
				}
				return &sdk.CallToolResult{Content: content}, nil
			})
	}
	return server
}

func resource(mime, text string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "test://resource", MIMEType: mime, Text: text}}
}

func says(content ...sdk.Content) conformanceTool {
	return func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) { return content, nil }
}

func logsThrice(ctx context.Context, req *sdk.CallToolRequest) ([]sdk.Content, error) {
	for _, text := range strings.Fields("started processing completed") {
		if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: text}); err != nil {
			return nil, err
		}
	}
	return []sdk.Content{&sdk.TextContent{Text: "logged"}}, nil
}

func progresses(ctx context.Context, req *sdk.CallToolRequest) ([]sdk.Content, error) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil, errors.New("the call has no progress token")
	}
	for _, value := range []float64{0, 50, 100} {
		if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: value, Total: 100}); err != nil {
			return nil, err
		}
	}
	return []sdk.Content{&sdk.TextContent{Text: "done"}}, nil
}

func samples(ctx context.Context, req *sdk.CallToolRequest) ([]sdk.Content, error) {
	result, err := req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 100})
	if err != nil {
		return nil, err
	}
	return []sdk.Content{result.Content}, nil
}

// elicits asks the user, with the properties of a form.
func elicits(form string) conformanceTool {
	schema := json.RawMessage(`{"type":"object","properties":` + form + `}`)
	return func(ctx context.Context, req *sdk.CallToolRequest) ([]sdk.Content, error) {
		result, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Please provide your information", RequestedSchema: schema})
		if err != nil {
			return nil, err
		}
		return []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("action=%s, content=%v", result.Action, result.Content)}}, nil
	}
}
