//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// commandLines lists --tool flags that are accepted, with the words of their
// commands as a POSIX shell would split them.
var commandLines = []struct {
	flag             string
	global, function string
	words            []string
}{
	{"db.page=cat", "db", "page", []string{"cat"}},
	{"db.page=  cat\t-n \n x ", "db", "page", []string{"cat", "-n", "x"}},
	{"db.page=cat --key=a=b", "db", "page", []string{"cat", "--key=a=b"}},
	{"db.a.b=cat", "db", "a.b", []string{"cat"}},
	{"db.a-b c=cat", "db", "a-b c", []string{"cat"}},
	{"db.__proto__=cat", "db", "__proto__", []string{"cat"}},
	{`db.page=cat 'a b' "c d" e\ f`, "db", "page", []string{"cat", "a b", "c d", "e f"}},
	{`db.page=cat a'b'"c"d ''`, "db", "page", []string{"cat", "abcd", ""}},
	{`db.page=cat '\n' "\n" "\"\\\$" \n`, "db", "page", []string{"cat", `\n`, `\n`, `"\$`, "n"}},
	{"db.page=cat 'it'\\''s'", "db", "page", []string{"cat", "it's"}},
	{"db.page=cat $HOME ${HOME} \"$HOME\" `id` $(id)", "db", "page",
		[]string{"cat", "$HOME", "${HOME}", "$HOME", "`id`", "$(id)"}},
	{`db.page=cat ~ *.go a;b | c && d > e # f`, "db", "page",
		[]string{"cat", "~", "*.go", "a;b", "|", "c", "&&", "d", ">", "e", "#", "f"}},
	{"db.page=cat é \xff", "db", "page", []string{"cat", "é", "\xff"}},
	{"db.page='cat'", "db", "page", []string{"cat"}},
}

func TestParseTool(t *testing.T) {
	for _, test := range commandLines {
		global, function, tool, err := parseTool(test.flag)
		if err != nil {
			t.Errorf("%q: %v", test.flag, err)
			continue
		}
		if global != test.global || function != test.function {
			t.Errorf("%q: %q and %q, want %q and %q", test.flag, global, function, test.global, test.function)
		}
		if diff := cmp.Diff(test.words, tool.words); diff != "" {
			t.Errorf("%q: words (-want +got):\n%s", test.flag, diff)
		}
		if !filepath.IsAbs(tool.path) {
			t.Errorf("%q: the command is %q, not found once and for all", test.flag, tool.path)
		}
	}
}

func TestToolNamespaces(t *testing.T) {
	namespaces, err := toolNamespaces([]string{"b.x=cat", "a.x=cat", "b.y=cat"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, n := range namespaces {
		for _, name := range []string{"x", "y"} {
			if n.Funcs[name] != nil {
				got[n.Global] = append(got[n.Global], name)
			}
		}
	}
	if diff := cmp.Diff(map[string][]string{"a": {"x"}, "b": {"x", "y"}}, got); diff != "" || len(namespaces) != 2 {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
}

// newTool returns a tool t.f with a shell script behind it.
func newTool(script string) *tool {
	return &tool{name: "t.f", path: "/bin/sh", words: []string{"sh", "-c", script}, most: 1 << 20}
}

// toolCalls lists scripts with what their calls bring: JSON, or an error.
var toolCalls = []struct {
	name, script, args string
	want               string
	err                string // the whole message, where it is ours
}{
	{"arguments are the input", "cat", `{"n":9007199254740993,"d":0.1}`, `{"n":9007199254740993,"d":0.1}`, ""},
	{"the input ends with a newline", "read -r line && echo true", `{}`, "true", ""},
	{"white space around the result", "printf ' \\n[1 , 2]\\n\\n'", "{}", "[1,2]", ""},
	{"an integer beyond 64 bits", "echo 18446744073709551616", "{}", "18446744073709551616", ""},
	{"null", "echo null", "{}", "null", ""},
	{"noise on stderr", "echo noise >&2; echo 1", "{}", "1", ""},
	{"input that isn't read", "echo 1", `"` + strings.Repeat("x", 1<<20) + `"`, "1", ""},

	{"a failure in words", "echo first >&2; echo 'no such row' >&2; exit 3", "{}", "", "no such row"},
	{"blank lines after the words", "printf 'why\\r\\n\\n  \\n' >&2; exit 1", "{}", "", "why"},
	{"a failure after a result", "echo 1; echo late >&2; exit 1", "{}", "", "late"},
	{"a silent failure", "exit 3", "{}", "", "the command of t.f exited with status 3"},
	{"a death", "kill -KILL $$", "{}", "", "the command of t.f was ended by signal: killed"},
	{"words that aren't text", `printf '\377\n' >&2; exit 1`, "{}", "", "\uFFFD"},
	{"nothing printed", "true", "{}", "", "the command of t.f printed nothing; it must print its result as JSON, null for none"},
	{"only white space printed", "echo; echo", "{}", "", "the command of t.f printed nothing; it must print its result as JSON, null for none"},
	{"no JSON", "echo hello", "{}", "", "the command of t.f printed what is not JSON: "},
	{"two results", "echo 1; echo 2", "{}", "", "the command of t.f printed what is not JSON: "},
	{"the same name twice", `echo '{"a":1,"a":2}'`, "{}", "", "the command of t.f printed what is not JSON: "},
	{"a number beyond doubles", "echo 1e400", "{}", "", "the command of t.f printed what is not JSON: "},
	{"too much", "head -c 1048577 /dev/zero", "{}", "", "the command of t.f printed more than 1 MiB"},
	{"too much without end", "cat /dev/zero", "{}", "", "the command of t.f printed more than 1 MiB"},
	{"as much as it may", "head -c 1048574 /dev/zero | tr '\\0' ' '; echo 1", "{}", "1", ""},
}

func TestToolCall(t *testing.T) {
	for _, test := range toolCalls {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args, err := lossless.Parse([]byte(test.args), lossless.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := newTool(test.script).call(t.Context(), args)
			switch {
			case test.err == "":
				if err != nil || got.String() != test.want {
					t.Errorf("got %s, %v, want %s", got, err, test.want)
				}
			case err == nil || got.Exists():
				t.Errorf("got %s, %v, want the error %q", got, err, test.err)
			case err.Error() != test.err && !(strings.HasSuffix(test.err, ": ") && strings.HasPrefix(err.Error(), test.err)):
				t.Errorf("error %q, want %q", err, test.err)
			}
		})
	}
}

func TestToolsCommandThatCannotBeStarted(t *testing.T) {
	script := file(t, "tool", "#!/none/sh\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	_, _, tool, err := parseTool("t.f=" + script)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.call(t.Context(), lossless.Null); err == nil || !strings.HasPrefix(err.Error(), "the command of t.f can't be started: ") {
		t.Errorf("error %v", err)
	}
}

// groupTo returns a script that writes its process group to a file.
func groupTo(path string) string { return "echo $$ >" + path + "; " }

// checkNoGroup fails if a process of the group in the file at path is alive.
func checkNoGroup(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	group, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	// What was killed may be a zombie until its new parent has reaped it.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		err := syscall.Kill(-group, 0)
		if errors.Is(err, syscall.ESRCH) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the group %d lives on: %v", group, err)
		}
	}
}

func TestToolLeavesNoGroup(t *testing.T) {
	for name, test := range map[string]struct{ script, err string }{
		"success":  {"sleep 300 & echo 1", ""},
		"failure":  {"sleep 300 & exit 3", "the command of t.f exited with status 3"},
		"too much": {"sleep 300 & cat /dev/zero", "the command of t.f printed more than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "group")
			value, err := newTool(groupTo(path)+test.script).call(t.Context(), lossless.Null)
			if test.err == "" && (err != nil || value.String() != "1") {
				t.Errorf("got %s, %v", value, err)
			}
			if test.err != "" && (err == nil || err.Error() != test.err) {
				t.Errorf("error %v, want %s", err, test.err)
			}
			checkNoGroup(t, path)
		})
	}
}

func TestToolHangsUntilTheContextEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "group")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := newTool(groupTo(path)+`trap "" INT TERM; sleep 300 & sleep 300`).call(ctx, lossless.Null)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	checkNoGroup(t, path)
}

// TestToolThatLeavesItsGroup has a process that no kill of the group reaches, and
// that keeps the output open.
func TestToolThatLeavesItsGroup(t *testing.T) {
	python := invoke(t, "import sys\nreturn sys.executable", "run", "-").stdout.String()
	path := filepath.Join(t.TempDir(), "pid")
	tool := newTool(strings.TrimSpace(python) + ` -c "
import os, time
if os.fork() == 0:
    os.setsid()
    open('` + path + `', 'w').write(str(os.getpid()))
    time.sleep(300)
while not os.path.exists('` + path + `'):
    time.sleep(0.005)
print(1)"`)
	_, err := tool.call(t.Context(), lossless.Null)
	if err == nil || err.Error() != "the command of t.f left a process behind that keeps its output open" {
		t.Errorf("error %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the process is gone: %v", err)
	}
}

func TestTail(t *testing.T) {
	for _, test := range []struct {
		writes []string
		want   string
	}{
		{nil, ""},
		{[]string{"\n \n"}, ""},
		{[]string{"a\nb"}, "b"},
		{[]string{"a\nb\n"}, "b"},
		{[]string{"a\n", "", "b", "c\n\n"}, "bc"},
		{[]string{"0123456789"}, "23456789"},
		{[]string{"0123", "4567", "8\n9"}, "9"},
		{[]string{"0123", "456789"}, "23456789"},
	} {
		kept := tail{limit: 8}
		for _, text := range test.writes {
			if n, err := kept.Write([]byte(text)); n != len(text) || err != nil {
				t.Fatalf("Write: %d, %v", n, err)
			}
		}
		if got := kept.lastLine(); got != test.want {
			t.Errorf("%q: last line %q, want %q", test.writes, got, test.want)
		}
	}
}

// toolPrograms lists programs that call tools in whole runs.
var toolPrograms = []struct {
	name, program string
	tools         []string
	status        int
	stdout        string
	stderr        string
}{
	{"keywords", "return await t.f(a=1, b=[2])", []string{"t.f=cat"}, 0, `{"a":1,"b":[2]}` + "\n", ""},
	{"no argument", "return await t.f()", []string{"t.f=cat"}, 0, "{}\n", ""},
	{"any value", "return [await t.f(None), await t.f('x'), await t.f([1])]", []string{"t.f=cat"}, 0, "[null,\"x\",[1]]\n", ""},
	{"an odd name", "return await t['a-b c'](1)", []string{"t.a-b c=cat"}, 0, "1\n", ""},
	{"large integers both ways", "r = await t.f(n=2**53 + 1)\nassert r['n'] == 9007199254740993\nreturn r['n'] + 1",
		[]string{"t.f=cat"}, 0, "9007199254740994\n", ""},
	{"words without a shell", "return await t.f()", []string{`t.f=printf "\"%s\"" $HOME`}, 0, "\"$HOME\"\n", ""},
	{"a failure that is caught", "try:\n    await t.f()\nexcept RuntimeError as e:\n    return str(e)",
		[]string{`t.f=sh -c 'echo "no row 7" >&2; exit 1'`}, 0, "\"no row 7\"\n", ""},
	{"a failure that isn't", "await t.f()", []string{`t.f=sh -c 'echo "no row 7" >&2; exit 1'`}, 1, "", "no row 7"},
	{"no JSON", "await t.f()", []string{"t.f=echo hello"}, 1, "", "the command of t.f printed what is not JSON"},
	{"many at once", "import asyncio\nreturn sum(await asyncio.gather(*(t.f(i) for i in range(100))))",
		[]string{"t.f=cat"}, 0, "4950\n", ""},
	{"two tools", "return [await a.f(1), await b.f(2)]", []string{"a.f=cat", "b.f=sh -c 'cat >/dev/null; echo 3'"}, 0, "[1,3]\n", ""},
}

func TestRunWithTools(t *testing.T) {
	for _, test := range toolPrograms {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"run", "-"}
			for _, tool := range test.tools {
				args = append(args, "--tool", tool)
			}
			invoke(t, test.program, args...).check(test.status, test.stdout, test.stderr)
		})
	}
}

// TestToolRunsAsTheUser: a tool is outside the program's world.
func TestToolRunsAsTheUser(t *testing.T) {
	s := newSession(t, "import os\nreturn [await t.f(), os.environ.get('OURS'), os.getcwd() == (await t.g())]", "run", "-",
		"--tool", `t.f=sh -c 'printf "\"%s\"" "$OURS"'`, "--tool", `t.g=sh -c 'printf "\"%s\"" "$PWD"'`)
	s.Env = append(s.Env, "OURS=secret")
	s.run()
	s.check(exitSuccess, "[\"secret\",null,false]\n", "")
}

func TestToolHangsOverTheWallLimit(t *testing.T) {
	s := invoke(t, "await t.f()", "run", "-", "--wall", "500ms", "--tool", `t.f=sh -c 'trap "" INT TERM; sleep 300 & sleep 300'`)
	s.check(exitFailure, "", "thirdrail: timeout: ")
}

// TestInOneProcess runs the whole command inside the test, where the race detector
// sees it.
func TestInOneProcess(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var stdout, stderr bytes.Buffer
	program := "import asyncio\nprint('hi')\nreturn await asyncio.gather(*(t.f(i) for i in range(20)))"
	status := execute([]string{"run", "-", "--tool", "t.f=cat"}, strings.NewReader(program), &stdout, &stderr)
	want := "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]\n"
	if status != exitSuccess || stdout.String() != want || stderr.String() != "hi\n" {
		t.Errorf("status %d, stdout %q, stderr %q", status, stdout.String(), stderr.String())
	}
}
