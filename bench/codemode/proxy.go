package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A target is a tool whose calls are timed: directly, and from a program.
type target struct {
	name      string // of the server, for the table
	namespace string
	tool      string
	server    command
	arguments func(n int) map[string]any
	written   string // the same arguments, in Python
}

// publicServer is the command of a server from npm, where it is installed.
const publicServer = "mcp-server-everything"

// targets are those that this machine has. What it lacks, missing says.
func targets() (all []target, missing string, err error) {
	raw, err := own("raw")
	if err != nil {
		return nil, "", err
	}
	all = append(all, target{
		"a server in Go that answers at once", "raw", "echo", raw,
		func(n int) map[string]any { return map[string]any{"z": n} }, "z=n",
	})
	path, err := exec.LookPath(publicServer)
	if err != nil {
		return all, "calls of a public server: " + publicServer + " isn't on PATH; npm install @modelcontextprotocol/server-everything", nil
	}
	return append(all, target{
		"`server-everything` from npm", "everything", "echo", command{Command: path},
		func(n int) map[string]any { return map[string]any{"message": strconv.Itoa(n)} }, "message=str(n)",
	}), "", nil
}

// An overhead is what a program's calls cost beside direct ones, in seconds a call. Each
// list has one figure a round.
type overhead struct {
	name              string
	direct, through   []float64 // one call after the other
	answered          []float64 // calls that no server gets
	gathered, started []float64 // all of a program's at once; a program without calls
}

// ratios returns how many times as long calls take from a program.
func (o overhead) ratios() []float64 {
	ratios := make([]float64, len(o.direct))
	for i := range ratios {
		ratios[i] = o.through[i] / o.direct[i]
	}
	return ratios
}

// more returns how much longer a call takes from a program.
func (o overhead) more() []float64 {
	more := make([]float64, len(o.direct))
	for i := range more {
		more[i] = o.through[i] - o.direct[i]
	}
	return more
}

// overhead measures a target: in each round all variants, each time beginning with
// another one, after a round that doesn't count.
func (b *bench) overhead(ctx context.Context, t target) (o overhead, err error) {
	o.name = t.name
	direct, err := connect(ctx, t.server)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, direct.Close()) }()
	proxy, err := b.connectProxy(ctx, map[string]command{t.namespace: t.server})
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	variants := []struct {
		figures *[]float64
		measure func() (float64, error)
	}{
		{&o.direct, func() (float64, error) { return b.callDirectly(ctx, direct, t) }},
		{&o.through, func() (float64, error) { return b.callFromProgram(ctx, proxy, b.oneByOne(t)) }},
		{&o.answered, func() (float64, error) { return b.callFromProgram(ctx, proxy, b.toItself()) }},
		{&o.gathered, func() (float64, error) { return b.callFromProgram(ctx, proxy, b.atOnce(t)) }},
		{&o.started, func() (float64, error) {
			begin := time.Now()
			_, err := runCode(ctx, proxy, "return 1")
			return time.Since(begin).Seconds(), err
		}},
	}
	for round := -1; round < b.rounds; round++ {
		for i := range variants {
			v := variants[(i+round+1)%len(variants)]
			figure, err := v.measure()
			if err != nil {
				return o, fmt.Errorf("%s: %w", t.name, err)
			}
			if round >= 0 {
				*v.figures = append(*v.figures, figure)
			}
		}
	}
	return o, nil
}

// callDirectly returns the time of a direct call.
func (b *bench) callDirectly(ctx context.Context, session *mcp.ClientSession, t target) (float64, error) {
	begin := time.Now()
	for n := range b.calls {
		if _, err := call(ctx, session, t.tool, t.arguments(n)); err != nil {
			return 0, err
		}
	}
	return time.Since(begin).Seconds() / float64(b.calls), nil
}

// callFromProgram runs a program that returns the time of its calls, and returns that of
// one.
func (b *bench) callFromProgram(ctx context.Context, session *mcp.ClientSession, code string) (float64, error) {
	text, err := runCode(ctx, session, code)
	if err != nil {
		return 0, err
	}
	seconds, err := strconv.ParseFloat(text, 64)
	return seconds / float64(b.calls), err
}

func (b *bench) oneByOne(t target) string {
	return fmt.Sprintf(`import time
begin = time.perf_counter()
for n in range(%d):
    await %s.%s(%s)
return time.perf_counter() - begin`, b.calls, t.namespace, t.tool, t.written)
}

// toItself is oneByOne with calls that thirdrail answers by itself.
func (b *bench) toItself() string {
	return fmt.Sprintf(`import time
begin = time.perf_counter()
for n in range(%d):
    await tools_search("qqq")
return time.perf_counter() - begin`, b.calls)
}

func (b *bench) atOnce(t target) string {
	return fmt.Sprintf(`import asyncio, time
begin = time.perf_counter()
await asyncio.gather(*(%s.%s(%s) for n in range(%d)))
return time.perf_counter() - begin`, t.namespace, t.tool, t.written, b.calls)
}

// at returns the figure that so large a part of all is no larger than.
func at(part float64, figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

func median(figures []float64) float64 { return at(0.5, figures) }
