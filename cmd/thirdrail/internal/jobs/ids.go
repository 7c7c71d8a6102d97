package jobs

import (
	"crypto/sha256"
	"errors"
	"strconv"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// MaxIDs is how many ids are remembered. Each takes at most some 40 bytes: of an id
// only a hash of 16 bytes is kept.
const MaxIDs = 10_000_000

var errTooMany = errors.New("too many results")

// IDs remembers ids that were read, and those that have a result already. The zero
// value remembers none yet.
type IDs struct {
	known map[hash]bool // true: it was read in this batch
	most  int           // MaxIDs, but for tests
	full  bool
}

type hash [16]byte

// seen is what is known of an id that is read.
type seen int

const (
	first seen = iota
	done       // it has a result, and is read for the first time
	again      // it was read before
)

// key returns what an id is compared by: its canonical text, so that 1, 1.0 and "1"
// are three ids. A line that has no id of its own is known by its number.
func key(id lossless.Value, number int64) hash {
	text := id.Bytes()
	if !id.Exists() || id.Kind() == lossless.KindNull {
		text = strconv.AppendInt([]byte("line "), number, 10)
	}
	sum := sha256.Sum256(text)
	return hash(sum[:16])
}

// done remembers an id that has a result.
func (s *IDs) done(k hash) error {
	if s.add(k, false); s.full {
		return errTooMany
	}
	return nil
}

// read remembers that an id was read, and tells what was known of it.
func (s *IDs) read(k hash) seen {
	before, known := s.known[k]
	switch {
	case !known:
		s.add(k, true)
		return first
	case before:
		return again
	}
	s.known[k] = true
	return done
}

// add remembers an id, if there is room.
func (s *IDs) add(k hash, read bool) {
	if s.known == nil {
		s.known = map[hash]bool{}
	}
	most := s.most
	if most == 0 {
		most = MaxIDs
	}
	if len(s.known) >= most {
		s.full = true
		return
	}
	s.known[k] = read
}

// Full tells that an id was not remembered, since MaxIDs are. Those that come twice
// from then on are not found.
func (s *IDs) Full() bool { return s.full }
