package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// parking keeps the runs whose questions went out as a result, until the request
// with the answers comes. Its tokens tell nothing, can't be guessed or made by
// others, are for one client and one program, and work once.
type parking struct {
	key  [sha256.Size]byte
	most int
	wait time.Duration // after which a run that nobody came back for ends

	mu   sync.Mutex
	runs map[parkedID]*parked // nil when closed
}

type parkedID [16]byte

type parked struct {
	run    *run
	expiry *time.Timer
}

// parkedGrace is how much longer than a question a run stays parked: so long, the
// client can still fetch what the program made of not being answered.
const parkedGrace = time.Minute

func newParking(most int, wait time.Duration) *parking {
	p := &parking{most: most, wait: wait, runs: map[parkedID]*parked{}}
	_, _ = rand.Read(p.key[:]) // it never fails
	return p
}

// errAbandoned is why a run ends that nobody came back for.
var errAbandoned = errors.New("nobody came back with an answer")

// put parks a run. It fails when too many are.
func (p *parking) put(r *run) (token string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runs == nil || len(p.runs) >= p.most {
		return "", false
	}
	var id parkedID
	_, _ = rand.Read(id[:]) // it never fails
	p.runs[id] = &parked{run: r, expiry: time.AfterFunc(p.wait, func() {
		if p.remove(id) {
			r.cancel(errAbandoned)
		}
	})}
	return base64.RawURLEncoding.EncodeToString(append(id[:], p.sign(id, r.client.who, r.code)...)), true
}

// sign binds an id to a client and a program.
func (p *parking) sign(id parkedID, who, code string) []byte {
	mac := hmac.New(sha256.New, p.key[:])
	mac.Write(id[:])
	for _, part := range []string{who, code} {
		sum := sha256.Sum256([]byte(part))
		mac.Write(sum[:])
	}
	return mac.Sum(nil)
}

// take returns the run of a token, once. A token of another client or program takes
// nothing away.
func (p *parking) take(token, who, code string) (*run, bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(token)
	var id parkedID
	if err != nil || len(data) != len(id)+sha256.Size {
		return nil, false
	}
	copy(id[:], data)
	if !hmac.Equal(data[len(id):], p.sign(id, who, code)) {
		return nil, false
	}
	p.mu.Lock()
	found := p.runs[id]
	p.mu.Unlock()
	if found == nil || !p.remove(id) {
		return nil, false
	}
	found.expiry.Stop()
	return found.run, true
}

// remove takes a run out, unless somebody else has.
func (p *parking) remove(id parkedID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.runs[id]
	delete(p.runs, id)
	return ok
}

// close forgets all runs. They end with their server.
func (p *parking) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.runs {
		one.expiry.Stop()
	}
	p.runs = nil
}

// park makes a result of the open questions, or returns nil where there are none.
// The run goes on with the request that brings the answers.
func (r *run) park() *sdk.CallToolResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) == 0 {
		return nil
	}
	token, ok := r.server.parking.put(r)
	if !ok {
		for id, q := range r.open {
			q.answer <- answer{err: unavailable{"too many runs wait for an answer already; try again later"}}
			delete(r.open, id)
		}
		return nil
	}
	requests := sdk.InputRequestMap{}
	for id, q := range r.open {
		requests[id] = q.params
	}
	return &sdk.CallToolResult{InputRequests: requests, RequestState: token}
}

// errBadState refuses a request for a run that isn't parked.
var errBadState = &jsonrpc.Error{
	Code:    jsonrpc.CodeInvalidParams,
	Message: "this requestState is not one of this client's open calls of run_code: it was used before, has expired, or was not made here; what its program has done is done, so look before calling run_code anew",
}

// resume goes on with a run that was parked.
func (s *Server) resume(ctx context.Context, req *sdk.CallToolRequest, code string) (*sdk.CallToolResult, error) {
	r, ok := s.parking.take(req.Params.RequestState, whoOf(req), code)
	if !ok {
		return nil, errBadState
	}
	a := r.attach(ctx, req)
	r.mu.Lock()
	for id, q := range r.open {
		if result, ok := req.Params.InputResponses[id].(*sdk.ElicitResult); ok && result != nil {
			q.answer <- answer{result: result}
			delete(r.open, id)
		}
	}
	if len(r.open) > 0 {
		r.tell() // what was not answered, or came up meanwhile, is asked again
	}
	r.mu.Unlock()
	return r.serve(a)
}
