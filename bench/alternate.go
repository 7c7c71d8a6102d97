package bench

import (
	"context"
	"slices"
	"time"
)

// A variant is one way to do something. Its figure is a time in seconds, or
// whatever else the lines made of it say.
type variant struct {
	name    string
	measure func(context.Context) (float64, error)
}

// samples are the figures of one variant, one a round.
type samples []float64

// alternate measures all variants in turn, so that each round finds the same
// machine, after one round that doesn't count. Each round begins with another
// variant, since what comes first in a round is colder.
func (s *session) alternate(ctx context.Context, rounds int, variants []variant) (map[string]samples, error) {
	figures := map[string]samples{}
	for round := -1; round < rounds; round++ {
		s.options.Progress(s.group.name, max(round, 0), rounds)
		for i := range variants {
			v := variants[(i+round+1)%len(variants)]
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			figure, err := v.measure(ctx)
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				figures[v.name] = append(figures[v.name], figure)
			}
		}
	}
	s.options.Progress(s.group.name, rounds, rounds)
	return figures, nil
}

// timed makes a figure of what takes a time.
func (s *session) timed(f func(context.Context) error) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		start := s.now()
		err := f(ctx)
		return s.now() - start, err
	}
}

// epoch is any moment: only differences count.
var epoch = time.Now()

// now returns seconds: those of the clock, or of processors.
func (s *session) now() float64 {
	if s.options.ProcessorTime {
		return processorTime()
	}
	return time.Since(epoch).Seconds()
}

// over returns the ratio of two variants in each round.
func (s samples) over(reference samples) samples {
	ratios := make(samples, len(s))
	for i := range s {
		ratios[i] = s[i] / reference[i]
	}
	return ratios
}

// at returns the figure that so large a part of all is no larger than.
func (s samples) at(part float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

func (s samples) median() float64 { return s.at(0.5) }

// A unit is how figures are shown: what one of it is in theirs.
type unit struct {
	name string
	one  float64
}

var (
	milliseconds = unit{"ms", 1e-3}
	microseconds = unit{"µs", 1e-6}
	perSecond    = unit{"/s", 1}
	mebibytes    = unit{"MiB", 1 << 20}
)

// add adds the line that compares two variants.
func (s *session) add(what string, ours samples, against string, reference samples, u unit) {
	s.addRatios(what, against, ours.over(reference), ours.median(), reference.median(), u)
}

func (s *session) addRatios(what, against string, ratios samples, value, reference float64, u unit) {
	s.report.Lines = append(s.report.Lines, Line{
		Group: s.group.name, What: what, Against: against,
		Ratio: ratios.median(), Low: ratios.at(0.25), High: ratios.at(0.75),
		Value: value / u.one, Reference: reference / u.one, Unit: u.name, Samples: len(ratios),
	})
}

func (s *session) missing(text string) { s.report.Missing = append(s.report.Missing, text) }
