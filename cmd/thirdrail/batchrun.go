package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/cmd/thirdrail/internal/jobs"
	"github.com/thirdrail-dev/thirdrail/cmd/thirdrail/internal/report"
)

// A batch is one run of the command, once its flags are known to make sense.
type batch struct {
	*batchOptions
	functions *functions
	output    *jobs.Output
	reader    *jobs.Reader
	runtime   *thirdrail.Runtime
	progress  *progress
	tally     *tally
	notices   notices
}

// run does everything that can go wrong by misuse first: then nothing is run, and
// nothing is changed.
func (o *batchOptions) run(command *cobra.Command, name string) (err error) {
	if err := o.check(command.Flags(), name); err != nil {
		return err
	}
	b := batch{batchOptions: o, progress: newProgress(command.ErrOrStderr())}
	b.notices.w = b.progress
	if b.functions, err = o.functions(command.InOrStdin()); err != nil {
		return err
	}
	input, total, err := openJobs(name, command.InOrStdin())
	if err != nil {
		return err
	}
	defer input.Close()
	surviveClosedOutput()
	ctx, stop := interruptible(command.Context())
	defer stop()
	reader, release, err := untilDone(ctx, input)
	if err != nil {
		return failure{err}
	}
	defer release()
	b.output = jobs.NewOutput(command.OutOrStdout())
	if o.output != "" {
		if b.output, err = jobs.OpenOutput(o.output, jobs.OutputOptions{Resume: o.resume, RetryFailed: o.retry}); err != nil {
			return err
		}
	}
	b.reader = jobs.NewReader(reader, o.config.Numbers, b.output.IDs())
	if err := b.begin(ctx, name); err != nil {
		return errors.Join(err, b.functions.close(), b.output.Close())
	}
	b.tally = newTally(total)
	return b.do(ctx)
}

// openJobs opens the file of jobs, and tells how many bytes it has, 0 for a stream.
func openJobs(name string, stdin io.Reader) (file *os.File, total int64, err error) {
	file, ok := stdin.(*os.File)
	if name != standardInput {
		file, err = os.Open(name)
	} else if !ok {
		err = errors.New("it is no file")
	}
	if err != nil {
		return nil, 0, unreadable("list of jobs", name, err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("is a directory")
	}
	if err != nil {
		return nil, 0, errors.Join(unreadable("list of jobs", name, err), file.Close())
	}
	if info.Mode().IsRegular() {
		at, _ := file.Seek(0, io.SeekCurrent) // a shell may have read a part
		total = max(info.Size()-at, 0)
	}
	return file, total, nil
}

// begin looks at the first lines, makes the runtime, and opens the output for good.
func (b *batch) begin(ctx context.Context, name string) error {
	err := b.reader.Begin()
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx)
	case errors.Is(err, jobs.ErrNoJobs):
		return fmt.Errorf("the list of jobs in %q is none: %w", name, err)
	case err != nil:
		return unreadable("list of jobs", name, err)
	}
	if err := b.functions.connect(ctx, b.progress); err != nil {
		return err
	}
	b.config.MaxConcurrent = b.workers
	b.config.Logger = warnings(b.progress, slog.LevelInfo)
	if b.runtime, err = thirdrail.New(ctx, b.config); err != nil {
		if ctx.Err() != nil {
			return interrupted(ctx)
		}
		return inFlags(err)
	}
	if err := b.tryOut(); err != nil {
		return errors.Join(inFlags(err), b.runtime.Close())
	}
	if err := b.output.Begin(); err != nil {
		return failure{errors.Join(err, b.runtime.Close())}
	}
	return nil
}

// tryOut has the library judge limits and functions by a run that never starts.
func (b *batch) tryOut() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var request thirdrail.Request
	b.functions.add(&request)
	_, err := b.runtime.Run(ctx, request)
	return err
}

// do runs the jobs, and tells what became of them.
func (b *batch) do(ctx context.Context) error {
	pool := jobs.Pool{Workers: b.workers, InOrder: b.inOrder, FailFast: b.failFast, Run: b.runJob, Deliver: b.deliver}
	b.progress.start(b.tally)
	err := pool.Do(ctx, b.reader.Next)
	b.progress.stop()
	if b.output.IDs().Full() {
		b.notices.add(fmt.Sprintf("warning: only the first %d ids were remembered: a later one that came twice was not found", jobs.MaxIDs))
	}
	fault := errors.Join(b.runtime.Close(), b.functions.close(), b.output.Close())
	fmt.Fprintf(b.progress, "thirdrail: %s\n", b.tally.summary(time.Now()))
	_, failed := b.tally.done()
	switch {
	case ctx.Err() != nil:
		err = interrupted(ctx).reason
		if b.output != nil && b.batchOptions.output != "" {
			err = fmt.Errorf("%w; what is done is kept: go on with --resume", err)
		}
	case errors.Is(err, jobs.ErrFailFast):
		err = nil // the summary says it
	}
	if err = errors.Join(err, fault); err != nil || failed > 0 {
		return failure{err}
	}
	return nil
}

// interrupted is the end by a signal.
func interrupted(ctx context.Context) failure {
	return failure{fmt.Errorf("the batch was interrupted: %w", context.Cause(ctx))}
}

// runJob runs one job.
func (b *batch) runJob(ctx context.Context, job jobs.Job) jobs.Outcome {
	if job.Fault != nil {
		return b.invalid(job, job.Fault)
	}
	request := thirdrail.Request{Program: job.Program, Data: job.Data, Limits: job.Limits}
	conclude := b.functions.add(&request)
	result, err := b.runtime.Run(ctx, request)
	if err != nil {
		return b.invalid(job, jobs.Refused(err))
	}
	if result.Failure != nil && result.Failure.Kind == thirdrail.Abort && ctx.Err() != nil {
		return jobs.Outcome{Unfinished: true}
	}
	for _, warning := range conclude(result) {
		b.notices.add("warning: " + warning)
	}
	return b.outcome(job, jobs.Result{ID: job.ID, Report: report.Of(result)})
}

// invalid is what becomes of a job that can't be run.
func (b *batch) invalid(job jobs.Job, fault error) jobs.Outcome {
	result := jobs.Invalid(job, fault)
	b.notices.add(result.Error.Message)
	return b.outcome(job, result)
}

func (b *batch) outcome(job jobs.Job, result jobs.Result) (outcome jobs.Outcome) {
	line, err := result.Encode()
	if err != nil { // it holds nothing that can't be JSON
		result = jobs.Invalid(job, fmt.Errorf("its result can't be written: %w", err))
		line, _ = result.Encode()
	}
	outcome.Line = line
	if result.Error != nil {
		outcome.Failed = result.Error.Kind
	}
	return outcome
}

// deliver writes the result of a job, unless it has one.
func (b *batch) deliver(job jobs.Job, outcome jobs.Outcome) error {
	if !job.Done {
		if err := b.output.Write(outcome.Line); err != nil {
			return err
		}
	}
	b.tally.add(job, outcome)
	return nil
}

// maxNotices bounds what is told beside the results, which have it all.
const maxNotices = 20

// notices tell what happens during a batch, each text once.
type notices struct {
	w io.Writer

	mu   sync.Mutex
	told map[string]bool
}

func (n *notices) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.told[text] || len(n.told) > maxNotices {
		return
	}
	if n.told == nil {
		n.told = map[string]bool{}
	}
	n.told[text] = true
	if len(n.told) > maxNotices {
		text = "more of this is not told here"
	}
	_, _ = fmt.Fprintln(n.w, "thirdrail: "+oneLine(errors.New(text)))
}
