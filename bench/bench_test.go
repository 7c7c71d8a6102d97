//go:build linux

// Package bench measures what a run costs, as ratios against named references in
// the same process, alternating with them.
//
//	go test -bench . ./bench
package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// childImports are what the child itself can't do without.
const childImports = "import marshal, errno, select, fcntl, resource, _json, _signal, _thread"

// compare runs ours and the reference in turn, b.N times, and reports the ratio of
// their medians.
func compare(b *testing.B, ours, reference func() time.Duration) {
	b.Helper()
	var a, r []time.Duration
	ours()
	reference()
	for b.Loop() {
		a = append(a, ours())
		r = append(r, reference())
	}
	slices.Sort(a)
	slices.Sort(r)
	median, base := a[len(a)/2], r[len(r)/2]
	b.ReportMetric(float64(median)/float64(base), "ratio")
	b.ReportMetric(float64(median.Microseconds()), "ours-µs")
	b.ReportMetric(float64(base.Microseconds()), "reference-µs")
}

func timed(b *testing.B, f func() error) time.Duration {
	b.Helper()
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func runtime(b *testing.B) (*thirdrail.Runtime, string) {
	b.Helper()
	found, err := interpreter.Find(b.Context(), os.Getenv("THIRDRAIL_BENCH_PYTHON"))
	if err != nil {
		b.Fatal(err)
	}
	rt, err := thirdrail.New(b.Context(), thirdrail.Config{Python: found.Path})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = rt.Close() })
	return rt, found.Path
}

// BenchmarkRunTrivial compares a whole run of `return 1` with starting the same
// interpreter for the imports that a child needs.
func BenchmarkRunTrivial(b *testing.B) {
	rt, python := runtime(b)
	ours := func() time.Duration {
		return timed(b, func() error {
			result, err := rt.Run(b.Context(), thirdrail.Request{Program: "return 1"})
			if err == nil {
				err = result.Err()
			}
			return err
		})
	}
	reference := func() time.Duration {
		return timed(b, func() error { return exec.Command(python, "-I", "-c", childImports).Run() })
	}
	compare(b, ours, reference)
}

const roundTrips = 2000

// BenchmarkCall compares calls that a program awaits one by one with the same
// number of JSON lines over a bare socket pair.
func BenchmarkCall(b *testing.B) {
	rt, python := runtime(b)
	program := fmt.Sprintf(`import time
for i in range(100):
    await tools.echo(n=i, text="some text")
start = time.perf_counter()
for i in range(%d):
    await tools.echo(n=i, text="some text")
return time.perf_counter() - start`, roundTrips)
	echo := func(_ context.Context, args lossless.Value) (lossless.Value, error) { return args, nil }
	namespaces := []thirdrail.Namespace{{Global: "tools", Funcs: thirdrail.Funcs{"echo": echo}}}
	ours := func() time.Duration {
		result, err := rt.Run(b.Context(), thirdrail.Request{Program: program, Namespaces: namespaces})
		if err != nil {
			b.Fatal(err)
		}
		var seconds float64
		if err := result.Decode(&seconds); err != nil {
			b.Fatal(err)
		}
		return time.Duration(seconds * float64(time.Second))
	}
	compare(b, ours, func() time.Duration { return pingPong(b, python) })
}

// pingPong is the reference for a call: json on both sides and nothing else.
func pingPong(b *testing.B, python string) time.Duration {
	b.Helper()
	const program = `import sys, os, json, time
def call(i):
    os.write(3, json.dumps({"id": i, "args": {"n": i, "text": "some text"}}).encode() + b"\n")
    return json.loads(os.read(3, 65536))
for i in range(100):
    call(i)
start = time.perf_counter()
for i in range(int(sys.argv[1])):
    call(i)
print(time.perf_counter() - start)`
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	_ = syscall.SetNonblock(fds[0], true)
	host, child := os.NewFile(uintptr(fds[0]), "host"), os.NewFile(uintptr(fds[1]), "child")
	defer host.Close()
	command := exec.Command(python, "-I", "-c", program, strconv.Itoa(roundTrips))
	command.ExtraFiles = []*os.File{child}
	var output bytes.Buffer
	command.Stdout = &output
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	_ = child.Close()
	lines := bufio.NewScanner(host)
	for lines.Scan() {
		var call struct {
			ID   int64           `json:"id"`
			Args json.RawMessage `json:"args"`
		}
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			b.Fatal(err)
		}
		reply, err := json.Marshal(map[string]any{"id": call.ID, "value": call.Args})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := host.Write(append(reply, '\n')); err != nil {
			b.Fatal(err)
		}
	}
	if err := command.Wait(); err != nil {
		b.Fatal(err)
	}
	seconds, err := strconv.ParseFloat(string(bytes.TrimSpace(output.Bytes())), 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(seconds * float64(time.Second))
}
