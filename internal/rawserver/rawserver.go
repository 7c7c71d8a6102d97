// Package rawserver is an MCP server for tests that writes its messages by hand, so
// that it can send what tidy servers never send: schemas of old drafts, odd names,
// many pages, large integers, results that break their schema, garbage, floods,
// questions, and its own end in the middle of a call.
package rawserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Variable makes a test binary that calls Main a server. Its value are words of New.
const Variable = "THIRDRAIL_RAWSERVER"

// Main serves standard input and output, and ends the process, if Variable is set. Call
// it first in TestMain.
func Main() {
	words, set := os.LookupEnv(Variable)
	if !set {
		return
	}
	s, err := New(words)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	s.Exit = os.Exit
	if err := s.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Server is a server whose behaviour is chosen by words.
type Server struct {
	// Exit ends the process in the middle; nil does nothing.
	Exit func(status int)

	modern   bool          // speaks 2026-07-28 instead of the older handshake
	silent   bool          // ignores server/discover, as it ignores all it doesn't know
	fragile  bool          // ends at server/discover
	greeting bool          // prints a line that is no message first
	deaf     bool          // never reads its input after the handshake
	stubborn bool          // doesn't end when its input is closed
	slow     time.Duration // before it answers the handshake
	slowList time.Duration // before it lists its tools
	many     int           // tools beside those that it always has
	page     int           // tools on a page; 0 means all
	onlyMany bool          // without the tools that it always has
	unlisted bool          // refuses to list

	mu        sync.Mutex
	grown     int
	refusals  int // lists that are refused from now on
	calls     map[string]int
	cancelled map[string]context.CancelFunc
	ended     []string // tools whose calls were cancelled
	questions map[string]chan json.RawMessage
	asked     int
	streams   map[*stream]bool // to send what belongs to no call
}

// New returns a server. Words are separated by blanks: modern, silent, fragile,
// greeting, deaf, stubborn, unlisted, only-many, and slow=DURATION,
// slow-list=DURATION, many=N, page=N.
func New(words string) (*Server, error) {
	s := &Server{
		calls: map[string]int{}, cancelled: map[string]context.CancelFunc{},
		questions: map[string]chan json.RawMessage{}, streams: map[*stream]bool{},
	}
	switches := map[string]*bool{
		"modern": &s.modern, "silent": &s.silent, "fragile": &s.fragile, "greeting": &s.greeting,
		"deaf": &s.deaf, "stubborn": &s.stubborn, "unlisted": &s.unlisted, "only-many": &s.onlyMany,
	}
	for _, word := range strings.Fields(words) {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "slow":
			s.slow, err = time.ParseDuration(value)
		case "slow-list":
			s.slowList, err = time.ParseDuration(value)
		case "many":
			s.many, err = strconv.Atoi(value)
		case "page":
			s.page, err = strconv.Atoi(value)
		default:
			on := switches[word]
			if on == nil {
				return nil, fmt.Errorf("rawserver: no word %q", word)
			}
			*on = true
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Server) exit(status int) {
	if s.Exit != nil {
		s.Exit(status)
	}
}

// Calls returns how often a tool was called.
func (s *Server) Calls(tool string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[tool]
}
