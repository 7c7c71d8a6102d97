package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mirror is what one side of the wire declares.
type mirror struct {
	Frames     map[string]map[string]any `json:"frames"` // by who sends it, then by type
	Unlisted   []string                  `json:"unlisted"`
	ProtocolFD int                       `json:"protocolFD"`
	Markers    []string                  `json:"markers"`
}

// markerBudgets are the budgets that both sides write the marker for.
var markerBudgets = func() []int64 {
	budgets := []int64{0, 1, 6, 9, 10, 48, 49, 50, 99, 100, 4096, 1 << 18, 1 << 31, 1 << 32, MaxInteger - 1, MaxInteger, math.MaxInt64}
	for n := int64(3); n < MaxInteger/7; n *= 7 {
		budgets = append(budgets, n)
	}
	return budgets
}()

func goMirror(host, child []Frame) mirror {
	m := mirror{
		Frames:     map[string]map[string]any{"host": frameSchemas(host), "child": frameSchemas(child)},
		Unlisted:   []string{},
		ProtocolFD: ProtocolFD,
	}
	for _, n := range markerBudgets {
		m.Markers = append(m.Markers, LogTruncationMarker(n))
	}
	return m
}

// pythonMirror asks python what the package in directory dir declares.
func pythonMirror(python, dir string) (mirror, error) {
	args := []string{"-I", "-B", filepath.Join("testdata", "mirror.py"), dir}
	for _, n := range markerBudgets {
		args = append(args, strconv.FormatInt(n, 10))
	}
	var m mirror
	out, err := exec.Command(python, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return m, fmt.Errorf("%s: %w\n%s", python, err, exit.Stderr)
	}
	if err != nil {
		return m, err
	}
	d := json.NewDecoder(bytes.NewReader(out))
	return m, d.Decode(&m)
}

// difference lists what only one side declares, and is empty when both agree.
func difference(goSide, pythonSide mirror) string {
	goLines, pythonLines := flatten(goSide), flatten(pythonSide)
	var b strings.Builder
	for _, line := range slices.Sorted(maps.Keys(goLines)) {
		if !pythonLines[line] {
			fmt.Fprintln(&b, "only in Go:     ", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(pythonLines)) {
		if !goLines[line] {
			fmt.Fprintln(&b, "only in Python: ", line)
		}
	}
	return b.String()
}

// flatten writes each leaf of a mirror on a line of its own, after the path to it.
func flatten(m mirror) map[string]bool {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		panic(err)
	}
	lines := map[string]bool{}
	var walk func(path string, node any)
	walk = func(path string, node any) {
		switch node := node.(type) {
		case map[string]any:
			lines[path+" {}"] = true
			for name, n := range node {
				walk(path+"/"+name, n)
			}
		case []any:
			lines[fmt.Sprintf("%s [%d]", path, len(node))] = true
			for i, n := range node {
				walk(fmt.Sprintf("%s/%d", path, i), n)
			}
		case string:
			lines[fmt.Sprintf("%s %q", path, node)] = true
		default:
			lines[fmt.Sprintf("%s %v", path, node)] = true
		}
	}
	walk("", tree)
	return lines
}

// pythons returns each Python of version 3.9 or newer on this machine, by version.
func pythons(t *testing.T) map[string]string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	candidates, err := filepath.Glob(filepath.Join(home, ".pyenv", "versions", "*", "bin", "python3"))
	if err != nil {
		t.Fatal(err)
	}
	candidates = append(candidates, "/usr/bin/python3", "python3")
	found := map[string]string{}
	for _, path := range candidates {
		out, err := exec.Command(path, "-I", "-c", `import sys
print(sys.executable)
print(sys.version.split()[0] if sys.version_info >= (3, 9) else "")`).Output()
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if err != nil || len(lines) != 2 || lines[1] == "" {
			continue
		}
		found[lines[1]] = lines[0]
	}
	if len(found) == 0 {
		t.Fatal("no python3 of version 3.9 or newer, neither in ~/.pyenv/versions nor in /usr/bin nor on PATH")
	}
	return found
}

// oldestPython returns the Python for tests that one is enough for.
func oldestPython(t *testing.T) string {
	found := pythons(t)
	minor := func(version string) int {
		n, err := strconv.Atoi(strings.Split(version, ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	versions := slices.SortedFunc(maps.Keys(found), func(a, b string) int { return minor(a) - minor(b) })
	return found[versions[0]]
}

const pythonDir = "../python"

func TestMirror(t *testing.T) {
	want := goMirror(hostFrames, childFrames)
	for version, python := range pythons(t) {
		t.Run(version, func(t *testing.T) {
			got, err := pythonMirror(python, pythonDir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := difference(want, got); diff != "" {
				t.Errorf("python/thirdrail_child/protocol.py differs from package wire:\n%s", diff)
			}
		})
	}
}

// pythonMutations are changes to one file of the Python side, each of which the
// mirror must see and name.
var pythonMutations = []struct{ name, file, old, new, names string }{
	{"field renamed", "protocol.py", `    cpuSeconds: int`, `    cpuSecs: int`, "cpuSecs"},
	{"functional field renamed", "protocol.py", `"id": int, "global": str`, `"id": int, "globals": str`, "globals"},
	{"field dropped", "protocol.py", "    maxLogBytes: int\n", "", "maxLogBytes"},
	{"field added", "protocol.py", "    program: str\n", "    program: str\n    extra: str\n", "extra"},
	{"optional field added", "protocol.py", "    fileName: str\n", "    fileName: str\n    extra: str\n", "extra"},
	{"integer became string", "protocol.py", `    maxValueBytes: int`, `    maxValueBytes: str`, "maxValueBytes"},
	{"string became any", "protocol.py", "    message: str\n\n\nReply", "    message: JSON\n\n\nReply", "message"},
	{"any became string", "protocol.py", "    data: JSON", "    data: str", "data"},
	{"literal became boolean", "protocol.py", "    truncated: Literal[True]", "    truncated: bool", "truncated"},
	{"literal negated", "protocol.py", "    ok: Literal[False]", "    ok: Literal[True]", "ok"},
	{"literal type changed", "protocol.py", `Literal["boot-ack"]`, `Literal["bootAck"]`, "bootAck"},
	{"array items changed", "protocol.py", `"names": List[str]`, `"names": List[int]`, "names"},
	{"array became one", "protocol.py", `namespaces: List[Namespace]`, `namespaces: Namespace`, "namespaces"},
	{"object became any", "protocol.py", `    confinement: Dict[str, JSON]`, `    confinement: JSON`, "confinement"},
	{"kind added", "protocol.py", `"output-limit"]`, `"output-limit", "timeout"]`, "timeout"},
	{"kind dropped", "protocol.py", `Literal["exception", "invalid-output", "output-limit"]`, `Literal["exception", "output-limit"]`, "invalid-output"},
	{"profile renamed", "protocol.py", `Literal["exact", "double"]`, `Literal["exact", "ieee"]`, "ieee"},
	{"optional became required", "protocol.py", "class Log(_LogBase, total=False)", "class Log(_LogBase)", "truncated"},
	{"nested optional became required", "protocol.py", "class Namespace(_NamespaceBase, total=False)", "class Namespace(_NamespaceBase)", "errorClass"},
	{"required became optional", "protocol.py", "class _RunBase(TypedDict)", "class _RunBase(TypedDict, total=False)", "program"},
	{"nested required became optional", "protocol.py", "class DoneError(TypedDict)", "class DoneError(TypedDict, total=False)", "message"},
	{"frame renamed", "protocol.py", `"child": (BootAck`, `"child": (Boot`, "boot-ack"},
	{"nested frame renamed", "protocol.py", "class _DoneBase(", "DoneError.__name__ = \"Failed\"\n\n\nclass _DoneBase(", "Failed"},
	{"frame not listed", "protocol.py", "(BootAck, Call, Log, Done)", "(BootAck, Call, Done)", "log"},
	{"frame listed on the other side", "protocol.py", "(Boot, Run, Reply)", "(Boot, Run, Reply, Log)", "log"},
	{"frame added", "protocol.py", "class DoneError(", "class Ping(TypedDict):\n    type: Literal[\"ping\"]\n\n\nclass DoneError(", "Ping"},
	{"frame added and listed", "protocol.py", "    \"child\": (BootAck", "    \"child\": (TypedDict(\"Ping\", {\"type\": Literal[\"ping\"]}), BootAck", "ping"},
	{"shape dropped", "protocol.py", "Union[ReplyValue, ReplyError]", "ReplyValue", "ReplyError"},
	{"frame dropped", "protocol.py", "Union[ReplyValue, ReplyError]\n", "ReplyValue\ndel ReplyError\n", "ReplyError"},
	{"literal became text", "protocol.py", "    openLogs: Literal[True]", "    openLogs: Literal[\"true\"]", "openLogs"},
	{"descriptor changed", "constants.py", "PROTOCOL_FD = 3", "PROTOCOL_FD = 4", "4"},
	{"marker text changed", "constants.py", "truncated at", "cut at", "cut at"},
	{"marker number grouped", "constants.py", "{max_log_bytes}", "{max_log_bytes:,}", "4,096"},
	{"marker off by one", "constants.py", "{max_log_bytes}", "{max_log_bytes + 1}", "4097"},
	{"marker with newline", "constants.py", " bytes\"", " bytes\\n\"", `bytes\n`},
}

func TestMirrorSeesEachPythonChange(t *testing.T) {
	python := oldestPython(t)
	want := goMirror(hostFrames, childFrames)
	for _, m := range pythonMutations {
		t.Run(m.name, func(t *testing.T) {
			dir := mutatedPython(t, m.file, m.old, m.new)
			got, err := pythonMirror(python, dir)
			seen := difference(want, got)
			if err != nil {
				seen = err.Error()
			}
			if seen == "" {
				t.Fatal("the mirror does not see it")
			}
			if !strings.Contains(seen, m.names) {
				t.Errorf("the mirror does not name %q:\n%s", m.names, seen)
			}
		})
	}
}

// mutatedPython copies the package with one text of a file replaced by another.
func mutatedPython(t *testing.T, file, old, new string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "thirdrail_child"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"__init__.py", "constants.py", "protocol.py"} {
		text, err := os.ReadFile(filepath.Join(pythonDir, "thirdrail_child", name))
		if errors.Is(err, fs.ErrNotExist) && name == "__init__.py" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if name == file {
			if n := strings.Count(string(text), old); n != 1 {
				t.Fatalf("%s holds %q %d times, want once: the mutation is out of date", file, old, n)
			}
			text = []byte(strings.Replace(string(text), old, new, 1))
		}
		if err := os.WriteFile(filepath.Join(dir, "thirdrail_child", name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMirrorSeesEachGoChange(t *testing.T) {
	got, err := pythonMirror(oldestPython(t), pythonDir)
	if err != nil {
		t.Fatal(err)
	}
	without := func(frames []Frame, dropped Frame) []Frame {
		return slices.DeleteFunc(slices.Clone(frames), func(f Frame) bool {
			return reflect.TypeOf(f) == reflect.TypeOf(dropped)
		})
	}
	for i, f := range hostFrames {
		if difference(goMirror(without(hostFrames, f), childFrames), got) == "" {
			t.Errorf("the mirror does not see that host frame %d, %T, is gone", i, f)
		}
	}
	for i, f := range childFrames {
		if difference(goMirror(hostFrames, without(childFrames, f)), got) == "" {
			t.Errorf("the mirror does not see that child frame %d, %T, is gone", i, f)
		}
	}
	if difference(goMirror(hostFrames, append(slices.Clone(childFrames), (*Run)(nil))), got) == "" {
		t.Error("the mirror does not see a frame added to the child's")
	}
}

// TestFramesAreListed reads the package's own source, so that a frame that is
// declared and not listed can't escape the mirror.
func TestFramesAreListed(t *testing.T) {
	listed := map[string]bool{}
	for _, f := range slices.Concat(hostFrames, childFrames) {
		listed[reflect.TypeOf(f).Elem().Name()] = true
	}
	declared := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "FrameType" {
				declared[f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name] = true
			}
		}
	}
	if diff := cmp.Diff(listed, declared); diff != "" {
		t.Errorf("frames listed and frames declared differ (-listed +declared):\n%s", diff)
	}
}

// TestTypeTags compares the type that a struct's tag declares with FrameType.
func TestTypeTags(t *testing.T) {
	for _, f := range slices.Concat(hostFrames, childFrames) {
		s := structSchema(reflect.TypeOf(f).Elem())
		want := schema{"enum": []any{f.FrameType()}}
		if diff := cmp.Diff(want, s["properties"].(schema)["type"]); diff != "" {
			t.Errorf("%T: type (-FrameType +tag):\n%s", f, diff)
		}
	}
}
