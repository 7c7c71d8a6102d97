package thirdrail

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// waitingNamespace has a function that waits for a person who takes so long, or
// who never answers, where it is zero.
func waitingNamespace(answer time.Duration) []Namespace {
	ask := func(ctx context.Context, _ lossless.Value) (lossless.Value, error) {
		defer Waiting(ctx)()
		var after <-chan time.Time
		if answer > 0 {
			timer := time.NewTimer(answer)
			defer timer.Stop()
			after = timer.C
		}
		select {
		case <-after:
		case <-ctx.Done():
		}
		return lossless.Of("yes")
	}
	return []Namespace{{Global: "user", Funcs: Funcs{"ask": ask}}}
}

func TestWaiting(t *testing.T) {
	rt := newRuntime(t, Config{})
	for _, test := range []struct {
		name    string
		answer  time.Duration
		limits  Limits
		program string
		value   string
		message string
	}{
		{
			name: "the clock stops", answer: 900 * time.Millisecond, limits: Limits{Wall: 600 * time.Millisecond},
			program: "return await user.ask()", value: `"yes"`,
		},
		{
			name: "several at once", answer: 900 * time.Millisecond, limits: Limits{Wall: 600 * time.Millisecond},
			program: "import asyncio\nreturn await asyncio.gather(user.ask(), user.ask())", value: `["yes","yes"]`,
		},
		{
			name: "the clock goes on", answer: 50 * time.Millisecond, limits: Limits{Wall: 300 * time.Millisecond},
			program: "import asyncio\nawait user.ask()\nawait asyncio.sleep(60)", message: "wall time limit of 300ms, beside ",
		},
		{
			name: "waiting has a limit", limits: Limits{Wall: 200 * time.Millisecond, Waiting: 100 * time.Millisecond},
			program: "await user.ask()", message: "wall time limit of 200ms, beside 100ms of waiting for answers",
		},
		{
			name: "CPU time counts meanwhile", limits: Limits{CPU: 200 * time.Millisecond},
			program: "import asyncio\nt = asyncio.ensure_future(user.ask())\nawait asyncio.sleep(0.01)\nwhile True: pass", message: "CPU time limit of 200ms",
		},
		{
			name: "the program may end meanwhile", limits: Limits{Wall: 5 * time.Second},
			program: "import asyncio\nt = asyncio.ensure_future(user.ask())\nawait asyncio.sleep(0.01)\nreturn 1", value: "1",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result, err := rt.Run(t.Context(), Request{Program: test.program, Namespaces: waitingNamespace(test.answer), Limits: test.limits})
			if err != nil {
				t.Fatal(err)
			}
			message := ""
			if result.Failure != nil {
				message = result.Failure.Error()
			}
			if got := result.Value.String(); test.value != "" && got != test.value || !strings.Contains(message, test.message) || (message == "") != (test.message == "") {
				t.Errorf("value %s, failure %q; want %q, %q", got, message, test.value, test.message)
			}
			if test.message != "" && !strings.HasPrefix(message, "timeout: ") {
				t.Errorf("failure %q is no timeout", message)
			}
		})
	}
}

// TestWaitingOutside: outside of a run, there is no clock to stop.
func TestWaitingOutside(t *testing.T) {
	resume := Waiting(t.Context())
	resume()
	resume()
}

// TestWallClock plays the clock, second by second.
func TestWallClock(t *testing.T) {
	sent := time.Now()
	at := func(seconds int) time.Time { return sent.Add(time.Duration(seconds) * time.Second) }
	left := func(c *wallClock, now int, want time.Duration) {
		t.Helper()
		if got := c.left(at(now)); got != want {
			t.Errorf("after %d s, %v are left, want %v", now, got, want)
		}
		if got := c.over(at(now)); got != (want < 0) {
			t.Errorf("after %d s, over is %t", now, got)
		}
	}
	c := newWallClock(Limits{Wall: 10 * time.Second, Waiting: 20 * time.Second})
	c.sent = sent
	left(c, 3, 7*time.Second)
	c.stop(at(4))
	if len(c.changed) != 1 {
		t.Error("a stop is not told")
	}
	c.stop(at(5)) // nested: nothing changes
	left(c, 6, 24*time.Second)
	c.goOn(at(7))
	left(c, 8, 22*time.Second)
	c.goOn(at(9)) // 5 s were given
	left(c, 9, 6*time.Second)
	left(c, 15, 0)
	left(c, 16, -time.Second)
	c.stop(at(14))
	left(c, 29, time.Second)
	left(c, 31, -time.Second) // 20 s are all that it gives
	c.goOn(at(40))
	left(c, 30, 0)
	left(c, 31, -time.Second)

	long := newWallClock(Limits{Wall: math.MaxInt64, Waiting: math.MaxInt64})
	long.sent = sent
	long.stop(sent)
	if got := long.left(at(1)); got <= 0 {
		t.Errorf("limits of centuries leave %v", got)
	}
}

// TestResumeTwice: a second resume must not count.
func TestResumeTwice(t *testing.T) {
	clock := newWallClock(Limits{Wall: time.Second, Waiting: time.Second})
	ctx := context.WithValue(t.Context(), waitingKey{}, clock)
	first, second := Waiting(ctx), Waiting(ctx)
	first()
	first()
	if clock.waiting != 1 {
		t.Errorf("%d functions wait, want 1", clock.waiting)
	}
	second()
	if clock.waiting != 0 {
		t.Errorf("%d functions wait, want 0", clock.waiting)
	}
}
