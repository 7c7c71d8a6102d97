package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/internal/units"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// runOptions are the flags of run.
type runOptions struct {
	config thirdrail.Config
	tools  []string
	from   toolbox
	data   string
	json   bool
}

func newRun() *cobra.Command {
	var options runOptions
	command := &cobra.Command{
		Use:   "run FILE|-",
		Short: "Run one program",
		Long: `Run the Python program in FILE, or on standard input.

The program is a module whose top level may also await and return. What it
returns is printed to standard output as JSON, what it prints goes to standard
error as it comes. Exit status 0: it succeeded. 1: it failed, and standard error
says why. 2: the command was used wrongly, and nothing was run.

Each --tool is a function that the program can await. Its command is split into
words as a shell does, and started without a shell, outside the confinement, as
you. It gets the arguments as JSON on standard input and prints its result as
JSON. When it exits with another status than 0, the program sees an exception
with the last line of its standard error. For pipes and variables, write a shell:
--tool 'db.page=sh -c "jq .n | fetch"'.

With --mcp, the tools of MCP servers are functions too, each server a namespace.
The file is the one that MCP clients use:
{"mcpServers": {"fs": {"command": "npx", "args": ["…"]}, "web": {"url": "https://…"}}}.
The servers are started outside the confinement, as you, and ended with the run.
thirdrail tools --mcp FILE shows what they offer.`,
		Example: `  # A value, and a line on standard error
  printf 'print("adding")\nreturn 1 + 2' | thirdrail run -

  # A program that calls a tool
  printf 'who = await dir.user(id=7)\nreturn who["id"]' |
    thirdrail run - --tool 'dir.user=cat'

  # Data in, everything about the run out
  echo '[3, 1, 2]' | thirdrail run sort.py --data - --json

  # The tools of MCP servers
  thirdrail run join.py --mcp servers.json

  # Limits
  thirdrail run crunch.py --wall 10s --cpu 5s --memory 256MiB --value-bytes 64KiB`,
		Args: oneProgram,
		RunE: func(command *cobra.Command, args []string) error {
			return options.run(command, args[0])
		},
	}
	options.addFlags(command.Flags())
	return command
}

// oneProgram refuses any number of arguments but one.
func oneProgram(command *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errors.New("no program given; write thirdrail run FILE, or thirdrail run - to read it from standard input")
	case 1:
		return nil
	default:
		return fmt.Errorf("%d programs given (%q and %q): run takes one; a COMMAND with spaces needs quotes, as in --tool 'db.page=fetch --json'",
			len(args), args[0], args[1])
	}
}

func (o *runOptions) addFlags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	limits := &o.config.Limits
	limit := thirdrail.DefaultLimits()
	flags.BoolVar(&o.json, "json", false, "print one JSON object: value, logs, error, stats")
	flags.StringArrayVar(&o.tools, "tool", nil, "a function and the command behind it, as `NS.NAME=COMMAND`; may be repeated")
	flags.StringVar(&o.from.file, "tools", "", "JSON `FILE|-` of tools with their schemas, see thirdrail tools --help")
	addServersFlag(flags, &o.from)
	flags.StringVar(&o.data, "data", "", "JSON `FILE|-` that the program sees as the global data")
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
	}}, "start", "how the interpreter is started: auto spawns it, which is quickest for one program, or forks with --preload")
	addSandboxFlags(flags, &o.config.Sandbox)
}

func byDefault(value any) string { return fmt.Sprintf(" (default %v)", value) }

// run does everything that can go wrong by misuse first: then nothing is
// half-done.
func (o *runOptions) run(command *cobra.Command, file string) error {
	if err := o.check(command.Flags(), file); err != nil {
		return err
	}
	request, err := o.request(file, command.InOrStdin())
	if err != nil {
		return err
	}
	tools, config, err := o.from.read(command.InOrStdin())
	if err != nil {
		return err
	}
	surviveClosedOutput()
	ctx, stop := interruptible(command.Context())
	defer stop()
	stdout, stderr := command.OutOrStdout(), command.ErrOrStderr()
	if !o.json {
		request.OnLog = func(text string) { _, _ = io.WriteString(stderr, text+"\n") }
	}
	o.config.Logger = warnings(stderr, slog.LevelInfo)
	var session *codemode.Session
	if o.from != (toolbox{}) {
		servers, set, err := connectServers(ctx, config, tools, warnings(stderr, slog.LevelWarn))
		if err != nil {
			return err
		}
		defer servers.Close()
		session = set.Session()
		request.Namespaces = append(request.Namespaces, session.Namespaces()...)
		request.LastExpression = true
	}
	if o.config.Start == thirdrail.StartAuto && len(o.config.Preload) == 0 {
		// A nursery would be started for one child only.
		o.config.Start = thirdrail.StartSpawn
	}
	result, err := runOnce(ctx, o.config, request)
	if err != nil {
		return inFlags(err)
	}
	if session != nil {
		outcome := session.Outcome(result)
		result.Value = outcome.Value
		for _, warning := range outcome.Warnings {
			fmt.Fprintln(stderr, "thirdrail: warning: "+warning)
		}
	}
	return report{stdout, stderr, o.json}.write(result)
}

// check refuses flags that don't go together, or that the library would read as
// not given.
func (o *runOptions) check(flags *pflag.FlagSet, file string) error {
	if flags.Changed("python") && o.config.Python == "" {
		return errEmptyPython
	}
	if flags.Changed("data") && o.data == "" {
		return errors.New(`--data is empty; write the path of a JSON file, or - for standard input`)
	}
	if file == standardInput && o.data == standardInput {
		return errors.New("the program and --data can't both come from standard input; put one of them into a file")
	}
	if flags.Changed("tools") && o.from.file == "" {
		return errors.New(`--tools is empty; write the path of a JSON file, or - for standard input`)
	}
	if flags.Changed("mcp") && o.from.servers == "" {
		return errEmptyServers
	}
	if o.from.file == standardInput && (file == standardInput || o.data == standardInput) {
		return errors.New("--tools can't come from standard input beside the program or --data; put one of them into a file")
	}
	if o.from.servers == standardInput && (file == standardInput || o.data == standardInput || o.from.file == standardInput) {
		return errors.New("--mcp can't come from standard input beside the program, --data or --tools; put one of them into a file")
	}
	return absolute(&o.config.Sandbox)
}

func (o *runOptions) request(file string, stdin io.Reader) (request thirdrail.Request, err error) {
	if request.Namespaces, err = toolNamespaces(o.tools); err != nil {
		return request, err
	}
	if request.Program, err = readProgram(file, stdin); err != nil {
		return request, err
	}
	if o.data != "" {
		request.Data, err = readData(o.data, stdin, o.config.Numbers)
	}
	return request, err
}

// runOnce runs a program in a runtime of its own, and returns when nothing is left
// of either.
func runOnce(ctx context.Context, config thirdrail.Config, request thirdrail.Request) (*thirdrail.Result, error) {
	runtime, err := thirdrail.New(ctx, config)
	if err != nil {
		if ctx.Err() == nil {
			return nil, err
		}
		return &thirdrail.Result{Failure: &thirdrail.Failure{
			Kind:    thirdrail.Abort,
			Message: fmt.Sprintf("the run was aborted: %v", context.Cause(ctx)),
		}}, nil
	}
	result, err := runtime.Run(ctx, request)
	return result, errors.Join(err, runtime.Close())
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
