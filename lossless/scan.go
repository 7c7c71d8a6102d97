package lossless

import (
	"encoding/binary"
	"sync"
)

// A scanner walks one JSON text once. It validates, applies the number rule and
// keeps count of how the text differs from its canonical form, from which the
// canonical size follows. A breach of the grammar or of UTF-8 stops it; a
// number or a name that may not cross is noted and the walk goes on, because
// whether the whole is over budget must be known first.
type scanner struct {
	text   []byte
	double bool
	// saved is how many bytes shorter the canonical form of the part walked
	// is; negative where the Double profile spells numbers longer.
	saved int
	// changed tells that some part walked isn't in canonical form.
	changed bool
	// number and names are the first breaches of the number rule and of the
	// rule on names.
	number, names fault
	// space is what the walk needs to remember of open containers, taken when
	// the first object or the 64th level opens.
	space *space
}

// fault is a breach at an offset; its zero value is none.
type fault struct {
	at    int
	cause cause
}

// space is the memory of a walk: 1 bit an open container beyond the 64 kept in
// a register, and the names of open objects.
type space struct {
	kinds []uint64
	names names
	// recent makes the names that Members gives out.
	recent recent
}

var spaces = sync.Pool{New: func() any { return newSpace() }}

func newSpace() *space {
	return &space{names: newNames()}
}

// use returns the scanner's space, taking one from the pool at first.
func (s *scanner) use() *space {
	if s.space == nil {
		s.space = spaces.Get().(*space)
	}
	return s.space
}

// release gives the space back, unless a hostile text made it large.
func (s *scanner) release() {
	if s.space == nil {
		return
	}
	const keptWords = 1 << 14 // a million levels
	if cap(s.space.kinds) <= keptWords && s.space.names.reset() {
		s.space.kinds = s.space.kinds[:0]
		spaces.Put(s.space)
	}
	s.space = nil
}

// note keeps the first number fault.
func (s *scanner) note(at int, c cause) {
	if s.number.cause == fine {
		s.number = fault{at, c}
	}
}

// white marks the four bytes that RFC 8259 calls white space.
const white uint64 = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'

func isWhite(c byte) bool { return c <= ' ' && white>>c&1 == 1 }

// skip returns the offset of the first byte from i on that isn't white space,
// and accounts for what it passed.
func (s *scanner) skip(i int) int {
	text := s.text
	start := i
	for {
		// Indentation comes in runs of spaces: take eight at a time.
		for i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:]) == 0x2020202020202020 {
			i += 8
		}
		if i < len(text) && isWhite(text[i]) {
			i++
			continue
		}
		break
	}
	if i > start {
		s.saved += i - start
		s.changed = true
	}
	return i
}

// value walks one value that starts at i, white space before it included, and
// returns the offset after it. With a cause other than fine, end is where the
// text goes wrong.
//
// It is a state machine rather than a recursion: the kind of the innermost
// container is in object, those of the containers around it in kinds, 64 to a
// word; whole words are pushed on the space.
func (s *scanner) value(i int) (end int, c cause) {
	text := s.text
	depth := 0
	object := false
	kinds := uint64(0)
	start := 0

startValue:
	if i >= len(text) {
		return i, ended
	}
	switch text[i] {
	case '"':
		i++
		start = i
		seen := uint64(0)
		for i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			if m := special(w); m != 0 {
				seen |= w & (m&-m - 1)
				i += firstByte(m)
				break
			}
			seen |= w
			i += 8
		}
		if i < len(text) && text[i] == '"' && seen&highs == 0 {
			i++
		} else if i, c = s.stringRest(start, i, seen&highs == 0); c != fine {
			return i, c
		}

	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		start := i
		i++
		for i < len(text) && text[i]-'0' < 10 {
			i++
		}
		if i-start > safeDigits || text[start] == '0' && i-start > 1 || i < len(text) && (text[i] == '.' || text[i]|0x20 == 'e') {
			if i, c = s.numberRest(start, i); c != fine {
				return i, c
			}
		}

	case '-':
		start := i
		i++
		for i < len(text) && text[i]-'0' < 10 {
			i++
		}
		if i, c = s.numberRest(start, i); c != fine {
			return i, c
		}

	case 't':
		if i+4 > len(text) || binary.LittleEndian.Uint32(text[i:]) != 'e'<<24|'u'<<16|'r'<<8|'t' {
			return s.literal(i, "true")
		}
		i += 4

	case 'f':
		if i+5 > len(text) || binary.LittleEndian.Uint32(text[i+1:]) != 'e'<<24|'s'<<16|'l'<<8|'a' {
			return s.literal(i, "false")
		}
		i += 5

	case 'n':
		if i+4 > len(text) || binary.LittleEndian.Uint32(text[i:]) != 'l'<<24|'l'<<16|'u'<<8|'n' {
			return s.literal(i, "null")
		}
		i += 4

	case '[':
		i++
		if i < len(text) && isWhite(text[i]) {
			i = s.skip(i)
		}
		if i < len(text) && text[i] == ']' {
			i++
			break
		}
		kinds, object = kinds<<1, false
		if depth++; depth&63 == 0 {
			s.use().kinds = append(s.space.kinds, kinds)
		}
		goto startValue

	case '{':
		i++
		if i < len(text) && isWhite(text[i]) {
			i = s.skip(i)
		}
		if i < len(text) && text[i] == '}' {
			i++
			break
		}
		kinds, object = kinds<<1|1, true
		s.use().names.open()
		if depth++; depth&63 == 0 {
			s.space.kinds = append(s.space.kinds, kinds)
		}
		goto startName

	case ' ', '\t', '\n', '\r':
		i = s.skip(i)
		goto startValue

	default:
		return i, notValue
	}

endValue:
	if depth == 0 {
		return i, fine
	}
	if i >= len(text) {
		return i, ended
	}
	switch text[i] {
	case ',':
		i++
		if object {
			goto startName
		}
		goto startValue
	case '}':
		if !object {
			return i, notElementEnd
		}
		s.space.names.close()
	case ']':
		if object {
			return i, notMemberEnd
		}
	case ' ', '\t', '\n', '\r':
		i = s.skip(i)
		goto endValue
	default:
		if object {
			return i, notMemberEnd
		}
		return i, notElementEnd
	}
	i++
	if depth&63 == 0 {
		s.space.kinds = s.space.kinds[:len(s.space.kinds)-1]
	}
	depth--
	kinds >>= 1
	if depth&63 == 0 && depth > 0 {
		kinds = s.space.kinds[len(s.space.kinds)-1]
	}
	object = kinds&1 == 1
	goto endValue

startName:
	if i < len(text) && text[i] != '"' {
		i = s.skip(i)
	}
	if i >= len(text) {
		return i, ended
	}
	if text[i] != '"' {
		return i, notName
	}
	i++
	if end, ok := s.space.names.guess(text, i); ok {
		i = end
	} else if i, c = s.name(i); c != fine {
		return i, c
	}
	if i < len(text) && text[i] != ':' {
		i = s.skip(i)
	}
	if i >= len(text) {
		return i, ended
	}
	if text[i] != ':' {
		return i, notColon
	}
	i++
	// Python writes one space after the colon unless told otherwise.
	if i < len(text) && text[i] == ' ' {
		i++
		s.saved++
		s.changed = true
	}
	goto startValue
}

// literal finds the byte at which the text from i on stops to be the word.
func (s *scanner) literal(i int, word string) (int, cause) {
	for n := 0; n < len(word); n++ {
		if i+n >= len(s.text) {
			return i + n, ended
		}
		if s.text[i+n] != word[n] {
			return i + n, notLiteral
		}
	}
	return i + len(word), fine
}
