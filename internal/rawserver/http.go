package rawserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// ServeHTTP serves streamable HTTP without sessions: answers to calls of tools are
// streams of events, other answers are JSON.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodGet:
		if s.modern {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		send, stop := events(w)
		defer stop()
		one := &stream{send: send}
		s.open(one)
		defer s.shut(one)
		<-r.Context().Done()
		return
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch {
	case m.Method == "" || len(m.ID) == 0:
		w.WriteHeader(http.StatusAccepted)
		s.Handle(r.Context(), m, func(string) {})
	case m.Method == "tools/call" || m.Method == "subscriptions/listen":
		send, stop := events(w)
		defer stop()
		s.Handle(r.Context(), m, send)
	default:
		w.Header().Set("Content-Type", "application/json")
		s.Handle(r.Context(), m, func(text string) { _, _ = fmt.Fprint(w, text) })
	}
}

// events returns what sends a message as an event, in two lines of data with a comment
// before them, which few servers do and all may. After stop it sends nothing.
func events(w http.ResponseWriter) (send func(string), stop func()) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	flusher := http.NewResponseController(w)
	_ = flusher.Flush()
	var mu sync.Mutex
	stopped := false
	send = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if stopped || text[0] != '{' { // garbage is for lines
			return
		}
		_, _ = fmt.Fprintf(w, ": still here\nevent: message\ndata: %s\ndata: %s\n\n", text[:1], text[1:])
		_ = flusher.Flush()
	}
	return send, func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
	}
}
