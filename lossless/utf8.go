package lossless

import "encoding/binary"

// UTF-8 is validated by a machine of nine states without a branch: mixed text
// would mispredict one at nearly every change of script. A byte's entry in
// utf8Steps holds the next state for each state, at a shift of the state's
// number; states are numbered in steps of 6, so a shift by the state finds the
// next one in the low 6 bits.
const (
	whole   = 6 * iota // between characters
	need1              // one continuation byte is due
	need2              // two are
	need3              // three are
	afterE0            // two, of which the first is A0 or more: nothing overlong
	afterED            // two, of which the first is below A0: no surrogates
	afterF0            // three, of which the first is 90 or more: nothing overlong
	afterF4            // three, of which the first is below 90: at most U+10FFFF
	broken
)

// The entries, by kind of byte.
const (
	no = broken<<whole | stuck // begins nothing and continues nothing
	as = whole<<whole | stuck  // ASCII
	s2 = need1<<whole | stuck  // begins a character of two bytes
	s3 = need2<<whole | stuck
	s4 = need3<<whole | stuck
	e0 = afterE0<<whole | stuck
	ed = afterED<<whole | stuck
	f0 = afterF0<<whole | stuck
	f4 = afterF4<<whole | stuck

	// stuck breaks every character that isn't whole.
	stuck = broken<<need1 | broken<<need2 | broken<<need3 | broken<<afterE0 |
		broken<<afterED | broken<<afterF0 | broken<<afterF4 | broken<<broken

	// continuation bytes: 80 to 8F, 90 to 9F, A0 to BF.
	goesOn = broken<<whole | whole<<need1 | need1<<need2 | need2<<need3 | broken<<broken
	c8     = goesOn | broken<<afterE0 | need1<<afterED | broken<<afterF0 | need2<<afterF4
	c9     = goesOn | broken<<afterE0 | need1<<afterED | need2<<afterF0 | broken<<afterF4
	ca     = goesOn | need1<<afterE0 | broken<<afterED | need2<<afterF0 | broken<<afterF4
)

var utf8Steps = [256]uint64{
	as, as, as, as, as, as, as, as, as, as, as, as, as, as, as, as,
	as, as, as, as, as, as, as, as, as, as, as, as, as, as, as, as,
	as, as, as, as, as, as, as, as, as, as, as, as, as, as, as, as,
	as, as, as, as, as, as, as, as, as, as, as, as, as, as, as, as,
	as, as, as, as, as, as, as, as, as, as, as, as, as, as, as, as,
	as, as, as, as, as, as, as, as, as, as, as, as, as, as, as, as,
	as, as, as, as, as, as, as, as, as, as, as, as, as, as, as, as,
	as, as, as, as, as, as, as, as, as, as, as, as, as, as, as, as,
	c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8,
	c9, c9, c9, c9, c9, c9, c9, c9, c9, c9, c9, c9, c9, c9, c9, c9,
	ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca,
	ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca, ca,
	no, no, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2,
	s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2, s2,
	e0, s3, s3, s3, s3, s3, s3, s3, s3, s3, s3, s3, s3, ed, s3, s3,
	f0, s4, s4, s4, f4, no, no, no, no, no, no, no, no, no, no, no,
}

// validUTF8 tells whether text is UTF-8 as RFC 3629 defines it.
func validUTF8(text []byte) bool {
	state := uint64(whole)
	for len(text) >= 8 {
		if w := binary.LittleEndian.Uint64(text); w&highs == 0 && state&63 == whole {
			text = text[8:]
			continue
		}
		state = utf8Steps[text[0]] >> (state & 63)
		state = utf8Steps[text[1]] >> (state & 63)
		state = utf8Steps[text[2]] >> (state & 63)
		state = utf8Steps[text[3]] >> (state & 63)
		state = utf8Steps[text[4]] >> (state & 63)
		state = utf8Steps[text[5]] >> (state & 63)
		state = utf8Steps[text[6]] >> (state & 63)
		state = utf8Steps[text[7]] >> (state & 63)
		text = text[8:]
	}
	for _, c := range text {
		state = utf8Steps[c] >> (state & 63)
	}
	return state&63 == whole
}
