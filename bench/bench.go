package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options say what is measured and how long. The zero value measures everything,
// which takes some minutes.
type Options struct {
	// Python is the interpreter, as Config.Python has it.
	Python string
	// Rounds is how often each variant is measured; 0 means 40.
	Rounds int
	// Waiting is how many runs wait in a call at once while their memory is looked
	// at; 0 means 32.
	Waiting int
	// Groups are the groups that are measured, of GroupNames. Nil means all.
	Groups []string
	// ProcessorTime measures starts, walls and the codec by the processor time of
	// all processes instead of the clock, which tells more on a busy machine. What
	// only waits doesn't show in it. The other groups are measured as always.
	ProcessorTime bool
	// Progress is told what comes next, and how many rounds of how many are done.
	// Nil means nobody.
	Progress func(what string, done, total int)
}

const (
	defaultRounds  = 40
	defaultWaiting = 32
)

// ErrOptions is the kind of error that wrong Options give.
var ErrOptions = errors.New("bench: wrong options")

// A group is one table of a report.
type group struct {
	name, title string
	measure     func(*session, context.Context) error
}

var groups = []group{
	{"start", "One run after the other", (*session).start},
	{"walls", "What each wall costs, on top of those above it, as a share of a spawned child without any", (*session).walls},
	{"throughput", "Runs a second", (*session).throughput},
	{"latency", "From request to done", (*session).latency},
	{"calls", "Calls of host functions", (*session).calls},
	{"codec", "JSON both ways", (*session).codec},
	{"preload", "Libraries that a nursery has imported", (*session).preload},
	{"memory", "Memory of runs that wait in a call", (*session).memory},
}

// GroupNames returns the names that Options.Groups can have, in order.
func GroupNames() []string {
	names := make([]string, 0, len(groups))
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

func (o *Options) check() error {
	if o.Rounds < 0 || o.Waiting < 0 {
		return fmt.Errorf("%w: Rounds is %d and Waiting %d; they must be more than zero, or zero for the default", ErrOptions, o.Rounds, o.Waiting)
	}
	for _, name := range o.Groups {
		if !slices.Contains(GroupNames(), name) {
			return fmt.Errorf("%w: there is no group %q; the groups are %s", ErrOptions, name, strings.Join(GroupNames(), ", "))
		}
	}
	if o.Rounds == 0 {
		o.Rounds = defaultRounds
	}
	if o.Waiting == 0 {
		o.Waiting = defaultWaiting
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	return nil
}

// Measure measures this machine. The error says what could not run at all, or why
// ctx ended; what this machine can't give is in Report.Missing.
func Measure(ctx context.Context, options Options) (*Report, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	s, err := open(ctx, options)
	if err != nil {
		return nil, err
	}
	s.report.Date = time.Now().UTC().Truncate(time.Second)
	for _, g := range groups {
		if len(options.Groups) > 0 && !slices.Contains(options.Groups, g.name) {
			continue
		}
		s.group = g
		if err := g.measure(s, ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("bench: %s: %w", g.name, err), s.close())
		}
	}
	return &s.report, s.close()
}
