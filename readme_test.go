package thirdrail_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/internal/units"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// snippets returns the fenced blocks of README.md that stand after a comment of
// the kind given, by what the comment says.
func snippets(t *testing.T, kind, language string) map[string]string {
	t.Helper()
	found := map[string]string{}
	pattern := regexp.MustCompile("<!-- " + kind + ": (.*) -->\n```" + language + "\n((?s:.*?))```\n")
	for _, match := range pattern.FindAllStringSubmatch(readFile(t, "README.md"), -1) {
		found[match[1]] = match[2]
	}
	return found
}

// exampleBodies returns the bodies of the functions of example_test.go, without
// their indentation and the comment with the output.
func exampleBodies(t *testing.T) map[string]string {
	t.Helper()
	source := readFile(t, "example_test.go")
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "example_test.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{}
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		begin, end := files.Position(f.Body.Lbrace).Offset+2, files.Position(f.Body.Rbrace).Offset
		body, _, _ := strings.Cut(source[begin:end], "\t// Output:")
		bodies[f.Name.Name] = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(body, "")
	}
	return bodies
}

func TestReadmeShowsTheExamples(t *testing.T) {
	bodies := exampleBodies(t)
	shown := snippets(t, "example", "go")
	if got, all := len(shown), strings.Count(readFile(t, "README.md"), "```go\n"); got == 0 || got != all {
		t.Errorf("%d of the %d Go snippets are examples", got, all)
	}
	for name, text := range shown {
		if diff := cmp.Diff(bodies[name], text); diff != "" {
			t.Errorf("%s in example_test.go (-) and in README.md (+):\n%s", name, diff)
		}
		if lines := strings.Count(text, "\n"); lines > 15 {
			t.Errorf("%s has %d lines, too many for a first look", name, lines)
		}
	}
}

func TestReadmeCommands(t *testing.T) {
	commands := snippets(t, "run", "sh")
	if len(commands) != 1 {
		t.Fatalf("%d commands to run, want 1", len(commands))
	}
	for want, text := range commands {
		command := exec.Command("sh", "-c", text)
		command.Env = append(os.Environ(), "PATH="+filepath.Dir(pythons.All(t)[0])+":"+os.Getenv("PATH"))
		got, err := command.CombinedOutput()
		if err != nil || string(got) != want+"\n" {
			t.Errorf("%s\nprints %q (%v), want %q", text, got, err, want)
		}
	}
}

// TestReadmeMCP runs what the page says of MCP, with npx finding what .ci/run installs.
func TestReadmeMCP(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skipf("there is no home folder to look for npm packages in: %v", err)
	}
	servers := filepath.Join(home, ".cache", "thirdrail-checkers", "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(servers, "mcp-server-everything")); err != nil {
		t.Skip("the npm package @modelcontextprotocol/server-everything is not installed in ~/.cache/thirdrail-checkers; .ci/run installs it")
	}
	commands := snippets(t, "mcp", "sh")
	if len(commands) != 1 {
		t.Fatalf("%d commands of MCP, want 1", len(commands))
	}
	folder := t.TempDir()
	npx := "#!/bin/sh\nserver=mcp-${2#@modelcontextprotocol/}\nshift 2\nexec \"$server\" \"$@\"\n"
	if err := os.WriteFile(filepath.Join(folder, "npx"), []byte(npx), 0o700); err != nil {
		t.Fatal(err)
	}
	for want, text := range commands {
		command := exec.Command("sh", "-c", strings.ReplaceAll(text, "servers.json", filepath.Join(folder, "servers.json")))
		command.Env = append(os.Environ(), "PATH="+strings.Join([]string{folder, servers, filepath.Dir(pythons.All(t)[0]), os.Getenv("PATH")}, ":"))
		var stderr strings.Builder
		command.Stderr = &stderr
		got, err := command.Output()
		if err != nil || string(got) != want+"\n" {
			t.Errorf("%s\nprints %q (%v), want %q; %s", text, got, err, want, stderr.String())
		}
	}
}

// TestReadmeLimits: the table has each limit with its default.
func TestReadmeLimits(t *testing.T) {
	limits := reflect.ValueOf(thirdrail.DefaultLimits())
	var want []string
	for i := range limits.NumField() {
		name, value := limits.Type().Field(i).Name, limits.Field(i).Interface()
		text := fmt.Sprint(value)
		if _, ok := value.(time.Duration); !ok && (strings.HasSuffix(name, "Bytes") || name == "Memory") {
			text = units.FormatSize(limits.Field(i).Int())
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | ", name, text))
	}
	got := regexp.MustCompile("(?m)^\\| `[A-Z]\\w+` \\| [^|]* \\| ").FindAllString(readFile(t, "README.md"), -1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the limits (-want +got):\n%s", diff)
	}
}

// TestReadmeKinds: the table has each kind of failure.
func TestReadmeKinds(t *testing.T) {
	for _, kind := range []thirdrail.FailureKind{
		thirdrail.Exception, thirdrail.Timeout, thirdrail.Abort,
		thirdrail.WorkerExit, thirdrail.InvalidOutput, thirdrail.OutputLimit,
	} {
		if !strings.Contains(readFile(t, "README.md"), "\n| `"+kind.String()+"` | ") {
			t.Errorf("the kind %s is missing", kind)
		}
	}
}

func TestReadmeLinks(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(readFile(t, "README.md"), -1)
	if len(links) < 10 {
		t.Errorf("only %d links", len(links))
	}
	for _, link := range links {
		if _, err := os.Stat(link[1]); err != nil && !strings.HasPrefix(link[1], "https://") {
			t.Errorf("the link to %s: %v", link[1], err)
		}
	}
}

func TestReadmeIsShort(t *testing.T) {
	if lines := strings.Count(readFile(t, "README.md"), "\n"); lines > 240 {
		t.Errorf("README.md has %d lines, at most 240", lines)
	}
}
