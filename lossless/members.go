package lossless

// Member is one member of an object, as Members sees it.
type Member struct {
	// Name is the member's name without its escapes. A lone surrogate in it is
	// three bytes, as WTF-8 has it, so names differ here if they differ there.
	Name string
	// Text is the value as it stands in the text given to Members, without the
	// white space around it. It aliases that text.
	Text []byte
	// Size is how many bytes the canonical form of Text has.
	Size int64
	// Canonical tells that Text is in canonical form.
	Canonical bool
	// Fault is the first breach of the number rule in Text, placed relative to
	// Text; nil if the value may cross.
	Fault *Error

	numbers Numbers
}

// Value returns the member's value in canonical form. It aliases Text if
// Canonical is set: Clone it to keep it longer than the text. The value of a
// member with a Fault is absent.
func (m Member) Value() Value {
	switch {
	case m.Fault != nil || len(m.Text) == 0:
		return Value{}
	case m.Canonical:
		return Value{m.Text[:len(m.Text):len(m.Text)]}
	}
	return Value{appendCanonical(make([]byte, 0, m.Size), m.Text, m.numbers)}
}

// Members walks a text that is one JSON object, in one pass, and calls visit
// with each of its members in order.
//
// It validates everything as Check does, but a number that may not cross
// doesn't end the walk: it is the Fault of the member that holds it. An error
// of visit ends the walk and is returned as it is. Since the text may turn out
// to be wrong after a member was visited, act on members only once Members has
// returned nil.
func Members(text []byte, n Numbers, visit func(Member) error) error {
	s := scanner{text: text, double: n == Double}
	defer s.release()
	at, c, err := s.members(n, visit)
	if err != nil {
		return err
	}
	if s.names.cause != fine {
		at, c = s.names.at, s.names.cause
	}
	if c != fine {
		return errorAt(text, at, c)
	}
	return nil
}

func (s *scanner) members(n Numbers, visit func(Member) error) (at int, c cause, err error) {
	text := s.text
	i := s.skip(0)
	if i == len(text) {
		return i, ended, nil
	}
	if text[i] != '{' {
		return i, notObject, nil
	}
	space := s.use()
	space.names.open()
	i = s.skip(i + 1)
	if i < len(text) && text[i] == '}' {
		return s.rest(i + 1)
	}
	for {
		start := i
		if i, c = s.memberName(i); c != fine {
			return i, c, nil
		}
		if s.names.cause != fine {
			return 0, fine, nil
		}
		m := Member{Name: space.name(text, start), numbers: n}
		i = s.skip(i)
		begin := i
		s.saved, s.changed, s.number = 0, false, fault{}
		if i, c = s.value(i); c != fine {
			return i, c, nil
		}
		if s.names.cause != fine {
			return 0, fine, nil
		}
		m.Text = text[begin:i]
		m.Size, m.Canonical = int64(i-begin-s.saved), !s.changed
		if s.number.cause != fine {
			m.Fault = errorAt(m.Text, s.number.at-begin, s.number.cause)
		}
		if err := visit(m); err != nil {
			return 0, fine, err
		}
		i = s.skip(i)
		switch {
		case i == len(text):
			return i, ended, nil
		case text[i] == '}':
			return s.rest(i + 1)
		case text[i] != ',':
			return i, notMemberEnd, nil
		}
		i = s.skip(i + 1)
	}
}

// rest demands that only white space follows.
func (s *scanner) rest(i int) (at int, c cause, err error) {
	if i = s.skip(i); i < len(s.text) {
		return i, trailing, nil
	}
	return i, fine, nil
}

// memberName walks a name and the colon after it.
func (s *scanner) memberName(i int) (int, cause) {
	switch {
	case i == len(s.text):
		return i, ended
	case s.text[i] != '"':
		return i, notName
	}
	i, c := s.name(i + 1)
	if c != fine {
		return i, c
	}
	switch i = s.skip(i); {
	case i == len(s.text):
		return i, ended
	case s.text[i] != ':':
		return i, notColon
	}
	return i + 1, fine
}

// recent is a small cache of member names as strings: frames have the same few
// names again and again, and a name that is in it costs no allocation. A name
// has four places, from that of its hash on.
type recent [64]string

const (
	recentPlaces = 4
	recentBytes  = 32 // the longest name that is kept
)

// string returns the name with that hash.
func (r *recent) string(name []byte, hash uint32) string {
	if len(name) > recentBytes {
		return string(name)
	}
	free := hash % uint32(len(r))
	for n := range uint32(recentPlaces) {
		place := &r[(hash+n)%uint32(len(r))]
		if *place == string(name) {
			return *place
		}
		if *place == "" {
			free = (hash + n) % uint32(len(r))
			break
		}
	}
	r[free] = string(name)
	return r[free]
}

// name returns as a string the name added last, whose quote is at start.
func (p *space) name(text []byte, start int) string {
	last := p.names.list[len(p.names.list)-1]
	var content []byte
	if last.at >= 0 {
		content = text[last.at : stringEnd(text, start)-1]
	} else {
		content = p.names.decoded[^last.at:]
	}
	return p.recent.string(content, last.hash)
}
