// Command codemode measures Code Mode over MCP on this machine, and prints tables: the
// tokens and round trips of a task, what a program's call costs, and many clients at
// once. It needs no network and no model. Run it by make codemode-figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/tiktoken-go/tokenizer"

	outer "github.com/thirdrail-dev/thirdrail/bench"
)

// A bench is how much is measured, and with what.
type bench struct {
	rounds, calls int
	clients, runs int
	thirdrail     string // the command; built where it is empty
	folder        string // for temporary files
	tokens        tokenizer.Codec
}

func main() {
	serve()
	b := bench{}
	flag.IntVar(&b.rounds, "rounds", 40, "how often calls are measured")
	flag.IntVar(&b.calls, "calls", 200, "how many calls are timed together")
	flag.IntVar(&b.clients, "clients", 50, "how many clients there are at once")
	flag.IntVar(&b.runs, "runs", 4, "how many runs each of them makes")
	flag.StringVar(&b.thirdrail, "thirdrail", "", "the `COMMAND` to measure; built from this tree unless given")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := b.measure(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(r.markdown())
}

// measure measures everything, and leaves nothing behind.
func (b *bench) measure(ctx context.Context) (r *report, err error) {
	if min(b.rounds, b.calls, b.clients, b.runs) < 1 {
		return nil, fmt.Errorf("%d rounds, %d calls, %d clients and %d runs were asked for; write 1 or more of each", b.rounds, b.calls, b.clients, b.runs)
	}
	if b.folder, err = os.MkdirTemp("", "codemode-bench-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.folder)) }()
	if b.tokens, err = tokenizer.Get(vocabulary); err != nil {
		return nil, err
	}
	if b.thirdrail == "" {
		if b.thirdrail, err = build(ctx, b.folder); err != nil {
			return nil, err
		}
	}
	r = &report{date: time.Now().UTC(), rounds: b.rounds, calls: b.calls}
	if r.machine, err = outer.Here(ctx, ""); err != nil {
		return nil, err
	}
	if r.ways, err = b.task(ctx); err != nil {
		return nil, err
	}
	all, missing, err := targets()
	if err != nil {
		return nil, err
	}
	if missing != "" {
		r.missing = append(r.missing, missing)
	}
	for _, t := range all {
		o, err := b.overhead(ctx, t)
		if err != nil {
			return nil, err
		}
		r.overheads = append(r.overheads, o)
	}
	c, err := b.crowd(ctx)
	if err != nil {
		return nil, err
	}
	r.crowd = &c
	return r, nil
}
