package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
)

// session is one Measure: what its groups share.
type session struct {
	options Options
	group   group
	report  Report
	python  *interpreter.Interpreter
	// methods are the ways to start a child that are compared: those that work here.
	methods []thirdrail.StartMethod

	runtimes  map[kind]*thirdrail.Runtime
	reference *reference // nil until it is needed
}

// A kind of runtime.
type kind struct {
	start thirdrail.StartMethod
	off   bool // without walls
	wide  int  // how many runs at once; 0 is the default
	// preload are modules, with commas between them.
	preload string
}

func open(ctx context.Context, options Options) (*session, error) {
	python, err := interpreter.Find(ctx, options.Python)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	s := &session{options: options, python: python, runtimes: map[kind]*thirdrail.Runtime{}}
	s.report.Rounds, s.report.ProcessorTime = options.Rounds, options.ProcessorTime
	s.report.Machine = machineOf(python)
	result, err := s.run(ctx, kind{start: thirdrail.StartSpawn}, thirdrail.Request{Program: trivial})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.report.Machine.Walls = result.Stats.Confinement
	s.methods = []thirdrail.StartMethod{thirdrail.StartSpawn}
	if _, err := s.runtime(ctx, kind{start: thirdrail.StartFork}); err == nil {
		s.methods = append(s.methods, thirdrail.StartFork)
	} else if ctx.Err() == nil {
		s.missing(err.Error())
	}
	return s, nil
}

// close ends what the session has started.
func (s *session) close() error {
	err := s.closeReference()
	for k, rt := range s.runtimes {
		err = errors.Join(err, rt.Close())
		delete(s.runtimes, k)
	}
	return err
}

// runtime returns the runtime of a kind. It is made once.
func (s *session) runtime(ctx context.Context, k kind) (*thirdrail.Runtime, error) {
	if rt := s.runtimes[k]; rt != nil {
		return rt, nil
	}
	config := thirdrail.Config{Python: s.python.Path, Start: k.start, MaxConcurrent: k.wide}
	if k.off {
		config.Sandbox.Mode = thirdrail.SandboxOff
	}
	if k.preload != "" {
		config.Preload = strings.Split(k.preload, ",")
	}
	rt, err := thirdrail.New(ctx, config)
	if err == nil {
		s.runtimes[k] = rt
	}
	return rt, err
}

// trivial is the program of all runs that do nothing.
const trivial = "return 1"

// run runs a program that must succeed.
func (s *session) run(ctx context.Context, k kind, request thirdrail.Request) (*thirdrail.Result, error) {
	rt, err := s.runtime(ctx, k)
	if err != nil {
		return nil, err
	}
	result, err := rt.Run(ctx, request)
	if err == nil {
		err = result.Err()
	}
	return result, err
}

// trivialRun is a variant: a whole run, until nothing is left of it.
func (s *session) trivialRun(name string, k kind) variant { return s.wholeRun(name, k, trivial) }

func (s *session) wholeRun(name string, k kind, program string) variant {
	return variant{name, s.timed(func(ctx context.Context) error {
		_, err := s.run(ctx, k, thirdrail.Request{Program: program})
		return err
	})}
}
