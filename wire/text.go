package wire

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote returns what a valid JSON string stands for, with U+FFFD for each lone
// surrogate. The result is allocated once, in its final size.
func unquote(text []byte) string {
	body := text[1 : len(text)-1]
	if bytes.IndexByte(body, '\\') < 0 {
		return string(body)
	}
	var size int
	for piece, r := range pieces(body) {
		size += len(piece)
		if r >= 0 {
			size += utf8.RuneLen(r)
		}
	}
	var b strings.Builder
	b.Grow(size)
	for piece, r := range pieces(body) {
		b.Write(piece)
		if r >= 0 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// pieces yields the text before each escape and the character that the escape
// stands for, and at the end the rest with a negative character.
func pieces(body []byte) func(yield func([]byte, rune) bool) {
	return func(yield func([]byte, rune) bool) {
		for {
			i := bytes.IndexByte(body, '\\')
			if i < 0 {
				yield(body, -1)
				return
			}
			r, width := unescape(body[i:])
			if !yield(body[:i], r) {
				return
			}
			body = body[i+width:]
		}
	}
}

// unescape reads the valid escape at the beginning of b, or both of a surrogate
// pair, and returns its character and its length.
func unescape(b []byte) (r rune, width int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 't':
		return '\t', 2
	case 'n':
		return '\n', 2
	case 'f':
		return '\f', 2
	case 'r':
		return '\r', 2
	case 'u':
	default: // a quote, backslash or slash
		return rune(b[1]), 2
	}
	r = hex4(b[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(b[8:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (r rune) {
	for _, c := range b[:4] {
		switch {
		case c <= '9':
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune(c|0x20-'a'+10)
		}
	}
	return r
}

// appendQuoted appends s as a JSON string in canonical form: with the fewest
// escapes. Bytes that are not UTF-8 become U+FFFD, one each.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	plain := 0 // s[plain:i] needs no escape
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, width := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && width == 1 {
				dst = append(append(dst, s[plain:i]...), "\uFFFD"...)
				plain = i + 1
			}
			i += width
			continue
		}
		dst = append(dst, s[plain:i]...)
		dst = appendEscape(dst, c)
		i++
		plain = i
	}
	return append(append(dst, s[plain:]...), '"')
}

// appendEscape appends the shortest escape of an ASCII character that needs one.
func appendEscape(dst []byte, c byte) []byte {
	const short, hex = "btn\x00fr", "0123456789abcdef"
	switch {
	case c == '"', c == '\\':
		return append(dst, '\\', c)
	case c >= '\b' && c <= '\r' && c != '\v':
		return append(dst, '\\', short[c-'\b'])
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
