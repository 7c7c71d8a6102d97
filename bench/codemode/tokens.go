package main

import (
	"bytes"
	"encoding/json"

	"github.com/tiktoken-go/tokenizer"
)

// vocabulary is the tokenizer's, one that is public.
const vocabulary = tokenizer.O200kBase

// A definition is a tool as a model's API takes it.
type definition struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema any    `json:"input_schema"`
}

// A toolCall is what a model writes to call a tool.
type toolCall struct {
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
}

// A turn is what the model writes in one response, and what it gets for it.
type turn struct {
	calls   []toolCall
	results []string
	answer  string // of the last turn, which makes no calls
}

// A transcript is a talk with a model: what it is told of tools, the user's request, and
// turns.
type transcript struct {
	tools  []definition
	prompt string
	turns  []turn
}

func newTranscript(tools []definition, prompt string) *transcript {
	return &transcript{tools: tools, prompt: prompt}
}

func (t *transcript) turn(calls []toolCall, results []string) {
	t.turns = append(t.turns, turn{calls: calls, results: results})
}

func (t *transcript) end(answer string) { t.turns = append(t.turns, turn{answer: answer}) }

// A cost is what a transcript costs.
type cost struct {
	trips    int // requests to the model
	calls    int // of tools
	tools    int // tokens of the tools' definitions
	read     int // tokens that the model reads in all requests together
	distinct int // tokens that are read for the first time: what a perfect cache leaves
	written  int // tokens that the model writes
}

// A way is one to do the task.
type way struct {
	name string
	cost cost
}

// count counts. Each request carries all that came before it, as the APIs of models
// have it. What they put around messages is not counted, since it differs.
func (t *transcript) count(tokens tokenizer.Codec) (cost, error) {
	var c cost
	var fault error
	number := func(v any) int {
		text, err := plain(v)
		n := 0
		if err == nil {
			n, err = tokens.Count(text)
		}
		if fault == nil {
			fault = err
		}
		return n
	}
	c.tools = number(t.tools)
	context := c.tools + number(t.prompt)
	for _, one := range t.turns {
		c.trips++
		c.read += context
		c.distinct = context
		written := number(one.answer)
		for _, made := range one.calls {
			written += number(made)
		}
		c.calls += len(one.calls)
		c.written += written
		context += written
		for _, result := range one.results {
			context += number(result)
		}
	}
	return c, fault
}

// plain returns a text as it is, and all else as JSON as models write it, with < and >
// as they are.
func plain(v any) (string, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return string(bytes.TrimSpace(b.Bytes())), err
}
