package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit statuses of every command.
const (
	exitSuccess = 0
	exitFailure = 1 // the program failed, or its value could not be delivered
	exitMisuse  = 2 // nothing was run
)

// A failure ends a command with exitFailure. Any other error is misuse.
type failure struct {
	// reason is what is still to be told, or nil when all was told.
	reason error
}

func (f failure) Error() string {
	if f.reason == nil {
		return "the program failed"
	}
	return f.reason.Error()
}

func (f failure) Unwrap() error { return f.reason }

// execute runs the command that args name, and returns its exit status.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return exitSuccess
	}
	status := exitMisuse
	var failed failure
	if errors.As(err, &failed) {
		status = exitFailure
		if failed.reason == nil {
			return status
		}
	}
	fmt.Fprintf(stderr, "thirdrail: %s\n", oneLine(err))
	return status
}

// oneLine returns the text of an error without line breaks, which what a user
// wrote may have brought into it.
func oneLine(err error) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(err.Error())
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "thirdrail",
		Short: "Run Python that a language model wrote",
		Long: `Thirdrail runs a Python program that a language model wrote: full CPython in a
process of its own, with limits, captured output, and functions to call.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no command given; write thirdrail run FILE, or thirdrail --help for all commands")
			}
			return fmt.Errorf("there is no command %q; thirdrail --help lists them", args[0])
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("thirdrail {{.Version}}\n")
	root.AddCommand(newRun(), newBatch(), newTools(), newMCP(), newDoctor(), newBench(), newChild())
	return root
}

// flagError says which flag is wrong and what would be right.
func flagError(command *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
	}
	return fmt.Errorf("%w; %s --help lists the flags", err, command.CommandPath())
}

// version returns the version that the Go command has put into the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
