package lossless

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// Numbers is a number profile: which JSON numbers may cross, and how they are
// spelled in canonical text. The zero value is Exact.
type Numbers int

const (
	// Exact lets every integer and every finite number with a fraction or an
	// exponent cross with the digits it came with, -0.0 included. It refuses
	// only what overflows a double, such as 1e400.
	Exact Numbers = iota
	// Double is for consumers whose numbers are IEEE 754 doubles. In addition
	// to Exact it refuses an integer that a double can't hold
	// (9007199254740993) and a negative zero in any spelling. Numbers are
	// measured and written as ECMAScript spells the double, except that
	// integral values beyond 2^53-1 have all their digits.
	Double
)

// String returns "exact" or "double", as the wire and the command spell them.
func (n Numbers) String() string {
	switch n {
	case Exact:
		return "exact"
	case Double:
		return "double"
	}
	return "Numbers(" + strconv.Itoa(int(n)) + ")"
}

// ParseNumbers returns the profile that String spells as name.
func ParseNumbers(name string) (Numbers, error) {
	switch name {
	case "exact":
		return Exact, nil
	case "double":
		return Double, nil
	}
	return Exact, fmt.Errorf("unknown number profile %q: it is exact or double", prefix(name))
}

// Options say what text must keep to. The zero value asks for the Exact number
// profile and sets no budget.
type Options struct {
	// Numbers is the number profile.
	Numbers Numbers
	// MaxBytes is the most bytes the canonical form may have; 0 and less mean
	// no budget.
	MaxBytes int64
}

const (
	// safeDigits: every integer of so few digits is exact in a double.
	safeDigits = 15
	// maxDigits is how many digits the largest double has when written in full.
	maxDigits = 309
	// plainExponent: a number whose integer part has at most this many digits
	// and whose exponent has at most two can't overflow a double.
	plainExponent = 200
)

// decimal is the make-up of a number token.
type decimal struct {
	negative bool
	integer  bool   // no fraction and no exponent
	digits   []byte // integer and fraction digits, with the point if there is one
	exponent int64  // the value is 0.d1d2d3... × 10^exponent, d1 not zero
	zero     bool
}

// parseDecimal takes a valid number token apart. It is linear in the token, and
// exponents saturate far outside of what any caller accepts.
func parseDecimal(token []byte) decimal {
	d := decimal{integer: true}
	if token[0] == '-' {
		d.negative, token = true, token[1:]
	}
	var exponent int64
	mantissa := token
	for i, c := range token {
		if c == '.' {
			d.integer = false
		} else if c == 'e' || c == 'E' {
			d.integer = false
			mantissa, exponent = token[:i], parseExponent(token[i+1:])
			break
		}
	}
	point := len(mantissa)
	first := -1
	for i, c := range mantissa {
		if c == '.' {
			point = i
		} else if c != '0' && first < 0 {
			first = i
		}
	}
	if first < 0 {
		d.zero = true
		return d
	}
	d.digits = mantissa[first:]
	d.exponent = exponent + int64(point-first)
	if first > point {
		d.exponent++ // the point itself lies between them
	}
	return d
}

// parseExponent reads the digits after the e, with their sign. The result stays
// within ±2^58, so that adding a token's length to it can't overflow.
func parseExponent(text []byte) int64 {
	negative := false
	if text[0] == '-' || text[0] == '+' {
		negative, text = text[0] == '-', text[1:]
	}
	var e int64
	for _, c := range text {
		if e = e*10 + int64(c-'0'); e > 1<<58 {
			e = 1 << 58
			break
		}
	}
	if negative {
		return -e
	}
	return e
}

// overflow is the least number that rounds to an infinite double, 2^1024-2^970.
const overflow = "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497792"

// overflows tells whether the number rounds to an infinite double. It compares
// digits, since parsing a number near the limit is slow.
func (d decimal) overflows() bool {
	if d.zero || d.exponent < maxDigits {
		return false
	}
	if d.exponent > maxDigits {
		return true
	}
	n := 0
	for _, c := range d.digits {
		if c == '.' {
			continue
		}
		if c != overflow[n] {
			return c > overflow[n]
		}
		if n++; n == len(overflow) {
			return true
		}
	}
	return false
}

// exactInteger tells whether a double holds the integer with these digits (no
// sign, no leading zero). It builds the integer and looks at its bits: at most
// 53 of them may lie between the first and the last that is set.
func exactInteger(digits []byte) bool {
	if len(digits) <= safeDigits {
		return true
	}
	if len(digits) > maxDigits {
		return false
	}
	var words [17]uint64 // least first; 309 digits need 1027 bits
	used := 0
	for len(digits) > 0 {
		n := min(len(digits), 19)
		chunk, scale := uint64(0), uint64(1)
		for _, c := range digits[:n] {
			chunk = chunk*10 + uint64(c-'0')
			scale *= 10
		}
		digits = digits[n:]
		carry := chunk
		for i := range words[:used] {
			hi, lo := bits.Mul64(words[i], scale)
			var c uint64
			words[i], c = bits.Add64(lo, carry, 0)
			carry = hi + c
		}
		if carry != 0 && used < len(words) {
			words[used] = carry
			used++
		}
	}
	length := used*64 - bits.LeadingZeros64(words[used-1])
	low := 0
	for words[low] == 0 {
		low++
	}
	return length <= 1024 && length-low*64-bits.TrailingZeros64(words[low]) <= 53
}

// doubleNumber applies the Double profile to a valid number token; integer tells
// that it has no fraction and no exponent. It returns the size of the canonical
// spelling, and whether the token is that spelling already. A refused number is
// measured as it stands.
func doubleNumber(token []byte, integer bool) (size int, same bool, c cause) {
	digits, negative := token, token[0] == '-'
	if negative {
		digits = token[1:]
	}
	if integer {
		switch {
		case digits[0] == '0' && negative:
			return len(token), true, negativeZero
		case !exactInteger(digits):
			return len(token), true, inexact
		}
		return len(token), true, fine
	}
	f := parseFloat(token, 64)
	switch {
	case math.IsInf(f, 0):
		return len(token), true, beyondRange
	case f == 0 && negative:
		return len(token), true, negativeZero
	}
	var buf [32]byte
	if math.Abs(f) >= 1<<53 {
		return integralSize(f, &buf), false, fine
	}
	spelled := appendDouble(buf[:0], f)
	return len(spelled), string(spelled) == string(token), fine
}

// integralSize is the number of bytes of an integral double of 2^53 or more in
// full. The digits aren't made: a double of 1e300 takes a hundred times as long
// to spell as to read, and the program chooses how many it sends.
func integralSize(f float64, buf *[32]byte) int {
	short := strconv.AppendFloat(buf[:0], math.Abs(f), 'e', -1, 64)
	exponent := int(parseExponent(short[bytes.IndexByte(short, 'e')+1:]))
	size := exponent + 1
	if short[1] == 'e' && short[0] == '1' && belowPower[exponent>>6]>>(exponent&63)&1 == 1 {
		size-- // the double called 1e23 is 99999999999999991611392
	}
	if f < 0 {
		size++
	}
	return size
}

// belowPower has bit e set where the double nearest to 10^e lies below it.
var belowPower = [5]uint64{
	0x3c3a60eeb1800000, 0xf9c1aa6c0786af1e, 0x0ea88b6cf24e00da, 0xe680a2371afd1d3c, 0x000b05a8284e9828,
}

// appendDouble spells a finite double as the Double profile does: as ECMAScript
// Number::toString (ECMA-262, 6.1.6.1.20), but integral values of 2^53 and more
// with all their digits. A negative zero is spelled 0.
func appendDouble(dst []byte, f float64) []byte {
	a := math.Abs(f)
	switch {
	case a == 0:
		return append(dst, '0')
	case a >= 1<<53:
		return strconv.AppendFloat(dst, f, 'f', 0, 64)
	case a >= 1e-6:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-3] == '-' && dst[n-2] == '0' { // e-07 is e-7
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// parseFloat reads a valid number token as the nearest float of 64 or 32 bits,
// infinite if it is beyond their range.
func parseFloat(token []byte, size int) float64 {
	digits := len(token)
	for digits > 0 && token[digits-1]-'0' < 10 {
		digits--
	}
	if digits > 1 && token[digits-1] != '.' && len(token)-digits > len("9999") {
		return parseLongFloat(parseDecimal(token), size)
	}
	return parseToken(token, size)
}

func parseToken(token []byte, size int) float64 {
	// ParseFloat only reads the string, and not after it returned, so the
	// bytes can stand in for it without a copy.
	f, _ := strconv.ParseFloat(unsafe.String(unsafe.SliceData(token), len(token)), size)
	return f
}

// decisiveDigits is how many digits can matter for which double is nearest; of
// those after them it matters only whether one isn't zero.
const decisiveDigits = 770

// parseLongFloat reads a number whose exponent has more digits than ParseFloat
// heeds: it stops at 10,000, although as many digits may stand before it.
func parseLongFloat(d decimal, size int) float64 {
	sign := 1.0
	if d.negative {
		sign = -1
	}
	switch {
	case d.zero || d.exponent < -400:
		return math.Copysign(0, sign)
	case d.exponent > maxDigits:
		return math.Inf(int(sign))
	}
	short := make([]byte, 0, decisiveDigits+16)
	if d.negative {
		short = append(short, '-')
	}
	short = append(short, "0."...)
	n := 0
	for _, c := range d.digits {
		if c == '.' {
			continue
		}
		if n++; n <= decisiveDigits {
			short = append(short, c)
		} else if c != '0' {
			short = append(short, '1')
			break
		}
	}
	short = append(short, 'e')
	return parseToken(strconv.AppendInt(short, d.exponent, 10), size)
}
