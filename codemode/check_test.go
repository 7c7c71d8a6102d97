package codemode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// writeSources writes the corpus's declarations, and those of odd names, as modules.
func writeSources(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	sources := corpusSources(t)
	hostile := newSet(t, hostileTools(t)...)
	sources["hostile"], sources["hostile_described"] = hostile.Source(), describedSource(t, hostile)
	sources["names"] = newSet(t, oddlyNamed(t)...).Source()
	large := newSet(t, manyDefinitions(t), definitions(t, 1, "chain"), thousandsOfValues(t).tool(t), nestedObjects(12).tool(t))
	sources["large"], sources["large_described"] = large.Source(), describedSource(t, large)
	for name, source := range sources {
		names = append(names, name+".py")
		if err := os.WriteFile(filepath.Join(dir, name+".py"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, names
}

// check runs a command over the modules, and fails with what it prints.
func check(t *testing.T, dir, command string, args ...string) {
	t.Helper()
	run := exec.Command(command, args...)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}

func TestSourcesCompile(t *testing.T) {
	dir, names := writeSources(t)
	check(t, dir, "/usr/bin/python3", append([]string{"-W", "error", "-m", "py_compile"}, names...)...)
	check(t, dir, "/usr/bin/python3", append([]string{"-W", "error", "-c", resolveProgram}, names...)...)
}

// resolveProgram executes sources, and resolves each annotation in them.
const resolveProgram = `
import inspect, runpy, sys, typing
for path in sys.argv[1:]:
    names = runpy.run_path(path)
    for name, value in list(names.items()):
        if not inspect.isclass(value) or getattr(value, "__module__", "") == "typing":
            continue
        if typing.is_typeddict(value):
            typing.get_type_hints(value, names)
            continue
        for function in vars(value).values():
            if isinstance(function, staticmethod):
                typing.get_type_hints(function.__func__, names)
                kinds = {p.kind for p in inspect.signature(function.__func__).parameters.values()}
                assert kinds <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}, name
`

func TestMypyAcceptsSources(t *testing.T) {
	mypy := findTool(t, "mypy", "Debian's package mypy")
	dir, names := writeSources(t)
	check(t, dir, mypy, append([]string{"--strict", "--cache-dir", t.TempDir()}, names...)...)
}

func TestPyrightAcceptsSources(t *testing.T) {
	pyright := findTool(t, "pyright", "npm's package pyright")
	dir, names := writeSources(t)
	check(t, dir, pyright, names...)
}

// findTool returns a type checker's path. CI installs both; elsewhere the test is
// skipped.
func findTool(t *testing.T, name, source string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not on PATH: .ci/run installs %s", name, source)
		}
		t.Skipf("%s is not on PATH: install %s", name, source)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// gotValues returns statements that give what programs get of tools the types of
// their declarations.
func gotValues(t *testing.T, tools []Tool) string {
	t.Helper()
	set := newSet(t, tools...)
	var lines []string
	for path, c := range map[string]struct{ kind, structured string }{
		"tools.search_issues":   {"SearchIssuesResult", `{"total_count":1,"items":[{"id":9007199254740993,"title":"t"},{"id":2,"title":"","labels":["a"]}]}`},
		"tools.read_text_file":  {"ReadTextFileResult", `{"content":"[1]"}`},
		"tools.execute_sql":     {"ExecuteSqlResult", `{"rows":[{"a":1,"b":[null]}],"rowcount":1}`},
		"tools.fastmcp_wrapped": {"list[int]", `{"result":[1,2]}`},
	} {
		s := set.Session()
		value, err := s.value(set.catalogue.byPath[path], Result{Structured: parse(t, c.structured), Content: []Content{{Text: c.structured}}})
		if err != nil || len(s.warnings) > 0 {
			t.Errorf("%s: %v, %q", path, err, s.warnings)
		}
		lines = append(lines, fmt.Sprintf("\n    got%d: %s = %s", len(lines), c.kind, literal(value)))
	}
	return strings.Join(lines, "")
}

// typeCase is a program, and a part of what a type checker says of it, or nothing.
type typeCase struct{ name, program, want string }

// typeCases are programs against the declarations of the corpus's servers.
var typeCases = []typeCase{
	{"right", `
    found = await tools.search_issues(query="x", perPage=3)
    first: int = found["items"][0]["id"]
    labels: list[str] = found["items"][0].get("labels", [])
    total: int = sum(await tools.fastmcp_wrapped(a=1, b=2))
    await tools.push_files(branch="b", files=[{"path": "p", "content": "c"}])
    await tools.send_email(to=["a"], subject="s")
    await tools.git_log(repo_path=".", start_timestamp=None)`, ""},
	{"a wrong type", `
    await tools.search_issues(query=3)`, `expected "str"`},
	{"an unknown argument", `
    await tools.search_issues(query="x", q="y")`, "Unexpected keyword argument"},
	{"a missing key", `
    await tools.push_files(branch="b", files=[{"path": "p"}])`, "Missing key"},
	{"no such literal", `
    await tools.search_issues(query="x", sort="name")`, "Literal"},
	{"a key that isn't there", `
    (await tools.search_issues(query="x"))["hits"]`, "has no key"},
	{"null where it isn't legal", `
    await tools.fetch(url="u", raw=None)`, "None"},
	{"a forgotten await", `
    tools.search_issues(query="x")["items"]`, "not indexable"},
}

// TestTypesAreTrue type-checks programs against the declarations: right calls pass,
// wrong ones don't.
func TestTypesAreTrue(t *testing.T) {
	mypy := findTool(t, "mypy", "Debian's package mypy")
	var tools []Tool
	for _, c := range readCorpus(t)["servers"] {
		tools = append(tools, c.tool(t))
	}
	source := newSet(t, tools...).Source()
	cases := append(typeCases[:len(typeCases):len(typeCases)], typeCase{"what programs get", gotValues(t, tools), ""})
	dir := t.TempDir()
	args := []string{"--strict", "--cache-dir", filepath.Join(dir, "cache")}
	for i, c := range cases {
		text := source + "\nasync def program() -> None:" + c.program + "\n"
		name := fmt.Sprintf("program%d.py", i)
		args = append(args, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command(mypy, args...)
	run.Dir = dir
	out, err := run.Output() // it fails, as most of them should
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("mypy: %v\n%s", err, out)
	}
	for i, c := range cases {
		var told []string
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, fmt.Sprintf("program%d.py:", i)) {
				told = append(told, line)
			}
		}
		all := strings.Join(told, "")
		if c.want == "" && all != "" || !strings.Contains(all, c.want) {
			t.Errorf("%s: mypy says %q, want %q", c.name, all, c.want)
		}
	}
}
