//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
)

// goneServer is a server that can't be started. It is tried again as long as the
// command runs, and each try is told on standard error.
const goneServer = `, "gone": {"command": "sh", "args": ["-c", "echo no disk >&2; exit 1"]}`

// mcpConfig is a file with one server, whose words are those of rawserver.New, and
// goneServer.
func mcpConfig(t *testing.T, settings string) string {
	t.Helper()
	return mcpServers(t, settings, goneServer)
}

// mcpServers is mcpConfig with other servers than goneServer.
func mcpServers(t *testing.T, settings, others string) string {
	t.Helper()
	return file(t, "servers.json", fmt.Sprintf(`{"thirdrail": {%s}, "mcpServers": {
		"files": {"command": %q, "env": {%q: ""}}%s}}`, settings, os.Args[0], rawserver.Variable, others))
}

// TestMCP has the SDK's client start the command, as users' clients do.
func TestMCP(t *testing.T) {
	s := newSession(t, "", "mcp", "--config", mcpConfig(t, `"start": "spawn", "wall": "20s", "deny": ["files.fail"]`))
	s.Stdin, s.Stdout = nil, nil
	client := sdk.NewClient(&sdk.Implementation{Name: "peer", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: s.Cmd}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, s.stderr.String())
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"class files:", "async def echo(", rawserver.Instructions, "so none of their tools is here: gone."} {
		if !strings.Contains(list.Tools[0].Description, part) {
			t.Errorf("the description lacks %q:\n%s", part, list.Tools[0].Description)
		}
	}
	for code, want := range map[string]string{
		"return await files.echo(z=9007199254740993)":                                             `{"z":9007199254740993}`,
		"return 'fail' in dir(files)":                                                             "false",
		"import asyncio\nreturn len(await asyncio.gather(*(files.echo(z=n) for n in range(20))))": "20",
	} {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": code}})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Content[0].(*sdk.TextContent).Text; got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
	if err := session.Close(); err != nil {
		t.Errorf("the command ended with %v", err)
	}
	for _, part := range []string{"gone", "no disk", "could not be started", "mend it in --config, or take it out; the others work without it", "a tool is left out"} {
		if !strings.Contains(s.stderr.String(), part) {
			t.Errorf("stderr lacks %q: %s", part, s.stderr.String())
		}
	}
	s.checkGone(0)
	s.checkNoFiles()
}

// startHTTP starts the command with --http, and returns its URL.
func startHTTP(t *testing.T, args ...string) (*session, string) {
	t.Helper()
	return startListening(t, mcpConfig(t, `"start": "spawn"`), args...)
}

// startListening is startHTTP for a configuration of one's own.
func startListening(t *testing.T, config string, args ...string) (*session, string) {
	t.Helper()
	s := newSession(t, "", append([]string{"mcp", "--config", config, "--http", "0"}, args...)...)
	s.Stderr = nil
	pipe, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() })
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		if match := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(lines.Text()); match != nil {
			s.rest = make(chan struct{})
			go func() {
				defer close(s.rest)
				_, _ = io.Copy(&s.stderr, pipe)
			}()
			return s, match[1]
		}
	}
	t.Fatal("the command told no URL")
	return nil, ""
}

// stop ends a command that listens.
func (s *session) stop() {
	s.t.Helper()
	s.interrupt(syscall.SIGTERM)
	s.wait()
	if status := s.ProcessState.ExitCode(); status != exitSuccess {
		s.t.Errorf("%q: exit status %d: %s", s.Args[1:], status, s.stderr.String())
	}
}

// TestMCPOverHTTP: it listens to this machine, and a signal ends it with all that it
// started.
func TestMCPOverHTTP(t *testing.T) {
	s, url := startListening(t, mcpServers(t, `"start": "spawn"`, ""))
	if !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/mcp") {
		t.Errorf("URL %s", url)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "peer", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	began := make(chan struct{})
	go func() {
		close(began)
		_, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": "import time\ntime.sleep(300)"}})
		ended <- err
	}()
	<-began
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": "return 1"}})
	if err != nil || result.Content[0].(*sdk.TextContent).Text != "1" {
		t.Fatalf("%v, %v", result, err)
	}
	s.interrupt(syscall.SIGTERM)
	<-ended
	_ = session.Close()
	s.wait()
	s.check(exitSuccess, "", "")
}

// TestMCPPortInUse: one line, and nothing was started.
func TestMCPPortInUse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	s := invoke(t, "", "mcp", "--config", mcpConfig(t, ""), "--http", port)
	s.check(exitMisuse, "", "--http "+port+" can't be used: bind: address already in use; end what uses it, or choose another port")
	checkOneLine(t, s.stderr.String())
}

// mcpMisuses are command lines that are refused. CONFIG in them is a file of servers.
var mcpMisuses = []struct {
	name string
	args []string
	want string
}{
	{"no config", nil, "no servers given; write thirdrail mcp --config FILE"},
	{"an argument", []string{"servers.json"}, `mcp takes no arguments, and got "servers.json"`},
	{"a missing config", []string{"--config", "none.json"}, `the configuration in "none.json" can't be read: no such file or directory`},
	{"a config from standard input", []string{"--config", "-"}, "--config can't come from standard input, on which the client speaks"},
	{"a config that is not JSON", []string{"--config", "BAD {"}, "is not JSON"},
	{"a config of nothing", []string{"--config", "BAD {}"}, `there is no object "mcpServers"`},
	{"a config of no server", []string{"--config", `BAD {"mcpServers":{"a":{"command":"true","disabled":true}}}`}, "lists no server that is enabled"},
	{"an unknown setting", []string{"--config", `BAD {"mcpServers":{"a":{"command":"true"}},"thirdrail":{"wal":"1s"}}`}, `"thirdrail": there is no setting "wal"`},
	{"a wrong setting", []string{"--config", `BAD {"mcpServers":{"a":{"command":"true"}},"thirdrail":{"wall":10}}`}, `"wall": "10" has no unit: write 10s`},
	{"a setting that is an object", []string{"--config", `BAD {"mcpServers":{"a":{"command":"true"}},"thirdrail":{"wall":{}}}`}, `"wall": it is no text, number, true or false`},
	{"settings that are none", []string{"--config", `BAD {"mcpServers":{"a":{"command":"true"}},"thirdrail":[]}`}, `"thirdrail": it is no object`},
	{"an unknown server in a rule", []string{"--config", "CONFIG", "--deny", "mail.send"}, `--deny "mail.send" is for no server; write SERVER.TOOL, with * for any; the servers are: files, gone`},
	{"a missing policy", []string{"--config", "CONFIG", "--policy", "none.json"}, `the policy in "none.json" can't be read`},
	{"a wrong policy", []string{"--config", "CONFIG", "--policy", `BAD {"denied":[]}`}, `unknown field "denied"; write {"default"`},
	{"an address for all without a token", []string{"--config", "CONFIG", "--http", "0.0.0.0:0"}, "--http 0.0.0.0:0 can be reached by other machines"},
	{"an address that is none", []string{"--config", "CONFIG", "--http", "a:b:c"}, `--http "a:b:c" is no address; write a port`},
	{"an origin without HTTP", []string{"--config", "CONFIG", "--origin", "http://x"}, "--origin is for --http"},
	{"no runs", []string{"--config", "CONFIG", "--runs", "0"}, "--runs is 0; write 1 or more"},
	{"too little text", []string{"--config", "CONFIG", "--text-bytes", "10"}, "--text-bytes is 10; write 1000 to 64MiB"},
	{"a missing interpreter", []string{"--config", "CONFIG", "--python", "/none/python3"}, "there is no such file"},
	{"no server that starts", []string{"--config", `BAD {"mcpServers":{"a":{"command":"false"}}}`}, `the server "a" could not be started`},
	{"one that doesn't start, strictly", []string{"--config", "CONFIG", "--strict"}, `the server "gone" could not be started`},
}

func TestMCPMisuse(t *testing.T) {
	for _, test := range mcpMisuses {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"mcp"}
			for _, arg := range test.args {
				if text, bad := strings.CutPrefix(arg, "BAD "); bad {
					arg = file(t, "bad.json", text)
				}
				args = append(args, strings.ReplaceAll(arg, "CONFIG", mcpConfig(t, "")))
			}
			s := invoke(t, "", args...)
			s.check(exitMisuse, "", test.want)
			lines := strings.Split(strings.TrimSuffix(s.stderr.String(), "\n"), "\n")
			checkOneLine(t, lines[len(lines)-1]+"\n") // before it, servers may have said something
		})
	}
}
