package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/thirdrail-dev/thirdrail"
)

// runOptions are the flags of run.
type runOptions struct {
	worldOptions
	data string
	json bool
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
	flags.BoolVar(&o.json, "json", false, "print one JSON object: value, logs, error, stats")
	flags.StringVar(&o.data, "data", "", "JSON `FILE|-` that the program sees as the global data")
	o.worldOptions.addFlags(flags, "how the interpreter is started: auto spawns it, which is quickest for one program, or forks with --preload")
}

// run does everything that can go wrong by misuse first: then nothing is
// half-done.
func (o *runOptions) run(command *cobra.Command, file string) error {
	if err := o.check(command.Flags(), file); err != nil {
		return err
	}
	functions, err := o.functions(command.InOrStdin())
	if err != nil {
		return err
	}
	var request thirdrail.Request
	if err := o.read(&request, file, command.InOrStdin()); err != nil {
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
	if err := functions.connect(ctx, stderr); err != nil {
		return err
	}
	defer functions.close()
	conclude := functions.add(&request)
	if o.config.Start == thirdrail.StartAuto && len(o.config.Preload) == 0 {
		// A nursery would be started for one child only.
		o.config.Start = thirdrail.StartSpawn
	}
	result, err := runOnce(ctx, o.config, request)
	if err != nil {
		return inFlags(err)
	}
	for _, warning := range conclude(result) {
		fmt.Fprintln(stderr, "thirdrail: warning: "+warning)
	}
	return printer{stdout, stderr, o.json}.write(result)
}

// check refuses flags that don't go together, or that the library would read as
// not given.
func (o *runOptions) check(flags *pflag.FlagSet, file string) error {
	if flags.Changed("data") && o.data == "" {
		return errors.New(`--data is empty; write the path of a JSON file, or - for standard input`)
	}
	if file == standardInput && o.data == standardInput {
		return errors.New("the program and --data can't both come from standard input; put one of them into a file")
	}
	if o.from.file == standardInput && (file == standardInput || o.data == standardInput) {
		return errors.New("--tools can't come from standard input beside the program or --data; put one of them into a file")
	}
	if o.from.servers == standardInput && (file == standardInput || o.data == standardInput) {
		return errors.New("--mcp can't come from standard input beside the program or --data; put one of them into a file")
	}
	return o.worldOptions.check(flags)
}

// read puts the program and its data into a request.
func (o *runOptions) read(request *thirdrail.Request, file string, stdin io.Reader) (err error) {
	if request.Program, err = readProgram(file, stdin); err != nil {
		return err
	}
	if o.data != "" {
		request.Data, err = readData(o.data, stdin, o.config.Numbers)
	}
	return err
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
