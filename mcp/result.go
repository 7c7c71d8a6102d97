package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Report is the structured content of run_code's result.
type Report struct {
	// Value is what the program returned, every digit of it; absent if nothing.
	Value lossless.Value `json:"value,omitzero"`
	// Logs are the lines that it printed. Where they are too long, those in the
	// middle are left out, and Cut says so.
	Logs []string `json:"logs"`
	// Error is why there is no value.
	Error *Error `json:"error,omitempty"`
	// Calls are those that reached a server.
	Calls []Call `json:"calls"`
	// Warnings are about tools, such as a result that breaks its own schema.
	Warnings []string `json:"warnings,omitempty"`
	// Cut is there when logs were left out.
	Cut *Cut `json:"cut,omitempty"`
}

// Error is how a program failed.
type Error struct {
	// Kind is one of thirdrail.FailureKind.
	Kind    thirdrail.FailureKind `json:"kind"`
	Message string                `json:"message"`
}

// Cut is how many bytes of the logs are shown.
type Cut struct {
	Shown int `json:"shown"`
	Total int `json:"total"`
}

// maxDepth is how deep a value may be nested. Clients read JSON with less patience
// than this library.
const maxDepth = 1000

// newResult makes a result of what became of a program.
func newResult(out *codemode.Outcome, made []Call, textBytes int) *sdk.CallToolResult {
	failure := out.Failure
	value := out.Value
	if failure == nil && depth(value.Bytes()) > maxDepth {
		failure = &thirdrail.Failure{Kind: thirdrail.InvalidOutput, Message: fmt.Sprintf(
			"the result is nested more than %d levels deep, which clients can't read; return less of it, or json.dumps() of it", maxDepth)}
		value = lossless.Value{}
	}
	if made == nil {
		made = []Call{}
	}
	report := &Report{Value: value, Calls: made, Warnings: out.Warnings}
	if failure != nil {
		report.Error = &Error{failure.Kind, failure.Message}
	}
	report.Logs, report.Cut = cutLines(out.Logs, textBytes)
	result := &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: report.text(out.Logs, textBytes)}},
		IsError: failure != nil,
	}
	if failure == nil {
		for i, content := range out.Content {
			result.Content = append(result.Content, shown(i, content))
		}
	}
	structured, err := json.Marshal(report)
	if err != nil { // no value that was checked does that
		return wrong(fmt.Sprintf("the result can't be written as JSON: %v", err))
	}
	result.StructuredContent = json.RawMessage(structured)
	return result
}

// shown returns content as the client can show it.
func shown(i int, c codemode.Content) sdk.Content {
	switch {
	case strings.HasPrefix(c.MIME, "image/"):
		return &sdk.ImageContent{Data: c.Data, MIMEType: c.MIME}
	case strings.HasPrefix(c.MIME, "audio/"):
		return &sdk.AudioContent{Data: c.Data, MIMEType: c.MIME}
	}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
		URI: fmt.Sprintf("thirdrail://content/%d", i), MIMEType: c.MIME, Blob: c.Data,
	}}
}

// depth returns how deep a valid JSON text is nested.
func depth(text []byte) (most int) {
	level, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			level++
			most = max(most, level)
		case c == ']' || c == '}':
			level--
		}
	}
	return most
}

// text is what a model reads: what was printed, the warnings, and the value or the
// error, within a budget.
func (r *Report) text(logs []string, budget int) string {
	end := r.ending(len(logs) > 0, budget)
	var b strings.Builder
	printed := strings.Join(logs, "\n")
	if len(logs) > 0 {
		printed += "\n"
	}
	b.WriteString(cutMiddle(printed, max(budget-len(end), budget/4), "of the output"))
	for _, warning := range r.Warnings {
		b.WriteString("[warning] " + warning + "\n")
	}
	b.WriteString(end)
	return b.String()
}

// ending is the part of the text after the output.
func (r *Report) ending(printed bool, budget int) string {
	switch {
	case r.Error != nil:
		text := fmt.Sprintf("[%s] %s", r.Error.Kind, cutMiddle(r.Error.Message, budget*3/4, "of the error"))
		if calls := r.callText(); calls != "" {
			text += "\n[before that it made " + calls + "; what was done is done]"
		}
		return text
	case r.Value.Exists():
		text := cutMiddle(r.Value.String(), budget*3/4, "of the value")
		if printed || len(r.Warnings) > 0 {
			text = "[value] " + text
		}
		return text
	case printed:
		return "[no value returned]"
	}
	calls := r.callText()
	if calls == "" {
		calls = "no calls"
	}
	return "[the program ran once, made " + calls + ", printed nothing and returned nothing; return a value to see one]"
}

// callText lists calls in words, or returns "" for none.
func (r *Report) callText() string {
	total := 0
	var names []string
	for _, c := range r.Calls {
		total += c.Count
		name := plain(c.Server+"."+c.Tool, 80)
		if c.Count > 1 {
			name += fmt.Sprintf(" ×%d", c.Count)
		}
		if len(names) < 8 {
			names = append(names, name)
		} else if len(names) == 8 {
			names = append(names, "…")
		}
	}
	if total == 0 {
		return ""
	}
	word := "calls"
	if total == 1 {
		word = "call"
	}
	return fmt.Sprintf("%d %s (%s)", total, word, strings.Join(names, ", "))
}
