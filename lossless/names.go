package lossless

import (
	"bytes"
	"hash/maphash"
)

// names holds the member names of the objects that are open, outermost first,
// and finds a name that an object has already. Names are compared by what their
// escapes stand for.
//
// An object of few names is searched in line, after a filter of 64 bits that
// mostly makes the search needless. A larger one gets a hash table. Hashes are
// seeded, so nobody can choose names that collide.
type names struct {
	seed maphash.Seed
	list []name
	// decoded holds the names that had escapes, without them.
	decoded []byte
	top     object
	outer   []object
	// tables are hash tables that no object uses at present.
	tables [][]uint32
}

// name is one member name. 16 bytes, since an object may have millions.
type name struct {
	// at is the offset of its first byte in the text; of ^at in decoded where
	// it is negative.
	at   int
	size uint32 // modulo 2^32
	hash uint32
}

// object is what names keeps of one open object.
type object struct {
	// first and decoded are where its names start in list and decoded.
	first, decoded int
	// filter has a bit set for each hash seen, modulo 64.
	filter uint64
	// table holds, by hash, the index in list of a name, plus 1 and minus
	// first; nil while there are few.
	table []uint32
}

const (
	// fewNames is how many an object may have before it gets a table.
	fewNames = 16
	// firstTable is the length of the first table; tables are powers of two
	// that are never more than half full.
	firstTable = 64
)

func newNames() names { return names{seed: maphash.MakeSeed()} }

// open starts an object.
func (n *names) open() {
	n.outer = append(n.outer, n.top)
	n.top = object{first: len(n.list), decoded: len(n.decoded)}
}

// close ends the innermost object.
func (n *names) close() {
	if n.top.table != nil {
		n.tables = append(n.tables, n.top.table[:cap(n.top.table)])
	}
	n.list, n.decoded = n.list[:n.top.first], n.decoded[:n.top.decoded]
	last := len(n.outer) - 1
	n.top = n.outer[last]
	n.outer[last].table = nil
	n.outer = n.outer[:last]
}

// reset forgets everything, also after a walk that stopped half way, and tells
// whether what is left is small enough to keep.
func (n *names) reset() bool {
	for len(n.outer) > 0 {
		n.close()
	}
	for i, table := range n.tables {
		if len(table) > 16*firstTable || i >= 16 {
			clear(n.tables[i:])
			n.tables = n.tables[:i]
			break
		}
	}
	const keptBytes = 1 << 16
	return cap(n.list)*16 <= keptBytes && cap(n.outer)*48 <= keptBytes && cap(n.decoded) <= keptBytes
}

// add puts text[start:end], a name without escapes, among those of the
// innermost object, and tells whether it is new.
func (n *names) add(text []byte, start, end int) bool {
	return n.insert(text, text[start:end], start)
}

// addDecoded is add for a name with escapes; inner is its text.
func (n *names) addDecoded(text, inner []byte) bool {
	at := len(n.decoded)
	n.decoded, _ = appendDecoded(n.decoded, inner)
	return n.insert(text, n.decoded[at:], ^at)
}

func (n *names) insert(text, content []byte, at int) bool {
	full := maphash.Bytes(n.seed, content)
	entry := name{at: at, size: uint32(len(content)), hash: uint32(full)}
	top := &n.top
	if top.table == nil {
		bit := uint64(1) << (full >> 58)
		if top.filter&bit != 0 {
			for _, other := range n.list[top.first:] {
				if n.same(text, content, entry, other) {
					return false
				}
			}
		}
		top.filter |= bit
		n.list = append(n.list, entry)
		if len(n.list)-top.first > fewNames {
			n.grow()
		}
		return true
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
	count := len(n.list) - top.first
	top.table[slot] = uint32(count)
	if 2*count > len(top.table) {
		n.grow()
	}
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
	return at+len(content) <= len(from) && bytes.Equal(content, from[at:at+len(content)])
}

// grow gives the innermost object its first table, or one twice as long.
func (n *names) grow() {
	top := &n.top
	size := firstTable
	if top.table != nil {
		size = 2 * len(top.table)
	}
	var table []uint32
	if last := len(n.tables) - 1; last >= 0 && len(n.tables[last]) >= size {
		table = n.tables[last][:size]
		n.tables[last] = nil
		n.tables = n.tables[:last]
		clear(table)
	} else {
		table = make([]uint32, size)
	}
	mask := uint32(size - 1)
	for i, entry := range n.list[top.first:] {
		slot := entry.hash & mask
		for table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		table[slot] = uint32(i + 1)
	}
	top.table = table
}

// nameRest is stringRest for a member name that starts at start. It adds the
// name to its object.
func (s *scanner) nameRest(start, i int) (int, cause) {
	end, c := s.stringRest(i)
	if c != fine {
		return end, c
	}
	n := &s.space.names
	inner := s.text[start : end-1]
	fresh := false
	if bytes.IndexByte(inner, '\\') < 0 {
		fresh = n.add(s.text, start, end-1)
	} else {
		fresh = n.addDecoded(s.text, inner)
	}
	if !fresh && s.name.cause == fine {
		s.name = fault{start - 1, duplicate}
	}
	return end, fine
}
