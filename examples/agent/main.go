// Agent is an agent loop around run_code: tools in, one program out. Its model is
// a script, which behaves as models do: the first program has a mistake, and the
// error says how to mend it.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
)

// Query and Order are what the tool takes and returns.
type Query struct {
	Customer string `json:"customer" jsonschema:"the customer's name"`
	Limit    int    `json:"limit,omitempty"`
}

type Order struct {
	ID    int64   `json:"id"`
	Total float64 `json:"total"`
}

func orders(_ context.Context, q Query) ([]Order, error) {
	found := []Order{{9007199254740993, 12.5}, {9007199254740995, 30}, {9007199254740997, 7.25}}
	if q.Limit > 0 && q.Limit < len(found) {
		found = found[:q.Limit]
	}
	return found, nil
}

// model answers with a call of the tool, or with words when it is done.
type model interface {
	next(messages []string) (code, answer string)
}

// loop is all that an agent needs: ask the model, run what it sends, send back what
// came of it.
func loop(ctx context.Context, m model, set *codemode.Set, messages ...string) (string, error) {
	code, answer := m.next(messages)
	for code != "" {
		outcome, err := set.Run(ctx, code)
		if err != nil {
			return "", err
		}
		messages = append(messages, code, outcome.Text())
		code, answer = m.next(messages)
	}
	return answer, nil
}

func main() {
	ctx := context.Background()
	rt, err := thirdrail.New(ctx, thirdrail.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
	tool, err := codemode.Bind("orders", "The orders of a customer, newest first.", orders)
	if err != nil {
		log.Fatal(err)
	}
	tool.Namespace = "shop"
	set, err := codemode.New(rt, tool)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := loop(ctx, &script{}, set, set.Definition().Description, "Which orders of Ada are above 10, and what do they come to?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}
