package thirdrail

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// errorRow is a row of docs/errors.md.
type errorRow struct{ mistake, program, message, mended string }

var (
	codeSpan = regexp.MustCompile("^(`+)(.*?)`+$")
	column   = regexp.MustCompile(`(?:\\\||[^|])+`)
)

// errorRows returns the rows of all tables of docs/errors.md.
func errorRows(t *testing.T) []errorRow {
	t.Helper()
	page, err := os.ReadFile("docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []errorRow
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| mistake |") {
			continue
		}
		cells := column.FindAllString(strings.Trim(line, "|\n"), -1)
		if len(cells) != 4 {
			t.Fatalf("%d cells: %s", len(cells), line)
		}
		rows = append(rows, errorRow{strings.TrimSpace(cells[0]), cellText(t, cells[1]), cellText(t, cells[2]), cellText(t, cells[3])})
	}
	return rows
}

// cellText returns the lines of a cell, each of which is a code span.
func cellText(t *testing.T, cell string) string {
	t.Helper()
	var lines []string
	for span := range strings.SplitSeq(strings.TrimSpace(cell), "<br>") {
		match := codeSpan.FindStringSubmatch(span)
		if match == nil {
			t.Fatalf("%q is no code", span)
		}
		text := match[2]
		// As in Markdown, one space at each end keeps the text's own backticks apart.
		if strings.HasPrefix(text, " `") || strings.HasSuffix(text, "` ") {
			text = text[1 : len(text)-1]
		}
		lines = append(lines, strings.ReplaceAll(text, `\|`, "|"))
	}
	return strings.Join(lines, "\n")
}

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
	rows := errorRows(t)
	if len(rows) < 60 {
		t.Fatalf("%d rows, some are not read", len(rows))
	}
	for _, python := range oldestAndNewest(t) {
		t.Run(pythonName(python), func(t *testing.T) {
			t.Parallel()
			rt := newRuntime(t, Config{Python: python, Limits: Limits{DiskBytes: 16 << 20, ValueBytes: 64 << 10, Memory: 512 << 20}})
			for _, row := range rows {
				t.Run(row.mistake, func(t *testing.T) { row.run(t, rt) })
			}
		})
	}
}

func (row errorRow) run(t *testing.T, rt *Runtime) {
	t.Helper()
	if strings.Contains(row.message, "folder holds at most") && !slices.Contains(rt.confinement.inside, MechanismRoot) {
		t.Skipf("needs the mechanism %s: without it each file is limited, and not their sum", MechanismRoot)
	}
	run := func(program string) *Result {
		result, err := rt.Run(t.Context(), Request{Program: program, Namespaces: pageNamespaces(t), Data: parse(t, `{"notes":"buy milk"}`)})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	result := run(row.program)
	told := strings.Join(result.Logs, "\n")
	if !strings.HasPrefix(row.message, "[thirdrail]") { // those are for the logs, of programs that succeed
		if result.Failure == nil {
			t.Fatalf("no failure:\n%s", row.program)
		}
		told = result.Failure.Message
	}
	if !strings.Contains(told, row.message) {
		t.Errorf("%s\nis told\n%s\nwhich lacks\n%s", row.program, short(told), row.message)
	}
	if result := run(row.mended); result.Failure != nil {
		t.Errorf("%s\nfails: %s", row.mended, result.Failure.Message)
	}
}
