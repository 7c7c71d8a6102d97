package upstream

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// public returns a server from npm that .ci/run installs, at the version that it pins.
func public(t *testing.T, name string, args ...string) Server {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skipf("there is no home folder to look for npm packages in: %v", err)
	}
	command := filepath.Join(home, ".cache", "thirdrail-checkers", "node_modules", ".bin", "mcp-"+name)
	if _, err := os.Stat(command); err != nil {
		t.Skipf("the npm package @modelcontextprotocol/%s is not installed in ~/.cache/thirdrail-checkers; .ci/run installs it", name)
	}
	return Server{Name: name, Command: command, Args: args}
}

// connectPublic connects to three servers. The one of files has a folder with a file
// package.json.
func connectPublic(t *testing.T) (s *Servers, folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"name": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	memory := public(t, "server-memory")
	memory.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.json")}
	s = connect(t, Options{}, public(t, "server-everything"), public(t, "server-filesystem", folder), memory)
	for _, one := range s.Status() {
		if one.State != Ready || one.Tools < 5 {
			t.Fatalf("%+v", one)
		}
	}
	return s, folder
}

func TestPublicServers(t *testing.T) {
	t.Parallel()
	s, folder := connectPublic(t)
	ctx := t.Context()
	r := &recorder{progress: true}
	t.Run("text", func(t *testing.T) {
		if got := must(t, s, ctx, "echo", `{"message":"hi"}`).Content[0].Text; got != "Echo: hi" {
			t.Error(got)
		}
	})
	t.Run("structured content", func(t *testing.T) {
		got := must(t, s, ctx, "get-structured-content", `{"location":"New York"}`)
		if !got.Structured.Get("temperature").Exists() {
			t.Errorf("%+v", got)
		}
	})
	t.Run("an image", func(t *testing.T) {
		images := 0
		for _, part := range must(t, s, ctx, "get-tiny-image", `{}`).Content {
			if part.MIME == "image/png" && strings.HasPrefix(string(part.Data), "\x89PNG") {
				images++
			}
		}
		if images != 1 {
			t.Errorf("%d images", images)
		}
	})
	t.Run("progress", func(t *testing.T) {
		must(t, s, WithCaller(ctx, r), "trigger-long-running-operation", `{"duration":0.2,"steps":4}`)
		r.mu.Lock()
		defer r.mu.Unlock()
		if got := fmt.Sprint(r.values); got != "[1 2 3 4]" {
			t.Error(got)
		}
	})
	t.Run("wrong arguments", func(t *testing.T) {
		if result, err := callTool(t, s, ctx, "echo", `{"message":5}`); err == nil && !result.IsError {
			t.Errorf("%+v", result)
		}
	})
	t.Run("a file that is JSON is what the server says", func(t *testing.T) {
		got := must(t, s, ctx, "read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(folder, "package.json")))
		if got.IsError || got.Structured.Get("content").String() != `"{\"name\": 1}"` {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a file outside", func(t *testing.T) {
		got, err := callTool(t, s, ctx, "read_text_file", `{"path":"/etc/passwd"}`)
		if err != nil || !got.IsError || !strings.Contains(got.Content[0].Text, "outside allowed directories") {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("a graph", func(t *testing.T) {
		must(t, s, ctx, "create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["counts"]}]}`)
		if got := must(t, s, ctx, "read_graph", `{}`); got.Structured.Get("entities").Len() != 1 {
			t.Errorf("%+v", got)
		}
	})
}
