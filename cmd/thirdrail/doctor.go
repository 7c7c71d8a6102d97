package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/thirdrail-dev/thirdrail"
)

func newDoctor() *cobra.Command {
	var config thirdrail.Config
	var asJSON bool
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what confines a run on this machine, and how to get what is missing",
		Long: `doctor starts the interpreter as a run would, inside every wall that this machine
gives, and tells what the child has proven. A mechanism that isn't in force comes
with what brings it. The flags are those of run, so that it tells of such a run.

The exit status is 0 when a run would be confined as asked, and 1 when it would be
refused.`,
		Example: "  thirdrail doctor\n  thirdrail doctor --json\n  thirdrail doctor --allow-processes",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := absolute(&config.Sandbox); err != nil {
				return err
			}
			ctx, stop := interruptible(command.Context())
			defer stop()
			report, err := thirdrail.Examine(ctx, config)
			if err != nil {
				return inFlags(err)
			}
			report.Refusal = flagNames.Replace(report.Refusal)
			if err := printReport(command.OutOrStdout(), report, asJSON); err != nil {
				return err
			}
			if report.Refusal != "" {
				return failure{} // the report has said why
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	flags.StringVar(&config.Python, "python", "", "the interpreter, as a `PATH` or a name (default python3, then python)")
	addSandboxFlags(flags, &config.Sandbox)
	return command
}

func printReport(w io.Writer, report thirdrail.Report, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	text := "kernel       " + report.Kernel + "\n"
	if report.Python != "" {
		text += "interpreter  " + report.Python + ", Python " + report.PythonVersion + "\n"
		text += "processes    " + report.Isolation + "\n"
		if len(report.Wrapper) > 0 {
			text += "wrapper      " + shellquote.Join(report.Wrapper...) + "\n"
		}
	}
	text += "\n"
	for _, m := range report.Mechanisms {
		state := "in force"
		switch {
		case m.InForce:
		case m.Required:
			state = "MISSING"
		default:
			state = "not used"
		}
		text += fmt.Sprintf("%-9s %-18s %s\n", state, m.Name, m.Gives)
		if m.Remedy != "" {
			text += fmt.Sprintf("%28s to get it: %s\n", "", m.Remedy)
		}
	}
	for i, limit := range report.Limits {
		if i == 0 {
			text += "\n"
		}
		text += fmt.Sprintf("%-9s %-18s %s\n", "limit", limit.Limit, limit.By)
	}
	inForce := func(m thirdrail.Mechanism) bool { return m.InForce }
	switch {
	case report.Refusal != "":
		text += "\nA run is refused: " + report.Refusal + "\n"
	case slices.ContainsFunc(report.Mechanisms, inForce):
		text += "\nA run is confined by what is in force.\n"
	default:
		text += "\nNothing is confined: a program can do what you can.\n"
	}
	_, err := io.WriteString(w, text)
	return err
}
