package main

import (
	"fmt"
	"os"
	"path/filepath"

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
