package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// serverStart is how long MCP servers may take to start: some are installed first.
const serverStart = 2 * time.Minute

// A toolbox is where the tools of a command come from.
type toolbox struct {
	file    string // of tools with their schemas
	servers string // file of MCP servers
}

// read reads both files, before anything is started.
func (b toolbox) read(stdin io.Reader) (tools []codemode.Tool, config upstream.Config, err error) {
	if b.file != "" {
		if tools, err = readTools(b.file, stdin); err != nil {
			return nil, config, err
		}
	}
	if b.servers != "" {
		config, err = readServers(b.servers, stdin)
	}
	return tools, config, err
}

// readServers returns the MCP servers that a file lists.
func readServers(name string, stdin io.Reader) (config upstream.Config, err error) {
	text, err := readInput("list of MCP servers", name, stdin)
	if err != nil {
		return config, err
	}
	if config, err = upstream.ReadConfig(strings.NewReader(string(text))); err != nil {
		err = fmt.Errorf("the list of MCP servers in %q: %w", name, err)
	}
	return config, err
}

// connectServers connects to servers, all of them or none, and adds their tools.
func connectServers(ctx context.Context, config upstream.Config, tools []codemode.Tool, log *slog.Logger) (*upstream.Servers, *codemode.Set, error) {
	servers, err := upstream.Connect(ctx, config, upstream.Options{Logger: log, StartLimit: serverStart})
	if err != nil {
		return nil, nil, err
	}
	for _, tool := range servers.Tools() {
		tools = append(tools, tool.Tool)
	}
	set, err := codemode.Options{About: servers.About()}.New(nil, tools...)
	if err != nil {
		err = toolFault(err)
	}
	if err = errors.Join(missing(ctx, servers.Status()), err); err != nil {
		return nil, nil, errors.Join(err, servers.Close())
	}
	return servers, set, nil
}

// missing says which servers aren't there.
func missing(ctx context.Context, all []upstream.Status) error {
	if ctx.Err() != nil {
		return errors.New("interrupted while the MCP servers were starting")
	}
	var faults []error
	for _, one := range all {
		switch one.State {
		case upstream.Ready:
		case upstream.Starting:
			faults = append(faults, fmt.Errorf(`the MCP server %q is not ready after %v; look at its own log, or give it "disabled": true`, one.Name, serverStart))
		default:
			faults = append(faults, fmt.Errorf(`the MCP server %q can't be used: %w; mend that, or give it "disabled": true`, one.Name, one.Err))
		}
	}
	return errors.Join(faults...)
}
