package lossless

import (
	"bytes"
	"hash/maphash"
	"math"
)

// names holds the member names of the objects that are open, outermost first,
// and finds a name that an object has already. Names are compared by what their
// escapes stand for.
//
// An object of few names is searched in line, after a filter of 64 bits that
// mostly makes the search needless. A larger one gets a hash table. Hashes are
// seeded, so nobody can choose names that collide. The names guessed from an
// object before (see guess.go) need neither.
type names struct {
	seed maphash.Seed
	list []name
	// decoded holds the names that had escapes, without them.
	decoded []byte
	// top is the innermost open object; outer are those around it, and their
	// tables, where they have one, are in outerTables.
	top         object
	outer       []outerObject
	outerTables [][]uint32
	// freeTables are hash tables that no object uses at present.
	freeTables [][]uint32
	guesses    guesses
}

// name is one member name. 16 bytes, since a text may have millions.
type name struct {
	// at is the offset of its first byte in the text; of ^at in decoded where
	// it is negative.
	at   int
	size uint32 // hugeName for all sizes from that on
	hash uint32
}

// object is what names keeps of the innermost object.
type object struct {
	// first is where its names start in list.
	first int
	// filter has the bit of each of its names, by their hashes.
	filter uint64
	// table holds, by hash, the index in list of each name, counted from first
	// and from 1. It is nil while the names are few.
	table []uint32
}

// outerObject is an object without its table; first is ^first if it has one.
// 16 bytes, since a text may open millions.
type outerObject struct {
	first  int
	filter uint64
}

const (
	// fewNames is how many an object may have before it gets a table.
	fewNames = 16
	// firstTable is the least length of a table. Lengths are powers of two, and
	// a table is never more than half full.
	firstTable = 64
	// hugeName is the size of the names whose sizes aren't told apart.
	hugeName = math.MaxUint32
)

func newNames() names { return names{seed: maphash.MakeSeed()} }

func (o name) bit() uint64 { return 1 << (o.hash >> 26) }

// open starts an object.
func (n *names) open() {
	outer := outerObject{n.top.first, n.top.filter}
	if n.top.table != nil {
		outer.first = ^outer.first
		n.outerTables = append(n.outerTables, n.top.table)
		n.top.table = nil
	}
	n.outer = append(n.outer, outer)
	n.top.first, n.top.filter = len(n.list), 0
	n.guesses.open(len(n.outer))
}

// close ends the innermost object.
func (n *names) close() {
	own := n.list[n.top.first:]
	n.guesses.close(len(n.outer), own)
	if len(n.decoded) > 0 {
		for _, o := range own {
			if o.at < 0 {
				n.decoded = n.decoded[:^o.at]
				break
			}
		}
	}
	n.list = n.list[:n.top.first]
	if n.top.table != nil {
		n.freeTables = append(n.freeTables, n.top.table[:cap(n.top.table)])
		n.top.table = nil
	}
	last := len(n.outer) - 1
	n.top.first, n.top.filter = n.outer[last].first, n.outer[last].filter
	n.outer = n.outer[:last]
	if n.top.first < 0 {
		n.top.first = ^n.top.first
		last := len(n.outerTables) - 1
		n.top.table = n.outerTables[last]
		n.outerTables[last] = nil
		n.outerTables = n.outerTables[:last]
	}
}

// reset forgets everything, also after a walk that stopped half way, and tells
// whether what is left is small enough to keep.
func (n *names) reset() bool {
	const keptBytes = 1 << 16
	if cap(n.list)*16 > keptBytes || cap(n.outer)*16 > keptBytes || cap(n.decoded) > keptBytes {
		return false
	}
	for len(n.outer) > 0 {
		n.close()
	}
	size := 0
	for i, table := range n.freeTables {
		if size += 4 * len(table); size > keptBytes {
			clear(n.freeTables[i:])
			n.freeTables = n.freeTables[:i]
			break
		}
	}
	n.guesses.reset()
	return true
}

// insert puts a name among those of the innermost object, unless it is there,
// and tells whether it was new. content is the name without escapes, and at its
// place as name.at has it.
func (n *names) insert(text, content []byte, at int) bool {
	entry := name{at, uint32(min(uint64(len(content)), hugeName)), uint32(maphash.Bytes(n.seed, content))}
	n.settle()
	top := &n.top
	count := len(n.list) - top.first
	if count >= fewNames {
		return n.insertTable(text, content, entry)
	}
	if top.filter&entry.bit() != 0 {
		for _, other := range n.list[top.first:] {
			if n.same(text, content, entry, other) {
				return false
			}
		}
	}
	top.filter |= entry.bit()
	n.list = append(n.list, entry)
	return true
}

// insertTable is insert for an object that isn't small.
func (n *names) insertTable(text, content []byte, entry name) bool {
	top := &n.top
	count := len(n.list) - top.first
	if 2*(count+1) > len(top.table) {
		n.grow(count)
	}
	mask := uint32(len(top.table) - 1)
	slot := entry.hash & mask
	for top.table[slot] != 0 {
		if n.same(text, content, entry, n.list[top.first+int(top.table[slot])-1]) {
			return false
		}
		slot = (slot + 1) & mask
	}
	n.list = append(n.list, entry)
	top.table[slot] = uint32(count + 1)
	return true
}

// same tells whether other is the name whose content and entry are given.
func (n *names) same(text, content []byte, entry, other name) bool {
	if entry.hash != other.hash || entry.size != other.size {
		return false
	}
	from, at := text, other.at
	if at < 0 {
		from, at = n.decoded, ^at
	}
	end := at + len(content)
	return end <= len(from) && bytes.Equal(content, from[at:end]) && (entry.size < hugeName || end == len(from) || from[end] == '"')
}

// grow gives the innermost object, which has count names, a table at most a
// quarter full.
func (n *names) grow(count int) {
	size := firstTable
	for size < 4*count {
		size *= 2
	}
	if n.top.table != nil {
		n.freeTables = append(n.freeTables, n.top.table[:cap(n.top.table)])
	}
	n.top.table = n.table(size)
	mask := uint32(size - 1)
	for i, entry := range n.list[n.top.first:] {
		slot := entry.hash & mask
		for n.top.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		n.top.table[slot] = uint32(i + 1)
	}
}

// table returns an empty table.
func (n *names) table(size int) []uint32 {
	for last := len(n.freeTables) - 1; last >= 0; last-- {
		free := n.freeTables[last]
		n.freeTables[last] = nil
		n.freeTables = n.freeTables[:last]
		if len(free) >= size {
			clear(free[:size])
			return free[:size]
		}
	}
	return make([]uint32, size)
}

// name walks a member name from its first byte on, adds it to its object and
// returns the offset after its closing quote.
func (s *scanner) name(start int) (end int, c cause) {
	n := &s.space.names
	i, ascii := plain(s.text, start)
	if i < len(s.text) && s.text[i] == '"' && ascii {
		end = i + 1
	} else if end, c = s.stringRest(start, i, ascii); c != fine {
		return end, c
	}
	inner := s.text[start : end-1]
	fresh := false
	if i == end-1 || bytes.IndexByte(inner, '\\') < 0 {
		fresh = n.insert(s.text, inner, start)
	} else {
		at := len(n.decoded)
		n.decoded, _ = appendDecoded(n.decoded, inner)
		fresh = n.insert(s.text, n.decoded[at:], ^at)
	}
	if !fresh && s.names.cause == fine {
		s.names = fault{start - 1, duplicate}
	}
	return end, fine
}
