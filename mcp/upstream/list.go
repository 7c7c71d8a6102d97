package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

const (
	// listLimit is how long one list of tools may take.
	listLimit = time.Minute
	// maxPages, maxTools and maxList bound one server's list; maxList is in bytes.
	maxPages = 1000
	maxTools = 10_000
	maxList  = 64 << 20
)

// Tool is one tool of a server.
type Tool struct {
	// Tool has the server's name as its Namespace and the tool's own name. Its
	// Handler calls the server.
	codemode.Tool
	// Title is what people are shown; empty means that there is none.
	Title string
	// Destructive, ReadOnly, Idempotent and OpenWorld are the server's hints about
	// the tool. They are claims: a server that isn't trusted may lie. Nil means that
	// it doesn't say.
	Destructive *bool
	ReadOnly    bool
	Idempotent  bool
	OpenWorld   *bool
	// Meta is the tool's _meta, nil where there is none.
	Meta json.RawMessage
}

// fetch asks a server for all of its tools, as it sent them.
func (x *session) fetch(ctx context.Context) (tools []lossless.Value, err error) {
	if capabilities := x.client.InitializeResult().Capabilities; capabilities == nil || capabilities.Tools == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	cursors := map[string]bool{}
	size := 0
	for cursor := ""; ; {
		var withHeaders []*mcp.Tool
		raw, err := x.do(ctx, nil, func(ctx context.Context, _ *call) error {
			page, err := x.client.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
			if err == nil {
				withHeaders = page.Tools
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("its tools can't be listed: %w", err)
		}
		if raw.Get("tools").Kind() != lossless.KindArray {
			return nil, errors.New(`its tools can't be listed: the answer has no array "tools"`)
		}
		for _, tool := range raw.Get("tools").Elements() {
			if x.headersFit(tool, withHeaders) {
				tools = append(tools, tool)
			}
		}
		size += len(raw.Bytes())
		next := raw.Get("nextCursor")
		if !next.Exists() || next.Kind() == lossless.KindNull || next.String() == `""` {
			return tools, nil
		}
		cursors[cursor] = true
		if cursor, err = next.Text(); err != nil {
			return nil, errors.New("its tools can't be listed: a cursor is no string")
		}
		if cursors[cursor] || len(cursors) == maxPages || len(tools) > maxTools || size > maxList {
			x.server.log.Warn("the rest of the server's tools is left out: it lists too many, or the same page again",
				"tools", len(tools), "pages", len(cursors))
			return tools[:min(len(tools), maxTools)], nil
		}
	}
}

// headersFit tells whether the SDK can send a tool's arguments in the headers that it
// asks for. One that it can't is left out, as the protocol has it.
func (x *session) headersFit(tool lossless.Value, fit []*mcp.Tool) bool {
	if !asksForHeaders(tool.Get("inputSchema")) {
		return true
	}
	name, _ := tool.Get("name").Text()
	for _, one := range fit {
		if one.Name == name {
			return true
		}
	}
	x.server.log.Warn("a tool is left out: its x-mcp-header can't be followed", "tool", name)
	return false
}

// toolsOf returns the tools of a list, by name, without those that can't be used.
func (s *server) toolsOf(list []lossless.Value) []Tool {
	byName := map[string]bool{}
	var tools []Tool
	for i, raw := range list {
		tool, err := s.toolOf(raw)
		if err == nil && byName[tool.Name] {
			err = errors.New("there is another of that name")
		}
		if err == nil {
			_, err = codemode.New(nil, tool.Tool)
		}
		if err != nil {
			reason := strings.TrimPrefix(err.Error(), codemode.ErrTool.Error()+": ")
			s.log.Warn("a tool is left out", "tool", tool.Name, "index", i, "reason", reason)
			continue
		}
		byName[tool.Name] = true
		tools = append(tools, tool)
	}
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}

// toolOf reads one tool.
func (s *server) toolOf(raw lossless.Value) (Tool, error) {
	var tool Tool
	if raw.Kind() != lossless.KindObject {
		return tool, fmt.Errorf("it is %s and no object", raw.Kind())
	}
	name, err := raw.Get("name").Text()
	if err != nil || name == "" {
		return tool, errors.New("it has no name")
	}
	hints := raw.Get("annotations")
	title, _ := raw.Get("title").Text()
	if title == "" {
		title, _ = hints.Get("title").Text()
	}
	description, _ := raw.Get("description").Text()
	tool.Tool = codemode.Tool{
		Namespace: s.config.Name, Name: name, Title: title, Description: description,
		InputSchema: raw.Get("inputSchema"), OutputSchema: raw.Get("outputSchema"),
		Handler: func(ctx context.Context, args lossless.Value) (codemode.Result, error) {
			return s.call(ctx, name, args)
		},
	}
	if tool.OutputSchema.Kind() == lossless.KindNull {
		tool.OutputSchema = lossless.Value{}
	}
	tool.Title = title
	tool.ReadOnly, _ = hints.Get("readOnlyHint").Bool()
	tool.Idempotent, _ = hints.Get("idempotentHint").Bool()
	tool.Destructive, tool.OpenWorld = hint(hints.Get("destructiveHint")), hint(hints.Get("openWorldHint"))
	if meta := raw.Get("_meta"); meta.Exists() {
		tool.Meta = json.RawMessage(meta.Bytes())
	}
	return tool, nil
}

// hint returns what a hint says, nil where it says nothing.
func hint(value lossless.Value) *bool {
	if said, err := value.Bool(); err == nil {
		return &said
	}
	return nil
}
