package lossless

import (
	"fmt"
	"unicode/utf8"
	"unsafe"
)

// StringSize returns the size of s as a canonical JSON string, quotes included,
// without building it. Once the size passes max it stops: then ok is false and
// size is a number greater than max that the true size reaches or passes.
//
// s is read as WTF-8 or CESU-8: a lone surrogate of three bytes costs 6, a pair
// of them 4, as one character does; any other byte that isn't UTF-8 costs the 3
// of U+FFFD.
func StringSize(s string, max int) (size int, ok bool) {
	text := unsafe.Slice(unsafe.StringData(s), len(s))
	// No byte costs less than those of a surrogate pair, which are six for 4. So
	// what is walked at all is at most half as long again as max.
	size = len(text) - len(text)/3 + 2
	if size > max {
		return size, false
	}
	size, ascii := escapedSize(text, max)
	if !ascii && !validUTF8(text) {
		size = repairedSize(text, max)
	}
	return size, size <= max
}

// escapedSize is StringSize for UTF-8: each byte costs 1, and an escape more. It
// stops past max. ascii tells that it walked all and all is ASCII.
func escapedSize(text []byte, max int) (size int, ascii bool) {
	size, ascii = len(text)+2, true
	for i := 0; ; i++ {
		end, more := plain(text, i)
		i, ascii = end, ascii && more
		if i == len(text) || size > max {
			return size, ascii && i == len(text)
		}
		if escapeLetters[text[i]] != 0 {
			size++
		} else {
			size += 5
		}
	}
}

// repairedSize is StringSize for text that isn't UTF-8. It stops past max.
func repairedSize(text []byte, max int) (size int) {
	size = 2
	for i := 0; i < len(text) && size <= max; {
		start := i
		i = asciiRun(text, i)
		size += i - start
		if i < len(text) {
			cost, width := unitCost(text, i)
			size += cost
			i += width
		}
	}
	return size
}

// unitCost returns what the character at i costs and how many bytes it has.
func unitCost(text []byte, i int) (cost, width int) {
	c := text[i]
	switch {
	case escapeLetters[c] != 0:
		return 2, 1
	case c < ' ':
		return 6, 1
	case c < 0x80:
		return 1, 1
	}
	if n := runeLen(text, i); n > 0 {
		return n, n
	}
	if unit := surrogateAt(text, i); unit != 0 {
		if unit < 0xDC00 && surrogateAt(text, i+3) >= 0xDC00 {
			return 4, 6
		}
		return 6, 3
	}
	return utf8.RuneLen(utf8.RuneError), 1
}

// surrogateAt returns the surrogate that the three bytes at i spell, 0 if they
// spell none.
func surrogateAt(text []byte, i int) rune {
	if i+3 > len(text) || text[i] != 0xED || text[i+1] < 0xA0 || text[i+1] > 0xBF || text[i+2]&0xC0 != 0x80 {
		return 0
	}
	return 0xD000 | rune(text[i+1]&0x3F)<<6 | rune(text[i+2]&0x3F)
}

func overBudget(size, limit int64) *Error {
	return &Error{Err: ErrOverBudget, detail: fmt.Sprintf("the value has %d bytes of JSON, and the limit is %d", size, limit)}
}
