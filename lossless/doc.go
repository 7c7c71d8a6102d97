// Package lossless holds JSON text that crosses a boundary exactly, or is
// refused with the place and the reason. It rounds nothing, drops nothing and
// repairs nothing in silence.
//
// # The model
//
// A JSON text (RFC 8259) is walked once. The walk validates its grammar and its
// UTF-8 (RFC 3629), finds member names that an object has twice, applies a
// number profile and counts the bytes of the canonical form, all at the same
// time and without a copy. Nothing recurses, so a text may be nested as deep as
// it is long.
//
//   - [Check] is the walk: a size, or an [Error] with byte offset, JSON Pointer
//     (RFC 6901) and one of the sentinels of this package.
//   - [Parse] also returns the canonical form as a [Value], which aliases the
//     text where it was canonical.
//   - [AppendCanonical] appends it to a buffer instead.
//   - [Members] walks one object and hands out its members as text: for those
//     who take a message apart and pass its values on.
//   - [StringSize] is the size of a Go string as JSON, without building it.
//   - [Of] and [Value.Decode] turn Go values into Values and back.
//
// # Canonical form
//
// It is compact. Members keep their order. A string has the fewest escapes:
// \" \\ \b \t \n \f \r, other control characters below U+0020 as \u00xx in lower
// case, a lone surrogate as \udxxx, and everything else raw. Numbers are spelled
// as the profile says. The canonical form of a canonical form is itself. The
// size of a value, everywhere in this package, is that of its canonical form.
//
// # Number profiles
//
// [Exact] keeps the digits of every number, however many, and refuses only a
// number with a fraction or an exponent that overflows a double. [Double] is for
// consumers whose numbers are IEEE 754 doubles: it also refuses integers that
// they would round and negative zeros, and spells numbers as they would. A Value
// that is canonical under Double is canonical under Exact too.
//
// # Over budget wins
//
// A text that is over Options.MaxBytes and also holds a number or a repeated
// name that may not cross is over budget, in whatever order the two come. A text
// that isn't JSON has no size, so it is that before all else.
//
// # Where it parts from encoding/json
//
// On purpose; each is shown by a test in differences_test.go:
//
//	                                  encoding/json          here
//	repeated name                     the last wins          ErrDuplicateName
//	bytes that aren't UTF-8           U+FFFD                 ErrUTF8
//	lone surrogate                    U+FFFD                 kept; ErrSurrogate in a Go string
//	more than 10,000 levels           error                  fine, but for recursive Go types
//	field name in another case        fits                   does not
//	< > & U+2028 U+2029               escaped                raw
//	2^53+1 into a float64             rounded                ErrValueRange
//	float64 3.0                       3                      3.0
//	3.0 into an int                   error                  3
//	1e400 as text                     fine                   ErrNumberRange
//	null into an int                  nothing happens        ErrType
//	[1,2,3] into a [2]int             the rest is dropped    ErrType
//	Go string that isn't UTF-8        repaired               ErrUTF8
//	pointer method, no address        not called             called
//	float32(0.1)                      0.1                    0.10000000149011612
//	number for an any                 float64                json.Number
//
// # Cost
//
// The walk is linear in the text, also for an object of millions of names chosen
// by an enemy: names are compared by seeded hashes. It keeps one bit for each
// open container, some 32 bytes for each name of the objects that are open, and
// nothing else; for a text without objects that is at most 64 levels deep it
// allocates nothing, and otherwise uses memory from a pool.
package lossless
