package lossless

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes among eight that end a plain run inside a string:
// quote, backslash and control characters. Only the lowest mark is certain,
// since a borrow can run on from there; firstByte reads that one.
func special(w uint64) uint64 {
	return (((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones) | (w - ' '*ones)) &^ w & highs
}

// firstByte returns which of the eight bytes the lowest mark is for.
func firstByte(marks uint64) int { return bits.TrailingZeros64(marks) >> 3 }

// plain returns the offset from i on of the first byte that is special inside a
// string, or len(text), and whether all before it is ASCII.
func plain(text []byte, i int) (end int, ascii bool) {
	seen := uint64(0)
	for i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i:])
		if m := special(w); m != 0 {
			return i + firstByte(m), (seen|w&(m&-m-1))&highs == 0
		}
		seen |= w
		i += 8
	}
	for i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\' {
		seen |= uint64(text[i])
		i++
	}
	return i, seen&highs == 0
}

// stringRest walks a string whose first byte is at start from i on, a place
// inside it, and returns the offset after its closing quote. ascii tells whether
// all before i is. UTF-8 is validated last, over the whole string and only if it
// has more than ASCII.
func (s *scanner) stringRest(start, i int, ascii bool) (int, cause) {
	i, ascii, c := s.escaped(i, ascii)
	if !ascii && !validUTF8(s.text[start:i]) {
		return start + badRune(s.text[start:i]), badUTF8
	}
	if c == fine {
		i++
	}
	return i, c
}

// escaped walks from i on to the closing quote, minding escapes.
func (s *scanner) escaped(i int, ascii bool) (int, bool, cause) {
	text := s.text
	for {
		end, more := plain(text, i)
		i, ascii = end, ascii && more
		if i >= len(text) {
			return i, ascii, ended
		}
		if text[i] == '"' {
			return i, ascii, fine
		}
		if text[i] != '\\' {
			return i, ascii, rawControl
		}
		e, c := readEscape(text, i)
		if c != fine {
			return e.end, ascii, c
		}
		if !e.canonical {
			s.changed = true
			s.saved += e.end - i - e.size
		}
		i = e.end
	}
}

// badRune returns the offset of the first byte that isn't UTF-8.
func badRune(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// runeLen returns the length of the UTF-8 sequence of two or more bytes at i,
// or 0 if there is no valid one (RFC 3629: no surrogates, nothing overlong,
// nothing beyond U+10FFFF).
func runeLen(text []byte, i int) int {
	if i+4 <= len(text) {
		// One load, and a mask for each length.
		w := binary.LittleEndian.Uint32(text[i:])
		switch {
		case w&0xC0C0F0 == 0x8080E0:
			second := w >> 8 & 0xFF
			if w&0x0F == 0 && second < 0xA0 || w&0x0F == 0xD && second > 0x9F {
				return 0
			}
			return 3
		case w&0xC0E0 == 0x80C0:
			if w&0x1E == 0 {
				return 0
			}
			return 2
		case w&0xC0C0C0F8 == 0x808080F0:
			second := w >> 8 & 0xFF
			if w&0x07 == 0 && second < 0x90 || w&0x07 == 4 && second > 0x8F || w&0x07 > 4 {
				return 0
			}
			return 4
		}
		return 0
	}
	// The last bytes of the text: a shorter one may still fit.
	var tail [4]byte
	copy(tail[:], text[i:])
	return runeLen(tail[:], 0)
}

// escape is one backslash sequence of a string, a surrogate pair counting as one.
type escape struct {
	// unit is what it stands for: a code point, or a lone surrogate.
	unit rune
	// end is the offset after it, or of the byte at fault.
	end int
	// size is how many bytes the canonical form spends on it.
	size int
	// canonical tells that it is spelled as the canonical form spells it.
	canonical bool
}

// shortEscapes maps the letter after a backslash to what it stands for; 0 where
// there is no such escape.
var shortEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escapeLetters maps a byte to the letter of its short escape in canonical
// form; 0 where it has none.
var escapeLetters = [256]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
}

// readEscape reads the escape whose backslash is at i.
func readEscape(text []byte, i int) (escape, cause) {
	if i+1 >= len(text) {
		return escape{end: len(text)}, ended
	}
	letter := text[i+1]
	if unit := shortEscapes[letter]; unit != 0 {
		if letter == '/' {
			return escape{unit: '/', end: i + 2, size: 1}, fine
		}
		return escape{unit: rune(unit), end: i + 2, size: 2, canonical: true}, fine
	}
	if letter != 'u' {
		return escape{end: i + 1}, badEscape
	}
	unit, lower, bad := readHex(text, i+2)
	if bad >= 0 {
		if bad == len(text) {
			return escape{end: bad}, ended
		}
		return escape{end: bad}, badEscape
	}
	e := escape{unit: unit, end: i + 6}
	switch {
	case unit < 0x80:
		switch {
		case escapeLetters[unit] != 0:
			e.size = 2
		case unit < ' ':
			e.size, e.canonical = 6, lower
		default:
			e.size = 1
		}
	case unit < 0x800:
		e.size = 2
	case !isSurrogate(unit):
		e.size = 3
	default:
		e.size, e.canonical = 6, lower
		// A high one and a low one make one character. If what follows is no
		// valid escape, the walk meets it next.
		if unit < 0xDC00 && i+8 <= len(text) && text[i+6] == '\\' && text[i+7] == 'u' {
			if low, _, bad := readHex(text, i+8); bad < 0 && low >= 0xDC00 && low <= 0xDFFF {
				return escape{unit: joinSurrogates(unit, low), end: i + 12, size: 4}, fine
			}
		}
	}
	return e, fine
}

func isSurrogate(unit rune) bool { return unit >= 0xD800 && unit <= 0xDFFF }

func joinSurrogates(high, low rune) rune { return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000 }

// readHex reads four hexadecimal digits at i: their value, whether all letters
// are lower case, and the offset of the first byte that isn't one, or -1.
func readHex(text []byte, i int) (unit rune, lower bool, bad int) {
	lower = true
	for n := i; n < i+4; n++ {
		if n >= len(text) {
			return 0, false, len(text)
		}
		c := text[n]
		switch {
		case c-'0' < 10:
			unit = unit<<4 | rune(c-'0')
		case c-'a' < 6:
			unit = unit<<4 | rune(c-'a'+10)
		case c-'A' < 6:
			unit = unit<<4 | rune(c-'A'+10)
			lower = false
		default:
			return 0, false, n
		}
	}
	return unit, lower, -1
}

// appendWTF8 appends a code point, a lone surrogate as the three bytes that
// UTF-8's scheme gives it (WTF-8).
func appendWTF8(dst []byte, unit rune) []byte {
	switch {
	case unit < 0x80:
		return append(dst, byte(unit))
	case unit < 0x800:
		return append(dst, 0xC0|byte(unit>>6), 0x80|byte(unit)&0x3F)
	case unit < 0x10000:
		return append(dst, 0xE0|byte(unit>>12), 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F)
	}
	return append(dst, 0xF0|byte(unit>>18), 0x80|byte(unit>>12)&0x3F, 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F)
}

// appendDecoded appends what a valid string's text between the quotes stands
// for, and tells whether it holds a lone surrogate, which is WTF-8 then.
func appendDecoded(dst, inner []byte) (decoded []byte, lone bool) {
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 {
			return append(dst, inner...), lone
		}
		dst = append(dst, inner[:i]...)
		e, _ := readEscape(inner, i)
		lone = lone || isSurrogate(e.unit)
		dst = appendWTF8(dst, e.unit)
		inner = inner[e.end:]
	}
}

// quoteOrBackslash returns the offset from i on of the first quote or backslash
// in a text that has one.
func quoteOrBackslash(text []byte, i int) int {
	for i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, slash := w^'"'*ones, w^'\\'*ones
		if m := ((quote-ones)&^quote | (slash-ones)&^slash) & highs; m != 0 {
			return i + firstByte(m)
		}
		i += 8
	}
	for text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}

// asciiRun returns the offset from i on of the first byte that is special inside
// a string or isn't ASCII, or len(text).
func asciiRun(text []byte, i int) int {
	for i+8 <= len(text) {
		w := binary.LittleEndian.Uint64(text[i:])
		if m := special(w) | w&highs; m != 0 {
			return i + firstByte(m)
		}
		i += 8
	}
	for i < len(text) && text[i] >= ' ' && text[i] < 0x80 && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}
