package rawserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A stream takes messages for the client.
type stream struct{ send func(message string) }

// Serve serves lines.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	if s.greeting {
		fmt.Fprintln(out, "Raw server, at your service")
	}
	var mu sync.Mutex
	lines := &stream{send: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(out, text+"\n")
	}}
	s.open(lines)
	defer s.shut(lines)
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) && s.stubborn {
			select {}
		}
		if err != nil {
			return nil
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("rawserver: %w in %q", err, line)
		}
		go s.Handle(context.Background(), m, lines.send)
		if s.deaf && (m.Method == "tools/list" || m.Method == "deaf") {
			select {}
		}
	}
}

func (s *Server) open(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[one] = true
}

func (s *Server) shut(one *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, one)
}

// tell sends a notification that belongs to no call.
func (s *Server) tell(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.streams {
		go one.send(text)
	}
}
