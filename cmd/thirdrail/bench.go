package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thirdrail-dev/thirdrail/bench"
)

func newBench() *cobra.Command {
	var options bench.Options
	var asJSON bool
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure what a run costs on this machine, as ratios",
		Long: `bench measures runs, calls, the codec and the walls, each in turn with a reference
that it names, and prints the ratios of their medians as Markdown tables. All of it
takes some minutes, and on a busy machine more rounds give steadier figures.

Progress is shown on standard error where that is a terminal.`,
		Example: "  thirdrail bench\n  thirdrail bench --only start,walls --rounds 200\n  thirdrail bench --json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := interruptible(command.Context())
			defer stop()
			options.Progress = progressOn(command.ErrOrStderr())
			report, err := bench.Measure(ctx, options)
			if options.Progress != nil {
				fmt.Fprint(command.ErrOrStderr(), clearLine)
			}
			switch {
			case errors.Is(err, bench.ErrOptions):
				return benchFlags(err)
			case err != nil:
				return failure{inFlags(err)}
			case asJSON:
				encoder := json.NewEncoder(command.OutOrStdout())
				encoder.SetEscapeHTML(false)
				encoder.SetIndent("", "  ")
				return encoder.Encode(report)
			}
			_, err = io.WriteString(command.OutOrStdout(), report.Markdown())
			return err
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	flags.StringSliceVar(&options.Groups, "only", nil, "the `GROUPS` to measure, of "+strings.Join(bench.GroupNames(), ","))
	flags.IntVar(&options.Rounds, "rounds", 0, "how often each variant is measured (default 40)")
	flags.IntVar(&options.Waiting, "waiting", 0, "how many runs wait in a call while their memory is looked at (default 32)")
	flags.BoolVar(&options.ProcessorTime, "processor-time", false, "measure starts, walls and the codec by processor time, for a busy machine")
	flags.StringVar(&options.Python, "python", "", "the interpreter, as a `PATH` or a name (default python3, then python)")
	return command
}

// benchFlags names the flags where the library names its options.
func benchFlags(err error) error {
	text := strings.NewReplacer(
		bench.ErrOptions.Error()+": ", "", "Rounds is", "--rounds is", "Waiting", "--waiting",
		"there is no group", "--only: there is no group",
	).Replace(err.Error())
	return errors.New(text)
}

// clearLine goes back to the start of a terminal's line and clears it.
const clearLine = "\r\x1b[K"

// progressOn returns what tells progress on a terminal, or nil where there is none.
func progressOn(stderr io.Writer) func(what string, done, total int) {
	file := terminal(stderr)
	if file == nil {
		return nil
	}
	return func(what string, done, total int) {
		fmt.Fprintf(file, "%s%s %d of %d", clearLine, what, done, total)
	}
}
