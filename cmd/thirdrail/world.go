package main

import (
	"context"
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
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

// worldOptions are the flags that make a program's world: what it may use and call.
// They are the same for one program and for many.
type worldOptions struct {
	config thirdrail.Config
	tools  []string
	from   toolbox
}

// addFlags adds the flags. startHelp says what auto means for the command.
func (o *worldOptions) addFlags(flags *pflag.FlagSet, startHelp string) {
	limits := &o.config.Limits
	limit := thirdrail.DefaultLimits()
	flags.StringArrayVar(&o.tools, "tool", nil, "a function and the command behind it, as `NS.NAME=COMMAND`; may be repeated")
	flags.StringVar(&o.from.file, "tools", "", "JSON `FILE|-` of tools with their schemas, see thirdrail tools --help")
	addServersFlag(flags, &o.from)
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
	if flags.Changed("tools") && o.from.file == "" {
		return errors.New(`--tools is empty; write the path of a JSON file, or - for standard input`)
	}
	if flags.Changed("mcp") && o.from.servers == "" {
		return errEmptyServers
	}
	if o.from.file == standardInput && o.from.servers == standardInput {
		return errors.New("--tools and --mcp can't both come from standard input; put one of them into a file")
	}
	return absolute(&o.config.Sandbox)
}

// functions are what programs can call.
type functions struct {
	namespaces []thirdrail.Namespace // of --tool
	from       toolbox
	tools      []codemode.Tool // of --tools
	config     upstream.Config // of --mcp
	servers    *upstream.Servers
	set        *codemode.Set // of tools and servers; nil without both
}

// functions reads what the flags say. Nothing is started before connect.
func (o *worldOptions) functions(stdin io.Reader) (*functions, error) {
	f := &functions{from: o.from}
	var err error
	if f.namespaces, err = toolNamespaces(o.tools); err != nil {
		return nil, err
	}
	f.tools, f.config, err = o.from.read(stdin)
	return f, err
}

// connect connects to the servers, if there are any. The caller calls close.
func (f *functions) connect(ctx context.Context, stderr io.Writer) (err error) {
	if f.from != (toolbox{}) {
		f.servers, f.set, err = connectServers(ctx, f.config, f.tools, warnings(stderr, slog.LevelWarn))
	}
	return err
}

// close ends the servers.
func (f *functions) close() error {
	if f.servers == nil {
		return nil
	}
	return f.servers.Close()
}

// add gives a run the functions, and returns what is to be called on its result. That
// returns the warnings of tools.
func (f *functions) add(request *thirdrail.Request) (conclude func(*thirdrail.Result) []string) {
	request.Namespaces = f.namespaces
	if f.set == nil {
		return func(*thirdrail.Result) []string { return nil }
	}
	session := f.set.Session()
	request.Namespaces = append(session.Namespaces(), f.namespaces...)
	request.LastExpression = true
	return func(result *thirdrail.Result) []string {
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

// warnings returns a logger for what the library tells beside its results, from a
// level on.
func warnings(stderr io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{} // it is now
			}
			return a
		},
	}))
}
