package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// logOrderCases write by several ways in turns. Each program counts its lines, so
// the logs must be the numbers from 0 on.
var logOrderCases = []struct {
	name    string
	lines   int
	program string
}{
	{"print and os.write", 4000, `
import os
for i in range(0, 4000, 2):
    print(i)
    os.write(1, b"%d\n" % (i + 1))`},
	{"print between both native descriptors", 3000, `
import os
for i in range(0, 3000, 4):
    os.write(1, b"%d\n" % i)
    print(i + 1)
    os.write(2, b"%d\n" % (i + 2))
    print(i + 3)`},
	{"both streams and a file on descriptor 1", 3000, `
import sys
with open(1, "w", closefd=False) as out:
    for i in range(0, 3000, 3):
        print(i, file=sys.stderr)
        print(i + 1, file=out, flush=True)
        sys.stdout.write("%d\n" % (i + 2))`},
	{"the binary layers", 2000, `
import os, sys
for i in range(0, 2000, 4):
    sys.stdout.buffer.write(b"%d\n" % i)
    print(i + 1)
    os.write(1, b"%d\n" % (i + 2))
    sys.__stderr__.buffer.write(b"%d\n" % (i + 3))`},
	{"processes", 60, `
import os, subprocess
for i in range(0, 60, 6):
    print(i)
    subprocess.run(["echo", str(i + 1)])
    print(i + 2)
    os.system("echo %d" % (i + 3))
    os.write(1, b"%d\n" % (i + 4))
    print(i + 5)`},
	{"pieces of lines", 1000, `
import os, sys
for i in range(0, 1000, 2):
    for c in str(i):
        print(c, end="")
    print()
    for c in str(i + 1) + "\n":
        os.write(1, c.encode())`},
	{"lines of 30 kB", 300, `
import os
for i in range(0, 300, 3):
    print(str(i) + " " * 30000)
    os.write(1, b"%d" % (i + 1) + b" " * 30000 + b"\n")
    print(str(i + 2) + " " * 30000)`},
	{"beside calls, more than may be in flight", 600, `
import asyncio, os
n = 0
def both():
    global n
    print(n)
    os.write(1, b"%d\n" % (n + 1))
    n += 2
async def one(i):
    both()
    await tools.slow(ms=2)
    both()
await asyncio.gather(*[one(i) for i in range(150)])`},
}

// TestLogOrder hammers the order between what goes through frames and what goes
// past them.
func TestLogOrder(t *testing.T) {
	config := Config{Limits: Limits{LogBytes: 16 << 20, CallsInFlight: 4}, Sandbox: testSandboxes[withProcesses]}
	eachPython(t, config, func(t *testing.T, rt *Runtime) {
		for _, c := range logOrderCases {
			t.Run(c.name, func(t *testing.T) {
				result := run1(t, rt, c.program, Limits{})
				if result.Failure != nil {
					t.Fatal(result.Failure)
				}
				checkNumbers(t, result.Logs, c.lines)
			})
		}
	})
}

// checkNumbers checks that logs are the numbers from 0, with any space behind.
func checkNumbers(t *testing.T, logs []string, count int) {
	t.Helper()
	for i, line := range logs {
		if strings.TrimRight(line, " ") != fmt.Sprint(i) {
			t.Fatalf("line %d is %q, after %q", i, short(line), logs[max(i-3, 0):i])
		}
	}
	if len(logs) != count {
		t.Fatalf("%d lines, want %d", len(logs), count)
	}
}

// oneCPUVariable tells this binary that it runs pinned to one CPU.
const oneCPUVariable = "THIRDRAIL_TEST_ONE_CPU"

// TestOneCPU has the tests of this file run once more where host and child share
// one CPU, so that each of them is interrupted anywhere.
func TestOneCPU(t *testing.T) {
	if os.Getenv(oneCPUVariable) != "" {
		t.Skip("this is the pinned run itself")
	}
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		t.Skip("taskset is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), taskset, "--cpu-list", "0", self,
		"-test.run=^(TestLogOrder|TestNothingIsLost)$", "-test.timeout=300s", "-test.parallel=2")
	command.Env = append(os.Environ(), oneCPUVariable+"=1")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("pinned to one CPU: %v\n%s", err, short(string(output)))
	}
}

// endings end a program that has printed all its lines. What it printed must be
// in the logs, next to the failure.
var endings = []struct {
	name, program string
	kind          FailureKind
	message       string
}{
	{"error", "raise ValueError('the end')", Exception, "ValueError: the end"},
	{"timeout", "print('waiting', end='')\nwhile True: time.sleep(1)", Timeout, "wall"},
	{"exit", "os._exit(9)", WorkerExit, "code=9"},
	{"kill", "os.kill(os.getpid(), signal.SIGKILL)", WorkerExit, "SIGKILL"},
	{"segfault", "import ctypes\nctypes.string_at(0)", WorkerExit, "SIGSEGV"},
	{"abort", "print('waiting', end='')\nwhile True: time.sleep(1)", Abort, "enough"},
}

// TestNothingIsLost prints twelve thousand lines, by all ways, and dies: in short
// runs many times over, and once line by line.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	const lines = 12000
	ways := map[string]string{
		"print": "for i in range(%d): print(i)",
		"text":  "for k in range(0, %d, 20): print('\\n'.join(map(str, range(k, k + 20))))",
		"bytes": "for k in range(0, %d, 500): os.write(1, ('\\n'.join(map(str, range(k, k + 500))) + '\\n').encode())",
		"mixed": "for k in range(0, %d, 40):\n    print('\\n'.join(map(str, range(k, k + 20))))\n    os.write(1, ('\\n'.join(map(str, range(k + 20, k + 40))) + '\\n').encode())",
	}
	// On 6 Pythons, 5 endings x 6 runs and 4 timeouts, which take their time: two
	// hundred times over.
	order := []string{"text", "bytes", "mixed", "text", "mixed", "print"}
	if testing.Short() || os.Getenv(oneCPUVariable) != "" {
		order = []string{"mixed"}
	}
	eachPython(t, Config{Limits: Limits{LogBytes: 1 << 20, Wall: 20 * time.Second}}, func(t *testing.T, rt *Runtime) {
		for _, end := range endings {
			for i, way := range order {
				if end.kind == Timeout && i >= 4 {
					break
				}
				name := fmt.Sprintf("%s/%s %d", end.name, way, i)
				t.Run(name, func(t *testing.T) {
					loseNothing(t, rt, fmt.Sprintf(ways[way], lines), end.program, end.kind, end.message, lines)
				})
			}
		}
	})
}

func loseNothing(t *testing.T, rt *Runtime, printing, ending string, kind FailureKind, message string, lines int) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	request := Request{Program: "import os, signal, time\n" + printing + "\n" + ending}
	switch kind {
	case Timeout:
		request.Limits.Wall = 2 * time.Second
	case Abort:
		// The last line is in: the rest is under way, or there.
		request.OnLog = func(text string) {
			if text == fmt.Sprint(lines-1) {
				cancel(textError("enough"))
			}
		}
	}
	result, err := rt.Run(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	programCase{Kind: kind, Message: []string{message}}.compare(t, result)
	logs := result.Logs
	if kind == Timeout || kind == Abort { // the abort may come before the open line
		logs = slices.DeleteFunc(slices.Clone(logs), func(line string) bool { return line == "waiting" })
		if kind == Timeout && len(logs) == len(result.Logs) {
			t.Error("the open line is lost")
		}
	}
	checkNumbers(t, logs, lines)
}

// TestRunsAtOnce has many runs print at the same time.
func TestRunsAtOnce(t *testing.T) {
	const runs, lines = 20, 1000
	rt := newRuntime(t, Config{MaxConcurrent: runs})
	var all sync.WaitGroup
	for run := range runs {
		all.Go(func() {
			var live []string
			result, err := rt.Run(t.Context(), Request{
				Program: "import os\nfor i in range(1000):\n    if i % 3:\n        print('run', data, 'line', i)\n    else:\n        os.write(1, b'run %d line %d\\n' % (data, i))",
				Data:    parse(t, fmt.Sprint(run)),
				OnLog:   func(text string) { live = append(live, text) },
			})
			if err != nil || result.Failure != nil {
				t.Error(err, result)
				return
			}
			if !slices.Equal(live, result.Logs) {
				t.Errorf("run %d: OnLog got other lines than the result", run)
			}
			for i, line := range result.Logs {
				if line != fmt.Sprintf("run %d line %d", run, i) {
					t.Errorf("run %d: line %d is %q", run, i, line)
					return
				}
			}
			if len(result.Logs) != lines {
				t.Errorf("run %d has %d lines", run, len(result.Logs))
			}
		})
	}
	all.Wait()
}

// TestFinishTakesAll has a child that wrote and died before the host read
// anything: all of it must be in the logs, frames before native bytes, and nothing
// of a frame that isn't whole.
func TestFinishTakesAll(t *testing.T) {
	frames := `{"type":"boot-ack"}` + "\n" + `{"type":"log","text":"frame"}` + "\n" + `{"type":"log","text":"open","open":true}` + "\n" + `{"type":"log","text":"half`
	for name, c := range map[string]struct{ written, want []string }{
		"all":    {[]string{frames, "out\nopen out", "error\n\xe4"}, []string{"frame", "open", "out", "open out", "error", "\uFFFD"}},
		"frames": {[]string{frames, "", ""}, []string{"frame", "open"}},
	} {
		t.Run(name, func(t *testing.T) {
			logs, used, dropped := finishUnread(t, c.written)
			if !slices.Equal(logs, c.want) || dropped != 1 || used != weigh(c.want)-1 {
				t.Errorf("logs %q of %d bytes, %d dropped; want %q of %d bytes, 1 dropped", logs, used, dropped, c.want, weigh(c.want)-1)
			}
		})
	}
}

// finishUnread finishes a conversation with a child that wrote to descriptors 3, 1
// and 2, and whose output was not read.
func finishUnread(t *testing.T, written []string) (logs []string, used, dropped int64) {
	t.Helper()
	var process child.Process
	for i, end := range []**os.File{&process.Rail, &process.Stdout, &process.Stderr} {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reader.Close() })
		*end = reader
		_, err = writer.WriteString(written[i])
		if err := errors.Join(err, writer.Close()); err != nil {
			t.Fatal(err)
		}
	}
	limits := DefaultLimits()
	c, err := newConversation(&process, limits, lossless.Exact, nil)
	if err != nil {
		t.Fatal(err)
	}
	var owner sync.WaitGroup
	c.check = func(lossless.Value) error { return nil }
	c.calls = newCalls(t.Context(), nil, limits, lossless.Exact, io.Discard, &owner)
	return c.finish()
}
