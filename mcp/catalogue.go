package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// catalogue is the tools of one moment, as programs call them and as a client is
// told of them. A run keeps the one that it began with.
type catalogue struct {
	set   *codemode.Set
	tools []*sdk.Tool // what the client sees: run_code, and more where the set is large
}

// newCatalogue makes a catalogue of what a source has now. Tools that a model can't
// be told of, such as those whose schema isn't one, are left out and logged.
func (s *Server) newCatalogue() (*catalogue, error) {
	c := &catalogue{}
	readOnly := true
	var tools []codemode.Tool
	denied := map[string][]string{}
	for _, tool := range s.source.Tools() {
		decision := s.options.Policy.Decide(tool)
		if decision == Deny {
			denied[tool.Namespace] = append(denied[tool.Namespace], tool.Name)
			continue
		}
		wrapped := tool.Tool
		wrapped.Handler = s.guard(tool, decision)
		if _, err := codemode.New(nil, wrapped); err != nil {
			s.refused(tool, err)
			continue
		}
		readOnly = readOnly && tool.ReadOnly
		tools = append(tools, wrapped)
	}
	options := s.options.Code
	options.About = s.about(denied)
	set, err := options.New(s.runtime, tools...)
	if err != nil {
		return nil, err
	}
	c.set = set
	c.tools = append(c.tools, s.runTool(set, readOnly && len(tools) > 0))
	if set.Deferred() {
		c.tools = append(c.tools, searchTool, describeTool)
	}
	return c, nil
}

// about returns what is said of servers as a whole: what the options say, else the
// server's instructions. Those that speak of a denied tool are left out, since a model
// that reads of a tool calls it.
func (s *Server) about(denied map[string][]string) map[string]string {
	about := upstream.About(s.source.Status())
	for server, text := range about {
		if slices.ContainsFunc(denied[server], func(tool string) bool { return strings.Contains(text, tool) }) {
			delete(about, server)
		}
	}
	maps.Copy(about, s.options.Code.About)
	return about
}

// refused logs that a tool is left out, once.
func (s *Server) refused(tool upstream.Tool, err error) {
	reason := strings.TrimPrefix(err.Error(), codemode.ErrTool.Error()+": ")
	key := tool.Namespace + "\x00" + tool.Name + "\x00" + reason
	if !s.told[key] {
		s.told[key] = true
		s.options.Logger.Warn("thirdrail: a tool is left out", "server", tool.Namespace, "tool", tool.Name, "reason", reason)
	}
}

// guard is a tool's handler, for calls that the policy lets through.
func (s *Server) guard(tool upstream.Tool, decision Decision) codemode.Handler {
	return func(ctx context.Context, args lossless.Value) (codemode.Result, error) {
		r := runOf(ctx)
		if r == nil {
			return codemode.Result{}, fmt.Errorf("%s.%s was called outside of a run", tool.Namespace, tool.Name)
		}
		if decision == Ask {
			if err := r.approvals.allow(ctx, tool, args); err != nil {
				return codemode.Result{}, err
			}
		}
		defer r.calls.begin(tool.Namespace, tool.Name)()
		result, err := tool.Handler(upstream.WithCaller(ctx, r), args)
		r.metas.add(tool.Namespace, tool.Name, result.Meta)
		return result, err
	}
}

// runTool is run_code as the client sees it. The text is the same for the same
// tools and states of servers.
func (s *Server) runTool(set *codemode.Set, readOnly bool) *sdk.Tool {
	definition := set.Definition()
	return &sdk.Tool{
		Name:        definition.Name,
		Title:       "Run a Python program",
		Description: definition.Description + statusText(s.source.Status()),
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"code":{"type":"string","description":"The Python program."},` +
			`"description":{"type":"string","description":"What the program does, in a few words, for the user."}` +
			`},"required":["code"],"additionalProperties":false}`),
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(!readOnly), OpenWorldHint: new(true)},
	}
}

// stale is a server that is there, whose tools are of an older list.
const stale = upstream.State("stale")

// statusText names the servers whose tools can't be called now. It says nothing that
// changes from one start to the next.
func statusText(list []upstream.Status) string {
	lines := map[upstream.State]string{
		upstream.Failed:     "Servers that could not be started, so none of their tools is here: ",
		upstream.Starting:   "Servers that are still starting; their tools come when they are ready: ",
		upstream.Restarting: "Servers that are down now; a call of their tools raises ToolError until they are back: ",
		stale:               "Servers that could not list their tools anew; what is here of theirs may be out of date: ",
	}
	var b strings.Builder
	for _, state := range []upstream.State{upstream.Failed, upstream.Starting, upstream.Restarting, stale} {
		var names []string
		for _, status := range list {
			if status.State == state || state == stale && status.State == upstream.Ready && status.Stale {
				names = append(names, plain(status.Name, 60))
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			b.WriteString("\n" + lines[state] + strings.Join(names, ", ") + ".\n")
		}
	}
	return b.String()
}

// follow makes a new catalogue whenever the source changes, until ctx ends.
func (s *Server) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-s.source.Changed():
			if !ok {
				return
			}
		}
		c, err := s.newCatalogue()
		if err != nil {
			if ctx.Err() == nil {
				s.options.Logger.Error("thirdrail: the tools have changed and can't be used; the former ones stay", "error", err)
			}
			continue
		}
		s.offer(c)
	}
}

// offer makes a catalogue the current one. The clients are told where what they see
// has changed.
func (s *Server) offer(c *catalogue) {
	last := s.current.Swap(c)
	var before []*sdk.Tool
	if last != nil {
		before = last.tools
	}
	for _, tool := range c.tools {
		if !slices.ContainsFunc(before, func(old *sdk.Tool) bool { return sameTool(old, tool) }) {
			s.sdk.AddTool(tool, s.handler(tool))
		}
	}
	for _, old := range before {
		if !slices.ContainsFunc(c.tools, func(tool *sdk.Tool) bool { return tool.Name == old.Name }) {
			s.sdk.RemoveTools(old.Name)
		}
	}
}

func sameTool(a, b *sdk.Tool) bool {
	before, errBefore := json.Marshal(a)
	after, errAfter := json.Marshal(b)
	return errBefore == nil && errAfter == nil && string(before) == string(after)
}

// handler returns what answers calls of a tool of ours.
func (s *Server) handler(tool *sdk.Tool) sdk.ToolHandler {
	switch tool.Name {
	case searchTool.Name:
		return s.search
	case describeTool.Name:
		return s.describe
	}
	return s.runCode
}
