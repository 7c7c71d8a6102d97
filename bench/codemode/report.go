package main

import (
	"fmt"
	"strings"
	"time"

	outer "github.com/thirdrail-dev/thirdrail/bench"
)

// A report is what was measured, where and when. What is nil or empty was not.
type report struct {
	date      time.Time
	machine   outer.Machine
	rounds    int
	calls     int
	ways      []way
	overheads []overhead
	crowd     *crowd
	missing   []string
}

// markdown returns the report as tables.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %v.\n", r.date.Format("2 January 2006, 15:04 MST"), r.machine)
	if len(r.ways) > 0 {
		r.writeWays(&b)
	}
	if len(r.overheads) > 0 {
		r.writeOverheads(&b)
	}
	if r.crowd != nil {
		r.crowd.write(&b)
	}
	if len(r.missing) > 0 {
		b.WriteString("\nNot measured here:\n\n")
		for _, text := range r.missing {
			fmt.Fprintf(&b, "- %s\n", text)
		}
	}
	return b.String()
}

func (r *report) writeWays(b *strings.Builder) {
	fmt.Fprintf(b, `
### A task of %d steps

A list of issues, each of its 18, and one message: done by a script in the place of the
model, with real servers and real messages, and to the same end in all ways. Tokens are
those of %s. Each request to a model carries all before it, which the second column of
them adds up; the third is what a perfect cache leaves. What APIs put around messages is
left out.

| way | requests to the model | tokens of the tools | read in all | read once | written | read in all, against the first |
|---|---:|---:|---:|---:|---:|---:|
`, steps, vocabulary)
	first := r.ways[0].cost.read
	for _, w := range r.ways {
		c := w.cost
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | **%s** |\n",
			w.name, c.trips, c.tools, c.read, c.distinct, c.written, figure(float64(c.read)/float64(first)))
	}
}

func (r *report) writeOverheads(b *strings.Builder) {
	fmt.Fprintf(b, `
### What a program's call costs

%d calls of a tool that echoes, over pipes: by the SDK's client directly, and by one
program through thirdrail mcp. Measured in turn, medians of %d rounds; half of the ratios
lie in the range. A call that no server gets is one of tools_search: what a program's call
costs at the least.

| server | directly | one by one from a program | more | ratio | half lie in | a call that no server gets | all at once from a program | a run without calls |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
`, r.calls, r.rounds)
	for _, o := range r.overheads {
		ratios := o.ratios()
		fmt.Fprintf(b, "| %s | %s ms | %s ms | %s ms | **%s** | %s – %s | %s ms | %s ms | %s ms |\n", o.name,
			milliseconds(median(o.direct)), milliseconds(median(o.through)), milliseconds(median(o.more())),
			figure(median(ratios)), figure(at(0.25, ratios)), figure(at(0.75, ratios)),
			milliseconds(median(o.answered)), milliseconds(median(o.gathered)), milliseconds(median(o.started)))
	}
}

func (c *crowd) write(b *strings.Builder) {
	fmt.Fprintf(b, `
### %d clients at once

Over HTTP, half of them with each protocol: each does %d runs of %d calls to one server
that all share. Each result, each line of output and the number of calls were checked.

| | |
|---|---:|
| all done in | %s s |
| runs a second | %s |
| a run, p50 / p95 | %s / %s ms |
| a run of one client alone, p50 | %s ms |
`, c.clients, c.runs, runCalls, figure(c.total), figure(float64(len(c.latencies))/c.total),
		milliseconds(median(c.latencies)), milliseconds(at(0.95, c.latencies)), milliseconds(median(c.alone)))
	if c.memory {
		fmt.Fprintf(b, "| memory of the host before / at most / after | %s / %s / %s MiB |\n",
			mebibytes(c.before), mebibytes(c.peak), mebibytes(c.after))
	}
}

func milliseconds(seconds float64) string { return figure(seconds * 1000) }

func mebibytes(bytes float64) string { return figure(bytes / (1 << 20)) }

// figure returns three digits that mean something, and no exponent.
func figure(f float64) string {
	switch size := max(f, -f); {
	case size >= 100:
		return fmt.Sprintf("%.0f", f)
	case size >= 10:
		return fmt.Sprintf("%.1f", f)
	case size >= 0.1 || size == 0:
		return fmt.Sprintf("%.2f", f)
	default:
		return fmt.Sprintf("%.4f", f)
	}
}
