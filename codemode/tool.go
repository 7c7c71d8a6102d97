package codemode

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// ErrTool is wrapped by each error of New about a tool that can't be used.
var ErrTool = errors.New("codemode: tool refused")

// Tool is one function for programs to call.
type Tool struct {
	// Namespace groups tools, such as those of one server. Any name; the program
	// finds it under an identifier made of it. Empty means "tools".
	Namespace string
	// Name is the tool's own name, as its server knows it. It must not be empty.
	Name string
	// Title and Description are for people and for models. They are data: nothing
	// in them is ever code.
	Title, Description string
	// InputSchema is the JSON Schema of the arguments, whose type is object. Its
	// order of properties is the order of parameters.
	InputSchema lossless.Value
	// OutputSchema is the JSON Schema of the result. Absent means none.
	OutputSchema lossless.Value
	// Handler does the work.
	Handler Handler
}

// Handler runs a tool. Its context ends with the run. The arguments are an object
// that fits the input schema. An error, like a Result with IsError, raises
// ToolError in the program with the error's text.
type Handler func(ctx context.Context, args lossless.Value) (Result, error)

// Result is what a tool answers, as the Model Context Protocol has it.
type Result struct {
	// IsError makes the text of Content an error in the program.
	IsError bool
	// Structured is the result as JSON. Absent means that Content is the result.
	Structured lossless.Value
	// Wrapped tells that Structured is {"result": x} only because it has to be an
	// object, and that x is meant.
	Wrapped bool
	// Content is what the tool shows.
	Content []Content
	// Meta is what comes beside the result for those who handle it, an object.
	// Programs don't see it. Absent means none.
	Meta lossless.Value
}

// Content is one part of a Result: text, or bytes of some type.
type Content struct {
	// Text is the part, where MIME is empty.
	Text string
	// MIME is the type of Data. Empty means that the part is Text.
	MIME string
	// Data are the bytes, such as an image.
	Data []byte
	// Name is what a file of the bytes could be called. May be empty.
	Name string
}

// Value returns the Result whose value in the program is v.
func Value(v lossless.Value) Result { return Result{Structured: v} }

// Text returns the Result of one part of text.
func Text(text string) Result { return Result{Content: []Content{{Text: text}}} }

// Bind makes a Tool of a typed Go function. The schemas are inferred from In, a
// struct, and Out by package jsonschema: json tags name properties, omitempty and
// omitzero make them optional, and jsonschema tags describe them. An Out of any
// has no output schema.
func Bind[In, Out any](name, description string, f func(context.Context, In) (Out, error)) (Tool, error) {
	tool := Tool{Name: name, Description: description}
	if f == nil {
		return tool, fmt.Errorf("%w: %q has no function", ErrTool, name)
	}
	var err error
	if tool.InputSchema, err = schemaFor[In](); err != nil {
		return tool, fmt.Errorf("%w: %q: the arguments have no schema: %w", ErrTool, name, err)
	}
	if tool.OutputSchema, err = schemaFor[Out](); err != nil {
		return tool, fmt.Errorf("%w: %q: the result has no schema: %w", ErrTool, name, err)
	}
	if tool.OutputSchema.Kind() != lossless.KindObject || tool.OutputSchema.Len() == 0 {
		tool.OutputSchema = lossless.Value{}
	}
	call := thirdrail.Bind(f)
	tool.Handler = func(ctx context.Context, args lossless.Value) (Result, error) {
		value, err := call(ctx, args)
		return Value(value), err
	}
	return tool, nil
}

func schemaFor[T any]() (lossless.Value, error) {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		return lossless.Value{}, err
	}
	return lossless.Of(schema)
}
