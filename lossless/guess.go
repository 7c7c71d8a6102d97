package lossless

import "encoding/binary"

// Texts are full of objects with the same names in the same order. So for the
// outer levels of nesting names keeps those of the object that closed last, and
// guesses that the next object has them too. A name that is as guessed, after
// others that all were, is known to be well formed and to differ from those: it
// needs no scan, no hash and no search.

// guessedLevels is for how many levels of objects names are guessed, and
// guessedNames how many names an object may have for that.
const (
	guessedLevels = 16
	guessedNames  = 256
)

type guesses struct {
	// last holds the names of the object that closed last, by level.
	last [guessedLevels][]name
	// right counts the names of the open object of a level, as long as each
	// was the one guessed. Those names aren't in names.list: they are the first
	// of last. It is -1 once a name was another, and all are in the list.
	right [guessedLevels]int
}

// open starts an object at a level; the outermost has level 1.
func (g *guesses) open(level int) {
	if level < guessedLevels {
		g.right[level] = 0
	}
}

// close keeps the names of the object that closes.
func (g *guesses) close(level int, own []name) {
	if level < guessedLevels && g.right[level] < 0 && len(own) <= guessedNames {
		g.last[level] = append(g.last[level][:0], own...)
	}
}

func (g *guesses) reset() {
	for i := range g.last {
		g.last[i] = g.last[i][:0]
	}
}

// guess tells whether the name whose first byte is at start is the one guessed.
// Then the object has it, and end is the offset after its closing quote. Else
// there are no more guesses for this object.
func (n *names) guess(text []byte, start int) (end int, ok bool) {
	g := &n.guesses
	level := uint(len(n.outer))
	if level >= guessedLevels {
		return 0, false
	}
	right := uint(g.right[level])
	last := g.last[level]
	if right >= uint(len(last)) {
		return 0, false
	}
	// A name that had escapes has no place in the text to compare with.
	entry := &last[right]
	size := int(entry.size) + 1
	if entry.at < 0 || entry.size == hugeName || !sameBytes(text, start, entry.at, size) {
		return 0, false
	}
	g.right[level]++
	return start + size, true
}

// settle ends the guesses for the innermost object.
func (n *names) settle() {
	g := &n.guesses
	level := len(n.outer)
	if level >= guessedLevels || g.right[level] < 0 {
		return
	}
	guessed := g.last[level][:g.right[level]]
	g.right[level] = -1
	n.list = append(n.list, guessed...)
	for _, entry := range guessed {
		n.top.filter |= entry.bit()
	}
}

// sameBytes tells whether the size bytes at a and b are the same; those at b are
// in the text. With a name's closing quote they are the same name.
func sameBytes(text []byte, a, b, size int) bool {
	if size <= 8 && a+8 <= len(text) && b+8 <= len(text) {
		differ := binary.LittleEndian.Uint64(text[a:]) ^ binary.LittleEndian.Uint64(text[b:])
		return differ<<(uint(64-8*size)&63) == 0
	}
	return a+size <= len(text) && string(text[a:a+size]) == string(text[b:b+size])
}
