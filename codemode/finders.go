package codemode

import (
	"context"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// The arguments and results of tools_search and tools_describe. They are checked as
// those of any tool.
const (
	searchInput   = `{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`
	searchOutput  = `{"type":"array","items":{"type":"string"}}`
	describeInput = `{"type":"object","properties":{"names":{"anyOf":[{"type":"string"},
		{"type":"array","items":{"type":"string"},"minItems":1}]}},"required":["names"]}`
	describeOutput = `{"type":"string"}`
)

// addFinders makes the two functions by which a program looks for tools.
func (s *Set) addFinders() (err error) {
	if s.search, err = newFinder(searchName, searchInput, searchOutput, s.runSearch); err != nil {
		return err
	}
	s.describe, err = newFinder(describeName, describeInput, describeOutput, s.runDescribe)
	return err
}

func newFinder(name, input, output string, run Handler) (*tool, error) {
	t, err := newTool(Tool{Name: name, InputSchema: built([]byte(input)), OutputSchema: built([]byte(output)), Handler: run})
	if err != nil {
		return nil, err
	}
	t.alias, t.path = name, name
	return t, nil
}

// finder returns one of the two as a program calls it.
func (s *Set) finder(t *tool) thirdrail.Func {
	return func(ctx context.Context, call lossless.Value) (lossless.Value, error) {
		if t == s.describe {
			call = asOneList(call)
		}
		args, err := t.bind(call)
		if err != nil {
			return lossless.Value{}, s.withSignature(t, err)
		}
		result, err := t.Handler(ctx, args)
		return result.Structured, err
	}
}

// asOneList takes several names for a list of them.
func asOneList(call lossless.Value) lossless.Value {
	names := call.Index(0)
	if names.Len() < 2 {
		return call
	}
	return array([]lossless.Value{array([]lossless.Value{names}), call.Index(1)})
}

func (s *Set) runSearch(_ context.Context, args lossless.Value) (Result, error) {
	limit := maxHits
	if n, err := args.Get("limit").Int64(); err == nil {
		limit = int(min(n, maxHits))
	} else if !args.Get("limit").Exists() {
		limit = 0
	}
	found := s.Search(text(args.Get("query")), limit)
	if len(found) == 0 {
		found = []string{}
	}
	value, err := lossless.Of(found)
	return Value(value), err
}

func (s *Set) runDescribe(_ context.Context, args lossless.Value) (Result, error) {
	names := texts(args.Get("names"))
	if names == nil {
		names = []string{text(args.Get("names"))}
	}
	source, err := s.Describe(names...)
	if err != nil {
		return Result{}, err
	}
	value, err := lossless.Of(source)
	return Value(value), err
}
