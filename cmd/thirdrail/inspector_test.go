//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspector has the inspector's command line call the command: one that it starts
// as a client's file says, and one that listens. It is version 1, which runs on Node 20;
// version 2 wants Node 22.19.
func TestInspector(t *testing.T) {
	t.Parallel()
	script, node := inspector(t)
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
		s.stop()
	})
}

// inspector returns its script. That looks for the package.json of the inspector beside
// its own folder, which only the package with the inspector's web pages brings.
func inspector(t *testing.T) (script, node string) {
	t.Helper()
	folder, node := peerPackages(t, "@modelcontextprotocol/inspector-cli")
	modules := filepath.Join(folder, "node_modules")
	home := t.TempDir()
	if err := os.CopyFS(filepath.Join(home, "cli"), os.DirFS(filepath.Join(modules, "@modelcontextprotocol/inspector-cli"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(home, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "package.json"), []byte(`{"name":"@modelcontextprotocol/inspector","version":"1.0.3","type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, "cli/build/cli.js"), node
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
