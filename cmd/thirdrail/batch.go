package main

import (
	"errors"
	"fmt"
	goruntime "runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// batchOptions are the flags of batch.
type batchOptions struct {
	worldOptions
	workers  int
	inOrder  bool
	output   string
	resume   bool
	retry    bool
	failFast bool
}

func newBatch() *cobra.Command {
	var options batchOptions
	command := &cobra.Command{
		Use:   "batch FILE|-",
		Short: "Run many programs, from JSON lines to JSON lines",
		Long: `Run the programs in FILE, or on standard input, several at once. A line is a job:

  {"id": 7, "program": "return sum(data)", "data": [1, 2], "limits": {"wall": "10s"}}

id is any string or number, data any JSON that the program sees as its global
data. limits replace those of the flags, larger ones too: wall, cpu, memory,
logBytes, valueBytes, frameBytes, callsInFlight, processes, diskBytes, as "10s",
"64MiB" or a number. data and limits may be left out. Blank lines are skipped.

A line goes out for each job as it ends, in one write:

  {"id":7,"value":3,"logs":[],"stats":{…}}
  {"id":8,"logs":["…"],"error":{"kind":"timeout","message":"…"},"stats":{…}}

Without a value there is no "value", and no "error" without a failure. Values and
data cross exactly, and the digits of a number that is an id are kept.

A line that is no job, or is longer than 32 MiB, goes out as an error of the kind
invalid-job with its number as "line", and the rest run. Its id is null where it
has none of its own. Ids are compared as they are spelled: 1, 1.0 and "1" are three.
A second job with the same id is an invalid-job too, whose id is null. Of each id a
hash is remembered, some 40 bytes, of the first ten million; later ones may repeat.
Input that begins with 100 lines of which none is a JSON object, or has no other, is
refused. It is read only as fast as jobs run.

--resume takes an --output that has results: jobs whose id is there are skipped,
whether they failed or not, and with --retry-failed only those that succeeded. So
are lines that are no jobs, by their number. A half-written last line is removed
first. A file with anything else in it is refused and not changed.

Progress is a bar where standard error is a terminal, and a line each 10 seconds
elsewhere. Ctrl-C starts no more jobs and aborts those in flight, without a result,
so that --resume runs them again. A second one ends the command at once.

Exit status 0: all jobs succeeded. 1: some failed, or it was interrupted. 2: the
command was used wrongly, and nothing was run.`,
		Example: `  thirdrail batch examples/batch/jobs.jsonl
  thirdrail batch jobs.jsonl -o results.jsonl -j 8 --wall 10s
  thirdrail batch jobs.jsonl -o results.jsonl --resume --retry-failed
  generate | thirdrail batch - --in-order | consume`,
		Args: oneJobsFile,
		RunE: func(command *cobra.Command, args []string) error {
			return options.run(command, args[0])
		},
	}
	options.addFlags(command.Flags())
	return command
}

// oneJobsFile refuses any number of arguments but one.
func oneJobsFile(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errors.New("no jobs given; write thirdrail batch FILE, or thirdrail batch - to read them from standard input")
	case 1:
		return nil
	default:
		return fmt.Errorf("%d files given (%q and %q): batch takes one; join them with cat, and write thirdrail batch -", len(args), args[0], args[1])
	}
}

func (o *batchOptions) addFlags(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.IntVarP(&o.workers, "jobs", "j", 4*goruntime.GOMAXPROCS(0), "how many run at once, four for each processor by default; one for each suits programs that compute for long")
	flags.BoolVar(&o.inOrder, "in-order", false, "write results in the order of the jobs; up to 16 for each that runs are held back")
	flags.StringVarP(&o.output, "output", "o", "", "the `FILE` that results go to (default standard output)")
	flags.BoolVar(&o.resume, "resume", false, "go on with an --output that has results")
	flags.BoolVar(&o.retry, "retry-failed", false, "with --resume, drop the results that are errors and run those jobs again")
	flags.BoolVar(&o.failFast, "fail-fast", false, "stop at the first job that fails; those in flight are aborted, without a result")
	o.worldOptions.addFlags(flags, "how the interpreter is started: auto forks it where that works, and else spawns it")
}

// check refuses flags that don't go together, or mean nothing.
func (o *batchOptions) check(flags *pflag.FlagSet, file string) error {
	switch {
	case o.workers < 1:
		return fmt.Errorf("--jobs is %d; it must be at least 1", o.workers)
	case flags.Changed("output") && (o.output == "" || o.output == standardInput):
		return errors.New("--output is no file; write its path, or leave it out for standard output")
	case o.resume && o.output == "":
		return errors.New("--resume needs an --output to go on with; write -o FILE")
	case o.retry && !o.resume:
		return errors.New("--retry-failed goes with --resume; write both")
	case file == standardInput && o.from.file == standardInput:
		return errors.New("the jobs and --tools can't both come from standard input; put one of them into a file")
	case file == standardInput && o.from.servers == standardInput:
		return errors.New("the jobs and --mcp can't both come from standard input; put one of them into a file")
	}
	return o.worldOptions.check(flags)
}
