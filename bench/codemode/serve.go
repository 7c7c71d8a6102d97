package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/thirdrail-dev/thirdrail/internal/rawserver"
)

// serverVariable makes this program one of its own MCP servers, by its value.
const serverVariable = "THIRDRAIL_BENCH_SERVER"

var servers = map[string]func() *mcp.Server{"tracker": newTracker, "chat": newChat}

// serve serves standard input and output, and ends the process, if a variable says so.
func serve() {
	rawserver.Main()
	server := servers[os.Getenv(serverVariable)]
	if server == nil {
		return
	}
	if err := server().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		slog.Error("the server ended", "error", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A command is how a server of a configuration is started.
type command struct {
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// own returns how one of this program's servers is started: tracker, chat or raw.
func own(name string) (command, error) {
	self, err := os.Executable()
	if err != nil {
		return command{}, fmt.Errorf("this program doesn't know its own path: %w", err)
	}
	variable := map[string]string{serverVariable: name}
	if name == "raw" {
		variable = map[string]string{rawserver.Variable: ""}
	}
	return command{Command: self, Env: variable}, nil
}
