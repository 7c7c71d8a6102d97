package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// MaxMessage is how many bytes one message of a server may have.
const MaxMessage = 32 << 20

// A collector takes the bytes of one message. Of a message beyond the limit it keeps
// only what tells which call it answers.
type collector struct {
	limit int
	kept  []byte
	large *scanner // not nil beyond the limit
}

func (c *collector) write(p []byte) {
	if c.large == nil && len(c.kept)+len(p) > c.limit {
		c.large = &scanner{}
		c.large.write(c.kept)
		c.kept = nil
	}
	if c.large != nil {
		c.large.write(p)
		return
	}
	c.kept = append(c.kept, p...)
}

// message returns the message, or in place of one that is too large an error that
// answers the same call. It is nil where there is nothing to answer.
func (c *collector) message() []byte {
	if c.large == nil {
		return c.kept
	}
	if c.large.request || !isID(c.large.id) {
		return nil
	}
	return failure(c.large.id, "the server's answer is larger than 32 MiB; ask it for less")
}

// isID tells whether a text can be the id of a message.
func isID(text []byte) bool {
	id, err := lossless.Parse(text, lossless.Options{})
	return err == nil && (id.Kind() == lossless.KindNumber || id.Kind() == lossless.KindString)
}

// failure returns the message that answers a call with an error. The id is one that
// isID accepts.
func failure(id []byte, message string) []byte {
	text, err := lossless.Of(message)
	if err != nil {
		text, _ = lossless.Of("the server's answer can't be told")
	}
	return []byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":-32603,"message":` + text.String() + `}}`)
}

// A scanner walks a message that isn't kept, and finds its member "id" and whether it
// has a member "method".
type scanner struct {
	id      []byte
	request bool

	depth    int
	quoted   bool
	escaped  bool
	name     bool   // what comes is the name of a member of the message
	last     []byte // the last name
	wantsID  bool   // what comes is the value of the member "id"
	overlong bool
}

// maxID is how many bytes of an id are kept.
const maxID = 100

func (s *scanner) write(p []byte) {
	for _, b := range p {
		s.step(b)
	}
}

func (s *scanner) step(b byte) {
	if s.quoted {
		s.inString(b)
		return
	}
	switch b {
	case '"':
		s.quoted = true
		if s.depth == 1 && s.name {
			s.last = s.last[:0]
		}
	case '{', '[':
		s.depth++
		s.name = s.depth == 1 && b == '{'
		return
	case '}', ']':
		if s.depth == 1 {
			s.wantsID = false
		}
		s.depth--
		return
	case ':':
		if s.depth == 1 && s.name {
			s.name = false
			s.wantsID = string(s.last) == "id"
			s.request = s.request || string(s.last) == "method"
			return
		}
	case ',':
		if s.depth == 1 {
			s.name, s.wantsID = true, false
			return
		}
	case ' ', '\t', '\r', '\n':
		return
	}
	s.keepID(b)
}

func (s *scanner) inString(b byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case b == '\\':
		s.escaped = true
	case b == '"':
		s.quoted = false
	}
	if s.depth == 1 && s.name && s.quoted && len(s.last) < maxID {
		s.last = append(s.last, b)
	}
	s.keepID(b)
}

func (s *scanner) keepID(b byte) {
	if !s.wantsID || s.depth != 1 || s.overlong {
		return
	}
	if s.id = append(s.id, b); len(s.id) > maxID {
		s.id, s.overlong = nil, true
	}
}

// readLine reads a line into each, without its end, in pieces. The error is io.EOF
// only where nothing was left to read.
func readLine(r *bufio.Reader, each func(piece []byte)) error {
	some := false
	for {
		piece, err := r.ReadSlice('\n')
		some = some || len(piece) > 0
		if err == nil {
			piece = bytes.TrimSuffix(piece[:len(piece)-1], []byte("\r"))
		}
		each(piece)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && some:
			return nil
		default:
			return err
		}
	}
}
