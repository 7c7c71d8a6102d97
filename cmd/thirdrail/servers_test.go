//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
)

// serversFile is a file of two MCP servers: a process, and one at a URL.
func serversFile(t *testing.T) string {
	t.Helper()
	raw, err := rawserver.New("modern")
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		raw.ServeHTTP(w, r)
	}))
	t.Cleanup(listener.Close)
	t.Setenv("SERVERS_TEST_TOKEN", "s3cret")
	return file(t, "servers.json", fmt.Sprintf(`{"thirdrail": {}, "mcpServers": {
		"my-files": {"command": %q, "env": {%q: ""}},
		"web": {"type": "http", "url": %q, "headers": {"Authorization": "Bearer ${SERVERS_TEST_TOKEN}"}},
		"off": {"command": "no-such-command", "disabled": true}}}`, os.Args[0], rawserver.Variable, listener.URL))
}

func TestServersTools(t *testing.T) {
	s := invoke(t, "", "tools", "--mcp", serversFile(t))
	for _, part := range []string{
		"class my_files:", "class web:",
		"async def echo(\n        *,\n        z: int = ...,  # <= 9007199254740993\n        a: Name = ...,",
		"async def send_email(", "async def import_(",
	} {
		if !strings.Contains(s.stdout.String(), part) {
			t.Errorf("the output lacks %q:\n%s", part, s.stdout.String())
		}
	}
}

// TestRunWithServers has one program call tools of two servers and of a command at the
// same time.
func TestRunWithServers(t *testing.T) {
	const program = `
import asyncio
one, two, three = await asyncio.gather(
    my_files.echo(z=9007199254740993, a="x"), web["send-email"](), t.f(1))
try:
    await web.fail()
except ToolError as e:
    four = str(e)
[one, two, three, four]`
	s := invoke(t, program, "run", "-", "--mcp", serversFile(t), "--tool", "t.f=cat")
	const want = `[{"z":9007199254740993,"a":"x"},"send-email",1,"the disk is full"]` + "\n"
	if got := s.stdout.String(); got != want {
		t.Errorf("got %s, want %s; %s", got, want, s.stderr.String())
	}
}

// serversMisuse lists command lines that are refused, with what the one line says.
var serversMisuse = []struct {
	name, text string
	args       []string
	want       string
}{
	{"no file", "", []string{"run", "PROGRAM", "--mcp", "/no/such/file"}, `the list of MCP servers in "/no/such/file" can't be read: no such file`},
	{"an empty name", "", []string{"tools", "--mcp", ""}, `--mcp is empty`},
	{"no JSON", `{`, []string{"run", "PROGRAM", "--mcp", "FILE"}, `the list of MCP servers in "FILE": the list of servers is not JSON`},
	{"no servers", `{}`, []string{"tools", "--mcp", "FILE"}, `there is no object "mcpServers"; write`},
	{"a bad member", `{"mcpServers":{"a":{"command":"x","args":"y"}}}`, []string{"tools", "--mcp", "FILE"}, `the server "a": "args" is no array of strings`},
	{"no variable", `{"mcpServers":{"a":{"command":"${SERVERS_TEST_UNSET}"}}}`, []string{"tools", "--mcp", "FILE"}, `needs the environment variable SERVERS_TEST_UNSET`},
	{"no command", `{"mcpServers":{"b":{"command":"true"},"a":{"command":"no-such-command"}}}`, []string{"run", "PROGRAM", "--mcp", "FILE"},
		`the MCP server "a" can't be used: the command "no-such-command" is not found; install it`},
	{"nobody there", `{"mcpServers":{"a":{"url":"http://127.0.0.1:1/mcp"}}}`, []string{"tools", "--mcp", "FILE"}, `the MCP server "a" can't be used: http://127.0.0.1:1/mcp can't be reached: dial tcp`},
	{"both from standard input", `{}`, []string{"run", "-", "--mcp", "-"}, `--mcp can't come from standard input beside the program`},
	{"tools and servers from standard input", `{}`, []string{"tools", "-", "--mcp", "-"}, `can't both come from standard input`},
}

func TestServersMisuse(t *testing.T) {
	for _, test := range serversMisuse {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := file(t, "servers.json", test.text)
			program := file(t, "program.py", "print('it was run')")
			args := strings.Split(strings.NewReplacer("FILE", path, "PROGRAM", program).Replace(strings.Join(test.args, "\x00")), "\x00")
			s := invoke(t, test.text, args...)
			text := strings.ReplaceAll(s.stderr.String(), path, "FILE")
			if s.ProcessState.ExitCode() != exitMisuse || s.stdout.Len() > 0 ||
				!strings.Contains(text, test.want) || strings.Contains(text, "it was run") || strings.Count(text, "\n") != 1 {
				t.Errorf("status %d, output %q, error %s\nwant %s", s.ProcessState.ExitCode(), s.stdout.String(), text, test.want)
			}
		})
	}
}
