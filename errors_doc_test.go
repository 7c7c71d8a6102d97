package thirdrail

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/internal/errorpage"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// pageNamespaces are what the programs of docs/errors.md can call.
func pageNamespaces(t *testing.T) []Namespace {
	always := func(text string) Func {
		value := parse(t, text)
		return func(context.Context, lossless.Value) (lossless.Value, error) { return value, nil }
	}
	return []Namespace{
		{Global: "web", Funcs: Funcs{"search": always(`[{"title":"A page"}]`), "fetch": always(`"text"`)}},
		{Global: "db", Funcs: Funcs{"query": always(`[{"n":1}]`), "count": always(`2`)}},
	}
}

// TestErrorPage runs each row of docs/errors.md, on the oldest and the newest Python.
// What each message says is tried on all of them, see python/tests/test_hints.py.
func TestErrorPage(t *testing.T) {
	rows := errorpage.Rows(t, "docs/errors.md")
	if len(rows) < 60 {
		t.Fatalf("%d rows, some are not read", len(rows))
	}
	for _, python := range oldestAndNewest(t) {
		t.Run(pythonName(python), func(t *testing.T) {
			t.Parallel()
			rt := newRuntime(t, Config{Python: python, Limits: Limits{DiskBytes: 16 << 20, ValueBytes: 64 << 10, Memory: 512 << 20}})
			for _, row := range rows {
				t.Run(row.Mistake, func(t *testing.T) { runErrorRow(t, rt, row) })
			}
		})
	}
}

func runErrorRow(t *testing.T, rt *Runtime, row errorpage.Row) {
	t.Helper()
	if strings.Contains(row.Message, "folder holds at most") && !slices.Contains(rt.confinement.inside, MechanismRoot) {
		t.Skipf("needs the mechanism %s: without it each file is limited, and not their sum", MechanismRoot)
	}
	run := func(program string) *Result {
		result, err := rt.Run(t.Context(), Request{Program: program, Namespaces: pageNamespaces(t), Data: parse(t, `{"notes":"buy milk"}`)})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	result := run(row.Program)
	told := strings.Join(result.Logs, "\n")
	if !strings.HasPrefix(row.Message, "[thirdrail]") { // those are for the logs, of programs that succeed
		if result.Failure == nil {
			t.Fatalf("no failure:\n%s", row.Program)
		}
		told = result.Failure.Message
	}
	if !strings.Contains(told, row.Message) {
		t.Errorf("%s\nis told\n%s\nwhich lacks\n%s", row.Program, short(told), row.Message)
	}
	if result := run(row.Mended); result.Failure != nil {
		t.Errorf("%s\nfails: %s", row.Mended, result.Failure.Message)
	}
}
