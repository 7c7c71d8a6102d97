package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
)

func newChild() *cobra.Command {
	var python string
	command := &cobra.Command{
		Use:   "child",
		Short: "Become a child, for hosts of another make",
		Long: `Become a child: a Python interpreter that speaks the protocol of wire/wire.md on
descriptor 3 with whoever started this command. The host sends a boot frame and a
run frame, answers calls, and reads logs and the value.

Descriptor 3 must be one end of a Unix stream socket pair. The other descriptors,
the environment and the working directory stay as they are. Limits of time and the
end of all processes are the host's business.`,
		Example: `  // Node.js
  spawn("thirdrail", ["child"], { stdio: ["ignore", "pipe", "pipe", "pipe"] })

  # Python
  host, rail = socket.socketpair()
  os.dup2(rail.fileno(), 3)
  subprocess.Popen(["thirdrail", "child"], pass_fds=[3])`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("child takes no arguments, but was given %q; the program comes in the run frame", args[0])
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			if command.Flags().Changed("python") && python == "" {
				return errEmptyPython
			}
			if err := child.InheritRail(); err != nil {
				return fmt.Errorf("%w; start thirdrail child from a host that gives it one end of a socket pair there (thirdrail child --help shows how), or use thirdrail run", err)
			}
			found, err := interpreter.Find(command.Context(), python)
			if err != nil {
				return inFlags(err)
			}
			return fmt.Errorf("the child can't be started: %w", child.Become(found))
		},
	}
	command.Flags().StringVar(&python, "python", "", "the interpreter, as a `PATH` or a name (default python3, then python)")
	return command
}

// errEmptyPython is what an empty --python says: the library would read it as not
// given.
var errEmptyPython = errors.New("--python is empty; write the path of an interpreter, or leave the flag out for python3")
