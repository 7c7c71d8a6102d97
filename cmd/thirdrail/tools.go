package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newTools() *cobra.Command {
	var from toolbox
	command := &cobra.Command{
		Use:   "tools [FILE|-]",
		Short: "Show tools as Python declarations",
		Long: `Print the tools in FILE, or on standard input, as Python declarations: what a
model is told that calls them from a program. The output is a Python source that
compiles, and type checkers accept it.

FILE is JSON: {"namespaces": {"NS": [TOOL, …]}}, where a TOOL has "name",
"inputSchema", and perhaps "description", "outputSchema" and "command". Run a
program against them with thirdrail run --tools FILE: the command is the function
behind the tool, under the rules of --tool.

With --mcp, print the tools of MCP servers: each server is a namespace. The file is
the one that MCP clients use, see thirdrail run --help.`,
		Example: `  thirdrail tools examples/tools/tools.json
  thirdrail run program.py --tools examples/tools/tools.json

  # The tools of MCP servers
  thirdrail tools --mcp servers.json`,
		Args: oneToolsFile,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				from.file = args[0]
			}
			source, err := from.source(command)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(command.OutOrStdout(), source); err != nil {
				return failure{fmt.Errorf("the declarations could not be written: %w", err)}
			}
			return nil
		},
	}
	addServersFlag(command.Flags(), &from)
	return command
}

func addServersFlag(flags *pflag.FlagSet, from *toolbox) {
	flags.StringVar(&from.servers, "mcp", "", "JSON `FILE|-` of MCP servers whose tools are functions")
}

// source returns the declarations of all tools.
func (b toolbox) source(command *cobra.Command) (string, error) {
	tools, config, err := b.read(command.InOrStdin())
	if err != nil {
		return "", err
	}
	ctx, stop := interruptible(command.Context())
	defer stop()
	servers, set, err := connectServers(ctx, config, tools, warnings(command.ErrOrStderr(), slog.LevelWarn))
	if err != nil {
		return "", err
	}
	return set.Source(), servers.Close()
}

// oneToolsFile refuses any number of files but one, or none with --mcp.
func oneToolsFile(command *cobra.Command, args []string) error {
	servers := command.Flags().Lookup("mcp")
	if servers.Changed && servers.Value.String() == "" {
		return errEmptyServers
	}
	if len(args) == 0 && !servers.Changed {
		return errors.New("no file of tools given; write thirdrail tools FILE, or thirdrail tools - to read it from standard input, or --mcp FILE for MCP servers")
	}
	if len(args) > 1 {
		return fmt.Errorf("%d files given (%q and %q): tools takes one", len(args), args[0], args[1])
	}
	if len(args) == 1 && args[0] == standardInput && servers.Value.String() == standardInput {
		return errors.New("the tools and --mcp can't both come from standard input; put one of them into a file")
	}
	return nil
}

var errEmptyServers = errors.New(`--mcp is empty; write the path of a JSON file of MCP servers, or - for standard input`)
