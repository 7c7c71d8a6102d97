package lossless

const hexDigits = "0123456789abcdef"

// appendCanonical appends the canonical form of a text that was checked. It
// knows no structure: outside of strings only white space and numbers differ.
func appendCanonical(dst, text []byte, n Numbers) []byte {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := stringEnd(text, i)
			dst = appendCanonicalString(dst, text[i:end])
			i = end
		case isWhite(c):
			i++
		case n == Double && (c == '-' || c-'0' < 10):
			end := numberEnd(text, i)
			dst = appendCanonicalNumber(dst, text[i:end])
			i = end
		default:
			start := i
			for i++; i < len(text) && text[i] != '"' && text[i] > ' '; i++ {
				if n == Double && (text[i] == '-' || text[i]-'0' < 10) {
					break
				}
			}
			dst = append(dst, text[start:i]...)
		}
	}
	return dst
}

// appendCanonicalNumber respells a valid number under the Double profile.
func appendCanonicalNumber(dst, token []byte) []byte {
	if parseDecimal(token).integer {
		return append(dst, token...)
	}
	return appendDouble(dst, parseFloat(token, 64))
}

// appendCanonicalString respells a valid string, quotes included.
func appendCanonicalString(dst, token []byte) []byte {
	start := 0
	for i := 0; i < len(token); {
		if token[i] != '\\' {
			i++
			continue
		}
		e, _ := readEscape(token, i)
		if !e.canonical {
			dst = append(dst, token[start:i]...)
			dst = appendUnit(dst, e.unit)
			start = e.end
		}
		i = e.end
	}
	return append(dst, token[start:]...)
}

// appendUnit appends one code point or lone surrogate as it stands in a
// canonical string.
func appendUnit(dst []byte, unit rune) []byte {
	switch {
	case unit < 0x80 && escapeLetters[unit] != 0:
		return append(dst, '\\', escapeLetters[unit])
	case unit < ' ' || isSurrogate(unit):
		return append(dst, '\\', 'u', hexDigits[unit>>12], hexDigits[unit>>8&15], hexDigits[unit>>4&15], hexDigits[unit&15])
	}
	return appendWTF8(dst, unit)
}

// stringEnd returns the offset after the valid string that starts at i.
func stringEnd(text []byte, i int) int {
	for i++; ; {
		i = quoteOrBackslash(text, i)
		if text[i] == '"' {
			return i + 1
		}
		i += 2
	}
}

// numberEnd returns the offset after the valid number that starts at i.
func numberEnd(text []byte, i int) int {
	for i < len(text) {
		switch c := text[i]; {
		case c-'0' < 10, c == '-', c == '+', c == '.', c|0x20 == 'e':
			i++
		default:
			return i
		}
	}
	return i
}
