package mcp

//lint:file-ignore SA1019 logging is deprecated from protocol 2026-07-28 on, but today's clients read it (SEP-2577)

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// audience is a request that hears what a run says: as progress, if it has a token
// for that, and as log notifications, if the client has set a level.
//
// Notifications are sent by a goroutine of their own, so that a client that doesn't
// read holds no program up. What can't be told is in the result all the same.
type audience struct {
	ctx     context.Context // the request's
	session *sdk.ServerSession
	token   any // nil if the request has none

	notices chan notice
	sent    chan struct{} // closed when all notices are

	mu     sync.Mutex
	told   map[voice]int
	closed bool
}

// notice is one thing to tell.
type notice struct {
	progress string // empty for none
	log      *sdk.LoggingMessageParams
}

// voice is who has something to tell. Each has a budget of its own, so that no
// server drowns the program.
type voice int

const (
	program voice = iota
	servers
	voices
)

const (
	// maxNotices is how many each voice may send for one request.
	maxNotices = 1000
	// closePatience is how long a result waits for the notifications before it.
	closePatience = 2 * time.Second
	// maxNoticeBytes bounds the text of one.
	maxNoticeBytes = 4 << 10
)

func newAudience(ctx context.Context, req *sdk.CallToolRequest) *audience {
	a := &audience{
		ctx:     ctx,
		session: req.Session,
		token:   exactToken(req.Params.GetProgressToken()),
		notices: make(chan notice, int(voices)*(maxNotices+1)), // so that nobody waits
		sent:    make(chan struct{}),
		told:    map[voice]int{},
	}
	return a
}

// exactToken returns a progress token, or nil for one that was not read exactly.
func exactToken(token any) any {
	if number, ok := token.(float64); ok && (number != math.Trunc(number) || math.Abs(number) > 1<<53) {
		return nil
	}
	return token
}

// say tells the client something, without waiting.
func (a *audience) say(who voice, n notice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.told[who] > maxNotices {
		return
	}
	if a.told[who]++; a.told[who] > maxNotices {
		n = line("[no more is shown while it runs; the result has the rest]")
	}
	a.notices <- n
}

// line is a notice of a line that the program printed.
func line(text string) notice {
	text = cutText(text, maxNoticeBytes)
	return notice{progress: text, log: &sdk.LoggingMessageParams{Level: "info", Logger: "run_code", Data: text}}
}

// send tells the client all notices, one after the other.
func (a *audience) send() {
	defer close(a.sent)
	told := 0.0
	for n := range a.notices {
		if a.ctx.Err() != nil {
			continue
		}
		if n.progress != "" && a.token != nil {
			told++
			_ = a.session.NotifyProgress(a.ctx, &sdk.ProgressNotificationParams{ProgressToken: a.token, Progress: told, Message: n.progress})
		}
		if n.log != nil {
			_ = a.session.Log(a.ctx, n.log)
		}
	}
}

// close ends the notices, and waits a while until they are sent: none may come
// after the result.
func (a *audience) close() {
	a.mu.Lock()
	a.closed = true
	close(a.notices)
	a.mu.Unlock()
	timer := time.NewTimer(closePatience)
	defer timer.Stop()
	select {
	case <-a.sent:
	case <-a.ctx.Done():
	case <-timer.C:
	}
}

// hear returns the request that listens, or nil.
func (r *run) hear() *audience {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.audience
}

// printed tells of a line that the program printed.
func (r *run) printed(text string) {
	if a := r.hear(); a != nil {
		a.say(program, line(text))
	}
}

// WantsProgress tells whether the client wants to know how far a call is.
func (r *run) WantsProgress() bool {
	a := r.hear()
	return a != nil && a.token != nil
}

// Progress tells the client how far a call of a server is.
func (r *run) Progress(_ context.Context, progress, total float64, message string) {
	text := plain(message, maxNoticeBytes)
	switch {
	case total > 0:
		text = fmt.Sprintf("[%g/%g] %s", progress, total, text)
	case text == "":
		text = fmt.Sprintf("[%g]", progress)
	}
	if a := r.hear(); a != nil {
		a.say(servers, notice{progress: text})
	}
}

// Log passes a log notification of a server on.
func (r *run) Log(_ context.Context, level, logger string, data json.RawMessage) {
	if len(data) > maxNoticeBytes {
		data, _ = json.Marshal(cutText(string(data), maxNoticeBytes))
	}
	if a := r.hear(); a != nil {
		a.say(servers, notice{log: &sdk.LoggingMessageParams{Level: sdk.LoggingLevel(level), Logger: plain(logger, 200), Data: data}})
	}
}
