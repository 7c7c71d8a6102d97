//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestInspector has the inspector's command line call the command: one that it starts
// as a client's file says, and one that listens. It is version 1, which runs on Node 20;
// version 2 wants Node 22.19.
func TestInspector(t *testing.T) {
	t.Parallel()
	folder, node := peerPackages(t, "@modelcontextprotocol/inspector-cli")
	script := filepath.Join(folder, "node_modules/@modelcontextprotocol/inspector-cli/build/cli.js")
	inspect := func(t *testing.T, args ...string) string {
		t.Helper()
		output, err := runNode(t, node, append([]string{script, "--cli"}, args...)...)
		if err != nil {
			t.Errorf("%q: %v: %s", args, err, output)
		}
		return output
	}
	call := []string{"--method", "tools/call", "--tool-name", "run_code", "--tool-arg", "code=return await files.echo(z=9007199254740993)"}
	const text = `{"z":9007199254740993}`

	t.Run("as a client's file says", func(t *testing.T) {
		s := newSession(t, "", "mcp", "--config", mcpConfig(t, ""))
		client := file(t, "client.json", fmt.Sprintf(`{"mcpServers": {"code": {"command": %q, "args": %s, "env": {"TMPDIR": %q}}}}`,
			binary, mustJSON(s.Args[1:]), s.temp))
		var list struct {
			Tools []struct{ Name, Description string }
		}
		output := inspect(t, "--config", client, "--server", "code", "--method", "tools/list")
		if err := json.Unmarshal([]byte(output), &list); err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "run_code" {
			t.Errorf("%v in %s", err, output)
		}
		if got := firstText(t, inspect(t, append([]string{"--config", client, "--server", "code"}, call...)...)); got != text {
			t.Errorf("got %s", got)
		}
		s.checkGone(0)
		s.checkNoFiles()
	})
	t.Run("over HTTP", func(t *testing.T) {
		s, url := startHTTP(t, "--token", "sesame")
		got := firstText(t, inspect(t, append([]string{url, "--transport", "http", "--header", "Authorization: Bearer sesame"}, call...)...))
		if got != text {
			t.Errorf("got %s", got)
		}
		s.interrupt(syscall.SIGTERM)
		s.wait()
		s.check(exitSuccess, "", "")
	})
}

// firstText returns the first text of a result that the inspector printed.
func firstText(t *testing.T, output string) string {
	t.Helper()
	var result struct{ Content []struct{ Text string } }
	if err := json.NewDecoder(strings.NewReader(output)).Decode(&result); err != nil || len(result.Content) == 0 {
		t.Fatalf("%v in %q", err, output)
	}
	return result.Content[0].Text
}
