package thirdrail

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/units"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// maxMessageBytes bounds a failure's message and a rejection's, as a JSON string.
const maxMessageBytes = 32 << 10

func fail(kind FailureKind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Message: cutMiddle(fmt.Sprintf(format, args...))}
}

// cutMiddle cuts the middle out of a text whose JSON string is over
// maxMessageBytes. The end of a traceback says what happened, and its beginning
// where, so both stay.
func cutMiddle(text string) string {
	if _, ok := lossless.StringSize(text, maxMessageBytes); ok {
		return text
	}
	const noteBytes = 64
	head := fittingPrefix(text, maxMessageBytes/3)
	tail := fittingSuffix(text[head:], maxMessageBytes-maxMessageBytes/3-noteBytes)
	cut := len(text) - head - tail
	return fmt.Sprintf("%s\n… %d bytes cut …\n%s", text[:head], cut, text[len(text)-tail:])
}

// fittingPrefix returns the length of the longest beginning of text, in whole
// characters, whose JSON string is within budget.
func fittingPrefix(text string, budget int) int {
	n := longest(min(len(text), budget), func(n int) bool { return fits(text[:n], budget) })
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// fittingSuffix is fittingPrefix for the end of text.
func fittingSuffix(text string, budget int) int {
	n := longest(min(len(text), budget), func(n int) bool { return fits(text[len(text)-n:], budget) })
	for n > 0 && !utf8.RuneStart(text[len(text)-n]) {
		n--
	}
	return n
}

func fits(text string, budget int) bool {
	_, ok := lossless.StringSize(text, budget)
	return ok
}

// longest returns the largest n up to most for which ok holds, given that it
// holds for all smaller ones.
func longest(most int, ok func(int) bool) int {
	low, high := 0, most
	for low < high {
		middle := (low + high + 1) / 2
		if ok(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// doneFailure judges the end that the child reports. The child has checked the
// same, but a program can forge it. Over budget comes first.
func doneFailure(done *wire.Done, limits Limits) *Failure {
	switch {
	case done.Error != nil:
		return fail(FailureKind(done.Error.Kind), "%s", done.Error.Message)
	case done.Size > limits.ValueBytes:
		return fail(OutputLimit, "the result takes %d bytes of JSON, over the size limit of %d; return less, such as a summary or a part",
			done.Size, limits.ValueBytes)
	case done.Fault != nil:
		return fail(InvalidOutput, "the result is not lossless JSON: %v", done.Fault)
	}
	return nil
}

// abortFailure is the end of a run whose context ended. The cause is the caller's
// own error, and may not be fit to be shown.
func abortFailure(ctx context.Context) *Failure {
	cause := context.Cause(ctx)
	f := fail(Abort, "the run was aborted: %s", errorText(cause))
	f.cause = ctx.Err()
	return f
}

// unreadable stands for an error whose text can't be had.
const unreadable = "an error that can't be shown"

// errorText returns an error's text, whatever its method does.
func errorText(err error) (text string) {
	defer func() {
		if recover() != nil || text == "" {
			text = unreadable
		}
	}()
	if err == nil {
		return unreadable
	}
	return err.Error()
}

// wallFailure is a run over its wall limit. For some time beyond it, functions
// waited for people.
func wallFailure(limit, waited time.Duration) *Failure {
	beside := ""
	if waited > 0 {
		beside = fmt.Sprintf(", beside %v of waiting for answers", waited/time.Millisecond*time.Millisecond)
	}
	return fail(Timeout, "the program ran for longer than the wall time limit of %v%s; do less in one run, or wait less", limit, beside)
}

func cpuFailure(limit time.Duration) *Failure {
	return fail(Timeout, "the program used more than the CPU time limit of %v; compute less in one run", limit)
}

// memoryFailure is a run whose processes together are over the limit. A single one
// gets a MemoryError.
func memoryFailure(limit int64) *Failure {
	return fail(WorkerExit, "the program's processes together used more than the memory limit of %s; keep less at once, or use fewer processes",
		units.FormatSize(limit))
}

func processesFailure(limit int) *Failure {
	return fail(WorkerExit, "the program had more than %d processes and threads at once, its limit of processes; wait for some to end before starting more",
		limit)
}

func diskFailure(limit int64) *Failure {
	return fail(WorkerExit, "the program's files took more than the disk limit of %s; write less, or remove files first",
		units.FormatSize(limit))
}

// exitFailure is the end of a child that died before its done frame.
func exitFailure(exit child.Exit, limits Limits, closedRail bool) *Failure {
	switch {
	case exit.OverCPU(),
		exit.Signal == syscall.SIGKILL && exit.CPU >= kernelSlack(limits.CPU):
		return cpuFailure(limits.CPU)
	case exit.Signal != 0:
		return fail(WorkerExit, "the process was ended by signal %s (%v) before the program was done%s",
			exit.SignalName(), exit.Signal, signalHint(exit.Signal))
	case exit.Code == exitChannelClosed || closedRail && exit.Code < 0:
		return fail(WorkerExit, "file descriptor 3 was closed or broken before the program was done; leave it alone%s", codeText(exit.Code))
	default:
		return fail(WorkerExit, "the process exited with code=%d before the program was done; end a program with return", exit.Code)
	}
}

// kernelSlack returns what a process may have used at least when the kernel killed
// it for its hard limit. For limits the kernel counts whole ticks, and on a busy
// virtual machine a tenth of them and more belonged to others.
func kernelSlack(limit time.Duration) time.Duration { return limit / 4 * 3 }

// exitChannelClosed is the status of a child that can't reach the host any more
// (boot.py).
const exitChannelClosed = 74

func codeText(code int) string {
	if code < 0 {
		return ""
	}
	return fmt.Sprintf(" (code=%d)", code)
}

func signalHint(s syscall.Signal) string {
	if s == syscall.SIGKILL {
		return "; the machine may be out of memory"
	}
	return ""
}

// startFailure is the end of a child that never became ready.
func startFailure(reason string, logs []string) *Failure {
	text := "the interpreter " + reason + " before it was ready for the program"
	if len(logs) == 0 {
		return fail(WorkerExit, "%s", text)
	}
	if len(logs) > maxShownLines {
		logs = logs[len(logs)-maxShownLines:]
	}
	for _, line := range logs {
		text += "\n" + line
	}
	return fail(WorkerExit, "%s", text)
}

const maxShownLines = 20

// clampDuration keeps timers from overflowing.
func clampDuration(d time.Duration) time.Duration { return min(d, math.MaxInt64/4) }

// exitText says how a process ended.
func exitText(exit child.Exit) string {
	if exit.Refusal != "" {
		return "could not be forked (" + exit.Refusal + ")"
	}
	if exit.Signal != 0 {
		return "was ended by signal " + exit.SignalName()
	}
	return fmt.Sprintf("exited with code=%d", exit.Code)
}
