package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/internal/units"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// worldOptions are the flags that make a program's world: what it may use and call.
// They are the same for one program and for many.
type worldOptions struct {
	config thirdrail.Config
	tools  []string
	file   string // of tools with their schemas
}

// addFlags adds the flags. startHelp says what auto means for the command.
func (o *worldOptions) addFlags(flags *pflag.FlagSet, startHelp string) {
	limits := &o.config.Limits
	limit := thirdrail.DefaultLimits()
	flags.StringArrayVar(&o.tools, "tool", nil, "a function and the command behind it, as `NS.NAME=COMMAND`; may be repeated")
	flags.StringVar(&o.file, "tools", "", "JSON `FILE|-` of tools with their schemas, see thirdrail tools --help")
	flags.Var((*units.Duration)(&limits.Wall), "wall", "the most time for the program"+byDefault(limit.Wall))
	flags.Var((*units.Duration)(&limits.CPU), "cpu", "the most processor time"+byDefault(limit.CPU))
	flags.Var((*units.Size)(&limits.Memory), "memory", "the most memory"+byDefault(units.FormatSize(limit.Memory)))
	flags.Var((*units.Size)(&limits.LogBytes), "log-bytes", "the most output that is kept"+byDefault(units.FormatSize(limit.LogBytes)))
	flags.Var((*units.Size)(&limits.ValueBytes), "value-bytes", "the largest value"+byDefault(units.FormatSize(limit.ValueBytes)))
	flags.Var(choice[lossless.Numbers]{&o.config.Numbers, []option[lossless.Numbers]{
		{"exact", lossless.Exact}, {"double", lossless.Double},
	}}, "numbers", "which numbers cross: all exactly, or those that a double holds")
	flags.StringVar(&o.config.Python, "python", "", "the interpreter, as a `PATH` or a name (default python3, then python)")
	flags.StringSliceVar(&o.config.Preload, "preload", nil, "`MODULES` to import before the program starts, as a,b")
	flags.Var(choice[thirdrail.StartMethod]{&o.config.Start, []option[thirdrail.StartMethod]{
		{"auto", thirdrail.StartAuto}, {"fork", thirdrail.StartFork}, {"spawn", thirdrail.StartSpawn},
	}}, "start", startHelp)
	addSandboxFlags(flags, &o.config.Sandbox)
}

func byDefault(value any) string { return fmt.Sprintf(" (default %v)", value) }

// check refuses flags that the library would read as not given.
func (o *worldOptions) check(flags *pflag.FlagSet) error {
	if flags.Changed("python") && o.config.Python == "" {
		return errEmptyPython
	}
	if flags.Changed("tools") && o.file == "" {
		return errors.New(`--tools is empty; write the path of a JSON file, or - for standard input`)
	}
	return absolute(&o.config.Sandbox)
}

// functions are what programs can call.
type functions struct {
	namespaces []thirdrail.Namespace // of --tool
	set        *codemode.Set         // of --tools; nil without
}

// functions reads what the flags say.
func (o *worldOptions) functions(stdin io.Reader) (f functions, err error) {
	if f.namespaces, err = toolNamespaces(o.tools); err != nil {
		return f, err
	}
	if o.file != "" {
		f.set, err = readTools(o.file, stdin)
	}
	return f, err
}

// request returns what one run gets of the functions, and what is to be called on
// its result. It returns the warnings of tools.
func (f functions) request() (request thirdrail.Request, conclude func(*thirdrail.Result) []string) {
	request.Namespaces = f.namespaces
	if f.set == nil {
		return request, func(*thirdrail.Result) []string { return nil }
	}
	session := f.set.Session()
	request.Namespaces = append(session.Namespaces(), f.namespaces...)
	request.LastExpression = true
	return request, func(result *thirdrail.Result) []string {
		outcome := session.Outcome(result)
		result.Value = outcome.Value
		return outcome.Warnings
	}
}

// flagNames are the library's names for what a user of the command sets by flag.
var flagNames = strings.NewReplacer(
	"thirdrail: misuse: ", "",
	"thirdrail: ", "",
	"Config.Python or --python", "--python",
	"Config.Start", "--start",
	"Config.Preload", "--preload",
	"leave it empty, and import", "leave it out, and import",
	"Config.Sandbox.Mode is off", "--sandbox is off",
	"leave the Allow fields empty, or use SandboxStrict", "leave --allow-read and the like out, or write --sandbox strict",
	"Config.Sandbox.Mode", "--sandbox",
	"Config.Sandbox.Allow has", "--allow has",
	"Config.Sandbox.Wrapper", "--wrapper",
	"Sandbox.Wrapper", "--wrapper",
	"Config.Sandbox: confine: ", "",
	"Sandbox.AllowProcesses", "--allow-processes",
	"accept that with Sandbox.Allow", "accept that with --allow",
	"or run programs with all your rights with SandboxOff", "or run the program with all your rights with --sandbox off",
	"Sandbox.Mode SandboxOff runs them", "--sandbox off runs them",
	"use another with Config.Python, or SandboxOff to run", "use another with --python, or --sandbox off to run",
	"Limits.Wall", "--wall",
	"Limits.CPU", "--cpu",
	"Limits.Memory", "--memory",
	"Limits.LogBytes", "--log-bytes",
	"Limits.ValueBytes", "--value-bytes",
	"with FrameBytes", "with a frame limit of",
	"namespace global", "--tool namespace",
	"Request.Data", "--data",
	"Request.Program", "the program",
)

// inFlags says an error of the library in the words of the command line.
func inFlags(err error) error { return errors.New(flagNames.Replace(err.Error())) }

// warnings returns a logger for what the library tells beside its results.
func warnings(stderr io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{} // it is now
			}
			return a
		},
	}))
}
