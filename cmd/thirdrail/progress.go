package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// plainInterval is how often progress is told where no terminal is.
const plainInterval = 10 * time.Second

// terminal returns w as a terminal, or nil where it is none.
func terminal(w io.Writer) *os.File {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return file
}

// A progress shows how far a batch is: a bar on a terminal, and else a line now and
// then. Messages written to it come out above the bar.
type progress struct {
	stderr io.Writer

	mu  sync.Mutex
	bar *mpb.Progress // nil where there is none
	end func()
}

func newProgress(stderr io.Writer) *progress { return &progress{stderr: stderr, end: func() {}} }

// Write writes a message.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		return p.bar.Write(text)
	}
	return p.stderr.Write(text)
}

// start shows the tally until stop.
func (p *progress) start(t *tally) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if screen := terminal(p.stderr); screen != nil {
		p.bar, p.end = showBar(screen, t)
		return
	}
	ticker := time.NewTicker(plainInterval)
	stop := p.tell(t, ticker.C)
	p.end = func() { ticker.Stop(); stop() }
}

// stop takes the bar away.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.bar, p.end = nil, func() {}
}

// tell writes a line at each tick. The function that it returns ends that.
func (p *progress) tell(t *tally, ticks <-chan time.Time) (stop func()) {
	over := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		for {
			select {
			case now := <-ticks:
				fmt.Fprintf(p.stderr, "thirdrail: %s\n", t.progress(now))
			case <-over:
				return
			}
		}
	})
	return func() { close(over); telling.Wait() }
}

// showBar shows a tally on a terminal: a bar where the end is known, and else
// something that moves.
func showBar(screen io.Writer, t *tally) (bar *mpb.Progress, end func()) {
	container := mpb.New(mpb.WithOutput(screen))
	text := mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return t.progress(time.Now()) }))
	filler := mpb.SpinnerStyle().Build()
	if t.total > 0 {
		inner := mpb.BarStyle().Build()
		filler = mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error {
			s.Current, s.Total = t.position(), t.total
			return inner.Fill(w, s)
		})
	}
	one, err := container.Add(0, filler, text, mpb.BarWidth(24))
	if err != nil {
		return container, container.Shutdown // it has none, which is as good
	}
	return container, func() { one.Abort(true); container.Wait() }
}
