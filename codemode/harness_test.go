package codemode

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

var update = flag.Bool("update", false, "write the golden files anew")

// corpusCase is one schema of testdata/corpus, a line of JSON.
type corpusCase struct {
	Name, Description string
	// Namespace is where the tool is alone; in the golden files it is the group's.
	Namespace     string
	Input, Output json.RawMessage
	// Want and Not are parts that the declarations must have and must not have.
	Want, Not []string
	// Valid are arguments that pass. Invalid are arguments that don't, with a part
	// of the message.
	Valid   []json.RawMessage
	Invalid [][2]json.RawMessage
	// Free says why nothing is invalid.
	Free string
	// Refused is a part of the error of New.
	Refused string
}

func (c corpusCase) tool(t testing.TB) Tool {
	t.Helper()
	return Tool{
		Namespace: c.Namespace, Name: c.Name, Description: c.Description, Handler: answer(Text("done")),
		InputSchema: parse(t, string(c.Input)), OutputSchema: parseOptional(t, c.Output),
	}
}

// readCorpus returns the cases by the file that they are in.
func readCorpus(t testing.TB) map[string][]corpusCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/corpus/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	corpus := map[string][]corpusCase{}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		for lines.Scan() {
			var c corpusCase
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v: %s", path, err, lines.Bytes())
			}
			corpus[name] = append(corpus[name], c)
		}
	}
	corpus["generated"] = generatedCases(t)
	return corpus
}

func parse(t testing.TB, text string) lossless.Value {
	t.Helper()
	v, err := lossless.Parse([]byte(text), lossless.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func parseOptional(t testing.TB, text []byte) lossless.Value {
	t.Helper()
	if text == nil {
		return lossless.Value{}
	}
	return parse(t, string(text))
}

// answer returns a handler that always answers the same.
func answer(r Result) Handler {
	return func(context.Context, lossless.Value) (Result, error) { return r, nil }
}

// echo answers its arguments.
func echo(_ context.Context, args lossless.Value) (Result, error) { return Value(args), nil }

const anySchema = `{"type":"object","additionalProperties":true}`

// simple returns a tool that takes anything.
func simple(t testing.TB, namespace, name string, h Handler) Tool {
	return Tool{Namespace: namespace, Name: name, InputSchema: parse(t, anySchema), Handler: h}
}

func newSet(t testing.TB, tools ...Tool) *Set {
	t.Helper()
	s, err := New(nil, tools...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// numbered returns count tools: copies of the corpus's of servers, each under its name
// with a number behind it.
func numbered(t testing.TB, count int) []Tool {
	t.Helper()
	cases := readCorpus(t)["servers"]
	var tools []Tool
	for i := range count {
		one := cases[i%len(cases)].tool(t)
		one.Name = fmt.Sprint(one.Name, i/len(cases))
		tools = append(tools, one)
	}
	return tools
}
