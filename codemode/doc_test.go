package codemode

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/errorpage"
	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

const pagePath = "../docs/codemode.md"

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block returns the fenced block after a comment on the page.
func block(t *testing.T, comment string) string {
	t.Helper()
	_, after, ok := strings.Cut(readText(t, pagePath), "<!-- "+comment+" -->\n")
	if !ok {
		t.Fatalf("the page has no comment %q", comment)
	}
	_, after, _ = strings.Cut(after, "\n")
	text, _, _ := strings.Cut(after, "```\n")
	return text
}

// pageSearch is the tool that the page shows.
func pageSearch(t *testing.T) Tool {
	return Tool{
		Namespace: "web", Name: "search", Description: "Search the web.", Handler: echo,
		InputSchema: parse(t, `{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100},
			"lang":{"enum":["en","de",null]},"from":{"type":"string","format":"date"}},"required":["query"]}`),
		OutputSchema: parse(t, `{"type":"object","properties":{"hits":{"type":"array","items":{"type":"object","properties":
			{"id":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id"]}}},"required":["hits"]}`),
	}
}

func TestPageShowsTheExample(t *testing.T) {
	source := readText(t, "example_test.go")
	_, body, _ := strings.Cut(source, "func ExampleNew() {\n")
	body, _, _ = strings.Cut(body, "\t// Output:")
	body = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(body, "")
	if diff := cmp.Diff(body, block(t, "example: ExampleNew")); diff != "" {
		t.Errorf("the example (-) and the page (+):\n%s", diff)
	}
}

// TestPageShowsTheLoop: the page has the loop of the example, and its ten lines.
func TestPageShowsTheLoop(t *testing.T) {
	_, body, _ := strings.Cut(readText(t, "../examples/agent/main.go"), "\nfunc loop(")
	_, body, _ = strings.Cut(body, "{\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	body = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(body, "") + "\n"
	if diff := cmp.Diff(body, block(t, "loop: examples/agent/main.go")); diff != "" {
		t.Errorf("the example (-) and the page (+):\n%s", diff)
	}
	if lines := strings.Count(body, "\n"); lines > 10 {
		t.Errorf("the loop has %d lines", lines)
	}
}

func TestPageShowsDeclarations(t *testing.T) {
	source := newSet(t, pageSearch(t)).Source()
	_, source, _ = strings.Cut(source, "TypedDict\n\n")
	if diff := cmp.Diff(source, block(t, "declarations")+"\n"); diff != "" {
		t.Errorf("the declarations (-) and the page (+):\n%s", diff)
	}
}

func TestPageCommands(t *testing.T) {
	command := exec.Command("sh", "-c", block(t, "run: [1,2,3,4]"))
	command.Dir = ".."
	command.Env = append(os.Environ(), "PATH="+filepath.Dir(pythons.All(t)[0])+":"+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	if err != nil || string(out) != "[1,2,3,4]\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPageMessages runs the calls of the table.
func TestPageMessages(t *testing.T) {
	s, err := New(testRuntime(t), pageSearch(t))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(web\\..*)` \\| `(.*)` \\|$").FindAllStringSubmatch(readText(t, pagePath), -1)
	if len(rows) < 5 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, row := range rows {
		out, err := s.Run(t.Context(), "await "+row[1])
		if err != nil || out.Failure == nil || !strings.Contains(out.Failure.Message, "ToolError: "+row[2]+"\nThe signature is: web.search(") {
			t.Errorf("%s: %v, %s, want %s", row[1], err, out.Text(), row[2])
		}
	}
}

// pageSet are the tools that the page's failing programs can call.
func pageSet(t *testing.T) *Set {
	t.Helper()
	always := func(text string) Handler { return answer(Value(parse(t, text))) }
	s, err := Options{Limits: thirdrail.Limits{ValueBytes: 64 << 10, Memory: 512 << 20}}.New(testRuntime(t),
		simple(t, "web", "search", always(`[{"title":"A page"}]`)), simple(t, "web", "fetch", always(`"text"`)),
		simple(t, "db", "query", always(`[{"n":1}]`)), simple(t, "db", "count", always(`2`)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPageFailures runs each failing program of the page, and the one that its message
// asks for.
func TestPageFailures(t *testing.T) {
	s := pageSet(t)
	rows := errorpage.Rows(t, pagePath)
	if len(rows) < 25 {
		t.Fatalf("%d rows, some are not read", len(rows))
	}
	for _, row := range rows {
		t.Run(row.Mistake, func(t *testing.T) {
			out, err := s.Run(t.Context(), row.Program)
			if err != nil || !strings.Contains(out.Text(), row.Message) {
				t.Errorf("%v:\n%s\nis told\n%s\nwhich lacks\n%s", err, row.Program, out.Text(), row.Message)
			}
			if isFailure := !strings.HasPrefix(row.Message, "[thirdrail]"); (out.Failure != nil) != isFailure {
				t.Errorf("failure %v", out.Failure) // those are for the logs, of programs that succeed
			}
			if out, err := s.Run(t.Context(), row.Mended); err != nil || out.Failure != nil {
				t.Errorf("%v:\n%s\nfails: %s", err, row.Mended, out.Text())
			}
		})
	}
}

// TestPagePrograms runs the programs of the page that say what they return.
func TestPagePrograms(t *testing.T) {
	tools := append(runTools(t), simple(t, "db", "count", answer(Text("2"))))
	s, err := New(testRuntime(t), tools...)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("<!-- run in the set: (.*) -->\n```python\n((?s:.*?))```").FindAllStringSubmatch(readText(t, pagePath), -1)
	if len(found) != 2 {
		t.Errorf("%d programs, want 2", len(found))
	}
	for _, match := range found {
		out, err := s.Run(t.Context(), match[2])
		if err != nil || out.Text() != match[1] {
			t.Errorf("%s\n%v: %s, want %s", match[2], err, out.Text(), match[1])
		}
	}
}

func TestPageLinks(t *testing.T) {
	for _, link := range regexp.MustCompile(`[^"]\]\(([^)#]+)\)`).FindAllStringSubmatch(readText(t, pagePath), -1) {
		if _, err := os.Stat(filepath.Join("../docs", link[1])); err != nil {
			t.Errorf("the link to %s: %v", link[1], err)
		}
	}
}
