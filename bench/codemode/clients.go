package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// protocols are what clients speak, in turn: with sessions, and without.
var protocols = []string{"2025-11-25", "2026-07-28"}

// runCalls is how many calls each run makes at once.
const runCalls = 10

// A crowd is what many clients at once see of one host.
type crowd struct {
	clients, runs int
	total         float64   // seconds until all are done
	latencies     []float64 // of each run, in seconds
	alone         []float64 // of runs of one client without others
	memory        bool      // whether what follows is known
	before, peak  float64   // bytes of the host itself
	after         float64
}

// crowd has all clients run programs at once. It fails when one gets what is another's,
// or when the server behind got other calls than were made.
func (b *bench) crowd(ctx context.Context) (c crowd, err error) {
	raw, err := own("raw")
	if err != nil {
		return c, err
	}
	host, err := b.startWeb(map[string]command{"raw": raw})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, host.close()) }()
	c.clients, c.runs = b.clients, b.runs
	guests := make([]*guest, b.clients)
	for i := range guests {
		if guests[i], err = join(ctx, host.url, i); err != nil {
			return c, err
		}
		defer guests[i].leave()
	}
	for n := range max(b.rounds/2, 1) + 1 {
		seconds, err := guests[0].run(ctx, n)
		if err != nil {
			return c, err
		}
		if n > 0 { // the first one is colder
			c.alone = append(c.alone, seconds)
		}
	}
	c.before, c.memory = host.memory("VmRSS")
	if err := c.rush(ctx, guests); err != nil {
		return c, err
	}
	c.peak, _ = host.memory("VmHWM")
	c.after, _ = host.memory("VmRSS")
	return c, guests[0].tally(ctx, (len(c.alone)+1+b.clients*b.runs)*runCalls)
}

// rush has all guests do all their runs at once.
func (c *crowd) rush(ctx context.Context, guests []*guest) error {
	var mu sync.Mutex
	var faults []error
	var work sync.WaitGroup
	begin := time.Now()
	for _, g := range guests {
		work.Go(func() {
			for n := range c.runs {
				seconds, err := g.run(ctx, 1000+n)
				mu.Lock()
				c.latencies = append(c.latencies, seconds)
				faults = append(faults, err)
				mu.Unlock()
			}
		})
	}
	work.Wait()
	c.total = time.Since(begin).Seconds()
	return errors.Join(faults...)
}

// A guest is one client of a host over HTTP.
type guest struct {
	number  int
	session *mcp.ClientSession
	web     *http.Client

	mu    sync.Mutex
	heard []string
}

// join connects a client that has connections of its own, as a process of its own has.
func join(ctx context.Context, url string, number int) (*guest, error) {
	g := &guest{number: number, web: &http.Client{Transport: &http.Transport{}}}
	client := newClient(func(message string) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.heard = append(g.heard, message)
	})
	var err error
	g.session, err = client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: g.web},
		&mcp.ClientSessionOptions{ProtocolVersion: protocols[number%len(protocols)]})
	if err != nil {
		return nil, fmt.Errorf("client %d: %w", number, err)
	}
	return g, nil
}

func (g *guest) leave() {
	_ = g.session.Close()
	g.web.CloseIdleConnections()
}

// run runs a program whose output, calls and value are this client's and this run's
// alone, checks what comes back, and returns how long it took.
func (g *guest) run(ctx context.Context, n int) (seconds float64, err error) {
	first := (g.number*10_000 + n) * runCalls
	mine := fmt.Sprintf("client %d, run %d", g.number, n)
	code := fmt.Sprintf(`import asyncio
print(%q)
got = await asyncio.gather(*(raw.echo(z=n) for n in range(%d, %d)))
return [one["z"] for one in got]`, mine, first, first+runCalls)
	params := &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": code}}
	params.SetProgressToken(mine)
	begin := time.Now()
	result, err := g.session.CallTool(ctx, params)
	seconds = time.Since(begin).Seconds()
	if err != nil {
		return seconds, fmt.Errorf("%s: %w", mine, err)
	}
	var values []string
	for i := range runCalls {
		values = append(values, fmt.Sprint(first+i))
	}
	want := mine + "\n[value] [" + strings.Join(values, ",") + "]"
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok || result.IsError || text.Text != want {
		return seconds, fmt.Errorf("%s got %+v, and not %q", mine, text, want)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, message := range g.heard {
		if !strings.HasPrefix(message, fmt.Sprintf("client %d, ", g.number)) {
			return seconds, fmt.Errorf("client %d heard %q, which is another's", g.number, message)
		}
	}
	return seconds, nil
}

// tally checks how many calls the one server behind has got.
func (g *guest) tally(ctx context.Context, want int) error {
	text, err := runCode(ctx, g.session, "return (await raw.tally())['calls']['echo']")
	if err != nil {
		return err
	}
	var got int
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the server got %d calls, and %d were made", got, want)
	}
	return nil
}
