package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// build returns the command thirdrail, built into a folder from the tree that this
// program is part of.
func build(ctx context.Context, folder string) (string, error) {
	find := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/thirdrail-dev/thirdrail")
	root, err := find.Output()
	if err != nil {
		return "", fmt.Errorf("the module thirdrail isn't found; run this in bench/codemode: %w", err)
	}
	path := filepath.Join(folder, "thirdrail")
	command := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/thirdrail")
	command.Dir = strings.TrimSpace(string(root))
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building thirdrail: %w\n%s", err, out)
	}
	return path, nil
}

// writeConfig writes a configuration of servers, and returns its path.
func writeConfig(folder string, servers map[string]command) (string, error) {
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(folder, "servers-*.json")
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	return file.Name(), errors.Join(err, file.Close())
}

// newClient returns a client as an agent has one. heard gets what comes as progress; it
// may be nil.
func newClient(heard func(message string)) *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if heard != nil {
				heard(r.Params.Message)
			}
		},
	})
}

// connect starts a server, and returns a client of it.
func connect(ctx context.Context, c command) (*mcp.ClientSession, error) {
	start := exec.Command(c.Command, c.Args...)
	start.Env = os.Environ()
	for name, value := range c.Env {
		start.Env = append(start.Env, name+"="+value)
	}
	session, err := newClient(nil).Connect(ctx, &mcp.CommandTransport{Command: start}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", c.Command, c.Args, err)
	}
	return session, nil
}

// connectProxy starts thirdrail mcp over servers, and returns a client of it.
func (b *bench) connectProxy(ctx context.Context, servers map[string]command) (*mcp.ClientSession, error) {
	config, err := writeConfig(b.folder, servers)
	if err != nil {
		return nil, err
	}
	return connect(ctx, command{Command: b.thirdrail, Args: []string{"mcp", "--config", config, "--strict"}})
}

// call calls a tool that must succeed, and returns the text that a model gets.
func call(ctx context.Context, session *mcp.ClientSession, tool string, arguments any) (string, error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", fmt.Errorf("%s: %w", tool, err)
	}
	var text strings.Builder
	for _, part := range result.Content {
		one, ok := part.(*mcp.TextContent)
		if !ok {
			return "", fmt.Errorf("%s gave a %T", tool, part)
		}
		text.WriteString(one.Text)
	}
	if result.IsError {
		return "", fmt.Errorf("%s failed: %s", tool, text.String())
	}
	return text.String(), nil
}

// runCode runs a program that must succeed.
func runCode(ctx context.Context, session *mcp.ClientSession, code string) (string, error) {
	return call(ctx, session, "run_code", map[string]any{"code": code})
}

// A webHost is a thirdrail mcp that serves HTTP.
type webHost struct {
	url     string
	command *exec.Cmd
	drained chan struct{} // closed when its standard error is read to the end
}

// startWeb starts one over servers.
func (b *bench) startWeb(servers map[string]command) (*webHost, error) {
	config, err := writeConfig(b.folder, servers)
	if err != nil {
		return nil, err
	}
	h := &webHost{command: exec.Command(b.thirdrail, "mcp", "--config", config, "--strict", "--http", "0"), drained: make(chan struct{})}
	pipe, err := h.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := h.command.Start(); err != nil {
		return nil, err
	}
	var said strings.Builder
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		if _, url, found := strings.Cut(lines.Text(), "url="); found {
			h.url = url
			break
		}
		said.WriteString(lines.Text() + "\n")
	}
	go func() {
		defer close(h.drained)
		_, _ = io.Copy(io.Discard, pipe)
	}()
	if h.url == "" {
		return nil, errors.Join(fmt.Errorf("thirdrail mcp doesn't listen: %s", said.String()), h.close())
	}
	return h, nil
}

// close ends the host.
func (h *webHost) close() error {
	_ = h.command.Process.Signal(os.Interrupt)
	<-h.drained
	return h.command.Wait()
}

// memory returns a line of /proc/PID/status in bytes, such as VmRSS or VmHWM, and
// whether this system has it. See proc_pid_status(5).
func (h *webHost) memory(line string) (bytes float64, known bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.command.Process.Pid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(text), "\n"+line+":")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kibibytes, err := strconv.ParseFloat(number, 64)
	return kibibytes * 1024, err == nil
}
