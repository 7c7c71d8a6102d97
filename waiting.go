package thirdrail

import (
	"context"
	"sync"
	"time"
)

// Waiting stops the wall clock of a run until resume is called. It is for functions
// that wait for a person, whose time is not the program's. The context is that of
// the function, or one derived from it; with any other, nothing happens.
//
// Several functions may wait at once: the clock goes on when none does. What a run
// is given in all is bounded by Limits.Waiting, so a function that never resumes
// holds nothing for ever. All other limits hold meanwhile. Resume may be called
// more than once.
func Waiting(ctx context.Context) (resume func()) {
	clock, ok := ctx.Value(waitingKey{}).(*wallClock)
	if !ok {
		return func() {}
	}
	clock.stop(time.Now())
	return sync.OnceFunc(func() { clock.goOn(time.Now()) })
}

// waitingKey is the key of a run's clock in the context of its functions.
type waitingKey struct{}

// wallClock measures how long a run went on, without the time that its functions
// waited for people. Only the host stops it: a program has no frame for that.
type wallClock struct {
	limit time.Duration // Limits.Wall
	most  time.Duration // Limits.Waiting
	sent  time.Time     // when the program was sent

	// changed has a token after the clock was stopped or went on.
	changed chan struct{}

	mu      sync.Mutex
	waiting int           // how many functions wait
	since   time.Time     // when the first of them began
	waited  time.Duration // before that
}

func newWallClock(limits Limits) *wallClock {
	return &wallClock{
		limit:   clampDuration(limits.Wall),
		most:    clampDuration(limits.Waiting),
		changed: make(chan struct{}, 1),
	}
}

func (c *wallClock) stop(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting++; c.waiting == 1 {
		c.since = now
		c.tell()
	}
}

func (c *wallClock) goOn(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting--; c.waiting == 0 {
		c.waited += now.Sub(c.since)
		c.tell()
	}
}

func (c *wallClock) tell() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// left returns after how long the limit is over, if nothing changes until then.
func (c *wallClock) left(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	given := min(c.waited, c.most)
	if c.waiting > 0 {
		given = c.most
	}
	return c.limit + given - now.Sub(c.sent)
}

// over tells whether the limit was over at a moment. Both times have the monotonic
// clock's reading, so it doesn't matter what somebody sets the clock to.
func (c *wallClock) over(at time.Time) bool {
	return at.Sub(c.sent)-c.given(at) > c.limit
}

// given returns how long the clock stood still until a moment.
func (c *wallClock) given(at time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	waited := c.waited
	if c.waiting > 0 {
		waited += at.Sub(c.since)
	}
	return min(waited, c.most)
}

// failure is the end of a run that is over the limit.
func (c *wallClock) failure(at time.Time) *Failure { return wallFailure(c.limit, c.given(at)) }
