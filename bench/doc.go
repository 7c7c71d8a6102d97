// Package bench measures what a run costs, as ratios against named references that
// are measured in turn with it, in the same process and on the same machine. A time
// by itself says more of the machine than of Thirdrail, so it stands beside the
// ratio only to give an idea.
//
// The command thirdrail bench prints what [Measure] returns, and docs/performance.md
// is a table that it made.
package bench
