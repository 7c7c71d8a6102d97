package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/thirdrail-dev/thirdrail"
)

// loopRounds is how many rounds of the fork loop are measured together: one alone
// is shorter than what wakes it up.
const loopRounds = 10

const (
	bareName    = "`python3 -I -c pass`"
	asyncioName = "`python3 -I` with asyncio"
	loopName    = "a round of the bare fork loop"
)

// start compares whole runs, one after the other.
func (s *session) start(ctx context.Context) error {
	variants := []variant{
		s.bareStart(bareName, "pass"),
		s.bareStart(asyncioName, "import asyncio"),
		s.forkLoop(loopName, loopRounds, s.clock()),
	}
	compared := s.methods
	if s.options.ProcessorTime {
		// That of a forked child is known only when its nursery has ended.
		compared = []thirdrail.StartMethod{thirdrail.StartSpawn}
		s.missing("start: the processor time of forked runs can't be told")
	}
	for _, method := range compared {
		variants = append(variants,
			s.trivialRun(confined(method), kind{start: method}),
			s.trivialRun(unconfined(method), kind{start: method, off: true}))
	}
	figures, err := s.alternate(ctx, s.options.Rounds, variants)
	if err != nil {
		return err
	}
	for _, method := range compared {
		name := confined(method)
		for _, against := range []string{unconfined(method), bareName, asyncioName, loopName} {
			s.add(name, figures[name], against, figures[against], milliseconds)
		}
		if method != thirdrail.StartSpawn {
			spawned := confined(thirdrail.StartSpawn)
			s.add(name, figures[name], spawned, figures[spawned], milliseconds)
		}
	}
	return nil
}

func confined(m thirdrail.StartMethod) string { return fmt.Sprintf("a run, %v", m) }

func unconfined(m thirdrail.StartMethod) string { return fmt.Sprintf("a run, %v, SandboxOff", m) }

// atOnce are the widths that throughput is measured at.
var atOnce = []int{1, 2, 8}

// runsPerRound is how many runs one round of throughput makes.
const runsPerRound = 16

// throughput compares runs a second with rounds a second of the loop, on one core.
func (s *session) throughput(ctx context.Context) error {
	variants := []variant{rate(s.forkLoop(loopName, 4*loopRounds, wallClock))}
	for _, method := range s.methods {
		for _, wide := range atOnce {
			variants = append(variants, s.manyRuns(widely(method, wide), kind{start: method, wide: wide}))
		}
	}
	figures, err := s.alternate(ctx, max(s.options.Rounds/4, 1), variants)
	if err != nil {
		return err
	}
	for _, v := range variants[1:] {
		s.add(v.name, figures[v.name], "rounds of the bare fork loop, on one core", figures[loopName], perSecond)
	}
	return nil
}

func widely(m thirdrail.StartMethod, wide int) string {
	return fmt.Sprintf("runs, %v, %d at once", m, wide)
}

// rate makes one over a figure.
func rate(v variant) variant {
	return variant{v.name, func(ctx context.Context) (float64, error) {
		seconds, err := v.measure(ctx)
		return 1 / seconds, err
	}}
}

// manyRuns is a variant: runs a second, as many at once as the kind says.
func (s *session) manyRuns(name string, k kind) variant {
	return variant{name, func(ctx context.Context) (float64, error) {
		if _, err := s.runtime(ctx, k); err != nil {
			return 0, err // made before the clock starts, and before several ask for it
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		var all sync.WaitGroup
		began := time.Now()
		for range runsPerRound { // the runtime lets in as many as the kind says
			all.Go(func() {
				if _, err := s.run(ctx, k, thirdrail.Request{Program: trivial}); err != nil {
					cancel(err)
				}
			})
		}
		all.Wait()
		seconds := time.Since(began).Seconds()
		return runsPerRound / seconds, context.Cause(ctx)
	}}
}

// latencyPerRound is how many runs a round of latency adds to the distribution.
const latencyPerRound = 5

// latency tells how the time from request to done is distributed, without what
// comes after: the end of the process, and removing its folder. Before each run comes
// the loop, so that a nursery has the time for a spare.
func (s *session) latency(ctx context.Context) error {
	for _, method := range s.methods {
		var all samples
		name := confined(method)
		one := func(ctx context.Context) (float64, error) {
			result, err := s.run(ctx, kind{start: method}, thirdrail.Request{Program: trivial})
			if err != nil {
				return 0, err
			}
			seconds := (result.Stats.StartTime + result.Stats.Wall).Seconds()
			all = append(all, seconds)
			return seconds, nil
		}
		var variants []variant
		for i := range latencyPerRound {
			variants = append(variants, s.forkLoop(fmt.Sprint(loopName, i), loopRounds, wallClock), variant{fmt.Sprint(name, i), one})
		}
		figures, err := s.alternate(ctx, s.options.Rounds, variants)
		if err != nil {
			return err
		}
		all = all[latencyPerRound:] // those of the round that doesn't count
		var ratios, loop samples
		for i := 0; i < len(variants); i += 2 {
			reference := figures[variants[i].name]
			ratios = append(ratios, figures[variants[i+1].name].over(reference)...)
			loop = append(loop, reference...)
		}
		s.addRatios(name+", p50", loopName, ratios, all.median(), loop.median(), milliseconds)
		for _, part := range []int{95, 99} {
			figure := all.at(float64(part) / 100)
			s.addRatios(fmt.Sprintf("%s, p%d", name, part), "its p50", samples{figure / all.median()}, figure, all.median(), milliseconds)
		}
	}
	return nil
}
