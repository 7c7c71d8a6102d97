package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newTools() *cobra.Command {
	return &cobra.Command{
		Use:   "tools FILE|-",
		Short: "Show tools as Python declarations",
		Long: `Print the tools in FILE, or on standard input, as Python declarations: what a
model is told that calls them from a program. The output is a Python source that
compiles, and type checkers accept it.

FILE is JSON: {"namespaces": {"NS": [TOOL, …]}}, where a TOOL has "name",
"inputSchema", and perhaps "description", "outputSchema" and "command". Run a
program against them with thirdrail run --tools FILE: the command is the function
behind the tool, under the rules of --tool.`,
		Example: `  thirdrail tools examples/tools/tools.json
  thirdrail run program.py --tools examples/tools/tools.json`,
		Args: oneToolsFile,
		RunE: func(command *cobra.Command, args []string) error {
			set, err := readTools(args[0], command.InOrStdin())
			if err != nil {
				return err
			}
			if _, err := io.WriteString(command.OutOrStdout(), set.Source()); err != nil {
				return failure{fmt.Errorf("the declarations could not be written: %w", err)}
			}
			return nil
		},
	}
}

// oneToolsFile refuses any number of arguments but one.
func oneToolsFile(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no file of tools given; write thirdrail tools FILE, or thirdrail tools - to read it from standard input")
	}
	if len(args) > 1 {
		return fmt.Errorf("%d files given (%q and %q): tools takes one", len(args), args[0], args[1])
	}
	return nil
}
