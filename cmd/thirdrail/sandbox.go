package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/pflag"

	"github.com/thirdrail-dev/thirdrail"
)

// addSandboxFlags adds what opens or names walls.
func addSandboxFlags(flags *pflag.FlagSet, s *thirdrail.Sandbox) {
	flags.Var(choice[thirdrail.SandboxMode]{&s.Mode, []option[thirdrail.SandboxMode]{
		{"strict", thirdrail.SandboxStrict}, {"off", thirdrail.SandboxOff},
	}}, "sandbox", "confine the program, or run it with all your rights")
	flags.StringArrayVar(&s.AllowRead, "allow-read", nil, "a `PATH` that the program may read; may be repeated")
	flags.StringArrayVar(&s.AllowWrite, "allow-write", nil, "a `PATH` that the program may write; may be repeated")
	flags.StringArrayVar(&s.AllowExec, "allow-exec", nil, "a `PROGRAM` that may be executed inside the walls; may be repeated")
	flags.BoolVar(&s.AllowProcesses, "allow-processes", false, "let the program fork and start the interpreter")
	flags.BoolVar(&s.AllowNetwork, "allow-network", false, "give the program your network")
	flags.Var((*words)(&s.Wrapper), "wrapper", "a `COMMAND` that each run is started by, as 'bwrap --dev-bind / /': the outermost wall")
	flags.StringSliceVar(&s.Allow, "allow", nil, "`MECHANISMS` that may be missing on this machine, as landlock,seccomp")
}

// absolute makes the paths of a sandbox absolute, and refuses those that don't exist.
func absolute(s *thirdrail.Sandbox) error {
	for _, list := range []struct {
		flag  string
		paths []string
	}{{"--allow-read", s.AllowRead}, {"--allow-write", s.AllowWrite}, {"--allow-exec", s.AllowExec}} {
		for i, path := range list.paths {
			full, err := filepath.Abs(path)
			if err != nil {
				return fmt.Errorf("%s %q: %w", list.flag, path, err)
			}
			if _, err := os.Stat(full); err != nil {
				return fmt.Errorf("%s %q can't be opened: %w; write a path that exists", list.flag, path, withoutPath(err))
			}
			list.paths[i] = full
		}
	}
	return nil
}

// words is a flag with a command line, split as a shell does.
type words []string

// String returns the command line.
func (w *words) String() string { return shellquote.Join(*w...) }

// Set splits a command line.
func (w *words) Set(line string) error {
	split, err := shellquote.Split(line)
	if err != nil {
		return fmt.Errorf("%q can't be split into words: %s", line, quotingFault(err))
	}
	if len(split) == 0 {
		return errors.New("it is empty; write a command, or leave it out")
	}
	*w = split
	return nil
}

// Type returns what the help shows.
func (w *words) Type() string { return "COMMAND" }
