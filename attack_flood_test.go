//go:build linux

package thirdrail

import (
	"encoding/json"
	"fmt"
	"time"
)

const (
	heldByHost  = "held by the host, confined or not"
	heldByClock = "held by the host's clock, confined or not"
	slackOfWall = 3 * time.Second // of a busy machine
)

// floodAttacks send the host more than it shall take, and try to stay longer than
// they may. What they get is seen from outside.
var floodAttacks = []attack{
	{Name: "lines printed", Off: heldByHost, Limits: Limits{LogBytes: 4 << 10}, Check: tooManyLogs, Program: `
for i in range(20000):
    print("a line of some length, number", i)
`},
	{Name: "one line printed", Off: heldByHost, Limits: Limits{LogBytes: 4 << 10}, Check: tooManyLogs, Program: `
for i in range(64):
    print("x" * (64 << 10), end="")
`},
	{Name: "bytes on descriptors 1 and 2", Off: heldByHost, Limits: Limits{LogBytes: 4 << 10}, Check: tooManyLogs, Program: `
for i in range(256):
    os.write(1 + i % 2, b"\xff\x00" * (8 << 10))
`},
	{Name: "log frames of its own", Off: heldByHost, Limits: Limits{LogBytes: 4 << 10}, Check: tooManyLogs, Program: `
for i in range(2000):
    os.write(3, b'{"type":"log","text":"a line of some length, from nowhere"}\n')
`},
	{Name: "junk frames", Off: heldByHost, Check: tooLong, Program: `
for i in range(50):
    os.write(3, b"junk\n" * 10000)
`},
	{Name: "a frame without end", Off: heldByHost, Limits: Limits{FrameBytes: 1 << 20, ValueBytes: 1000, LogBytes: 1000}, Check: tooLong, Program: `
while True:
    os.write(3, b"x" * (64 << 10))
`},
	{Name: "a value over its limit", Off: heldByHost, Limits: Limits{ValueBytes: 1000}, Check: tooLargeValue, Program: `
return "x" * 2000
`},
	{Name: "a value over its limit, forged", Off: heldByHost, Limits: Limits{ValueBytes: 1000}, Check: tooLargeValue, Program: `
os.write(3, b'{"type":"done","value":"' + b"x" * 2000 + b'"}\n')
time.sleep(60)
`},
	{Name: "calls without end", Off: heldByHost, Limits: Limits{CallsInFlight: 4, Wall: time.Second}, Check: tooLong, Program: `
import asyncio
await asyncio.gather(*(tools.slow() for i in range(2000)))
`},
	{Name: "processor time", Off: heldByHost, Limits: Limits{CPU: 200 * time.Millisecond}, Check: tooMuchCPU, Program: `
while True:
    pass
`},
	{Name: "processor time, deaf to signals", Off: heldByHost, Limits: Limits{CPU: 200 * time.Millisecond}, Check: tooMuchCPU, Program: `
for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
while True:
    pass
`},
	{Name: "processor time of threads", Off: heldByHost, Limits: Limits{CPU: 200 * time.Millisecond}, Check: tooMuchCPU, Program: `
import hashlib, threading
def work():
    while True:
        hashlib.sha256(bytes(1 << 20)).digest()
for i in range(4):
    threading.Thread(target=work).start()
time.sleep(60)
`},
	{Name: "asleep", Off: heldByClock, Limits: Limits{Wall: time.Second}, Check: tooLong, Program: `
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
time.sleep(600)
`},
	{Name: "stopped by itself", Off: heldByClock, Limits: Limits{Wall: time.Second}, Check: tooLong, Program: `
os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(600)
`},
	{Name: "its clocks changed", Off: heldByClock, Limits: Limits{Wall: time.Second}, Check: tooLong, Program: `
time.time = time.monotonic = time.perf_counter = lambda: 0.0
try:
    time.clock_settime(time.CLOCK_MONOTONIC, 0)
except OSError:
    pass
import asyncio
await asyncio.sleep(600)
`},
	{Name: "interrupted by its own timers", Off: heldByClock, Limits: Limits{Wall: time.Second}, Check: tooLong, Program: `
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while True:
    time.sleep(600)
`},
	{Name: "no exception ends it", Off: heldByClock, Limits: Limits{Wall: time.Second}, Check: tooLong, Program: `
while True:
    try:
        while True:
            time.sleep(600)
    except BaseException:
        pass
`},
	{Name: "its first thread gone", Off: heldByClock, Limits: Limits{Wall: time.Second}, Check: tooLong, Program: `
import threading
threading.Thread(target=time.sleep, args=(600,)).start()
libc.syscall(60 if MACHINE == 0 else 93, 0)  # exit, of this thread only
`},
}

func tooManyLogs(a *attempt) string {
	text, err := json.Marshal(a.result.Logs)
	if err != nil {
		return err.Error()
	}
	const marker = 200 // what tells that logs were cut
	if int64(len(text)) > a.limits.LogBytes*6+marker || a.result.Stats.LogBytes > a.limits.LogBytes {
		return fmt.Sprintf("%d bytes of logs, %d by the ledger", len(text), a.result.Stats.LogBytes)
	}
	return tooLong(a)
}

func tooLargeValue(a *attempt) string {
	if size := len(a.result.Value.Bytes()); int64(size) > a.limits.ValueBytes {
		return fmt.Sprintf("a value of %d bytes", size)
	}
	return ""
}

func tooMuchCPU(a *attempt) string {
	// Several threads use more between two looks.
	if a.result.Failure == nil || a.result.Failure.Kind != Timeout || a.result.Stats.CPU > a.limits.CPU+slackOfWall {
		return fmt.Sprintf("%v of CPU: %v", a.result.Stats.CPU, a.result.Err())
	}
	return ""
}

func tooLong(a *attempt) string {
	if a.took > a.limits.Wall+startLimit || a.result.Stats.Wall > a.limits.Wall+slackOfWall {
		return fmt.Sprintf("it took %v, and ran for %v", a.took, a.result.Stats.Wall)
	}
	return ""
}
