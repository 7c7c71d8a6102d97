package lossless

import (
	"encoding/json"
	"math"
	"math/big"
	"unicode/utf16"
	"unicode/utf8"
)

// Bool returns the value of a bool; ErrType if it is anything else.
func (v Value) Bool() (bool, error) {
	if err := v.want(KindBool); err != nil {
		return false, err
	}
	return v.text[0] == 't', nil
}

// Int64 returns a number that is exactly an int64, in whatever spelling: 3, 3.0
// and 3e0 alike. ErrValueRange tells that it has a fraction or is too large.
func (v Value) Int64() (int64, error) {
	if err := v.want(KindNumber); err != nil {
		return 0, err
	}
	i, detail := int64Of(v.text)
	return i, rangeError(detail)
}

// Uint64 is Int64 for uint64. -0 is 0.
func (v Value) Uint64() (uint64, error) {
	if err := v.want(KindNumber); err != nil {
		return 0, err
	}
	u, detail := uint64Of(v.text)
	return u, rangeError(detail)
}

// BigInt returns a number that is exactly an integer.
func (v Value) BigInt() (*big.Int, error) {
	if err := v.want(KindNumber); err != nil {
		return nil, err
	}
	i, detail := bigIntOf(v.text)
	return i, rangeError(detail)
}

// Float64 returns a number as a double: the nearest one of a number with a
// fraction or an exponent. ErrValueRange tells that it is an integer that no
// double holds exactly.
func (v Value) Float64() (float64, error) {
	if err := v.want(KindNumber); err != nil {
		return 0, err
	}
	f, detail := floatOf(v.text, 64)
	return f, rangeError(detail)
}

// Number returns a number with the digits it has.
func (v Value) Number() (json.Number, error) {
	if err := v.want(KindNumber); err != nil {
		return "", err
	}
	return json.Number(v.text), nil
}

// Text returns what a string holds. ErrSurrogate tells that it holds a lone
// surrogate, which a Go string can't: use UTF16 for those.
func (v Value) Text() (string, error) {
	if err := v.want(KindString); err != nil {
		return "", err
	}
	text, lone := textOf(v.text)
	if lone {
		return "", &Error{Err: ErrSurrogate}
	}
	return text, nil
}

// UTF16 returns the code units of a string, lone surrogates included.
func (v Value) UTF16() ([]uint16, error) {
	if err := v.want(KindString); err != nil {
		return nil, err
	}
	inner := v.text[1 : len(v.text)-1]
	units := make([]uint16, 0, len(inner))
	for i := 0; i < len(inner); {
		if inner[i] == '\\' {
			e, _ := readEscape(inner, i)
			units = append(units, uint16(e.unit)) // canonical text escapes no pairs
			i = e.end
			continue
		}
		r, size := utf8.DecodeRune(inner[i:])
		units = utf16.AppendRune(units, r)
		i += size
	}
	return units, nil
}

// want returns an error unless v is of that kind.
func (v Value) want(k Kind) error {
	switch v.Kind() {
	case k:
		return nil
	case KindAbsent:
		return absent()
	}
	return &Error{Err: ErrType, detail: "a " + v.Kind().String() + " is no " + k.String()}
}

func rangeError(detail string) error {
	if detail == "" {
		return nil
	}
	return &Error{Err: ErrValueRange, detail: detail}
}

// textOf decodes a canonical string, quotes included.
func textOf(token []byte) (text string, lone bool) {
	inner := token[1 : len(token)-1]
	decoded, lone := appendDecoded(nil, inner)
	return string(decoded), lone
}

// The words for what keeps a number out of a Go type; "" is nothing.
const (
	hasFraction = "it has a fraction"
	tooLarge    = "it is too large"
	isNegative  = "it is negative"
	noDouble    = "a double does not hold this integer exactly"
	noFloat32   = "a float32 does not hold this integer exactly"
)

// magnitudeOf reads a number that is exactly an integer below 2^64, whatever
// its spelling, without its sign.
func magnitudeOf(token []byte) (u uint64, negative bool, detail string) {
	d := parseDecimal(token)
	if d.zero {
		return 0, d.negative, ""
	}
	if detail := d.integral(); detail != "" {
		return 0, d.negative, detail
	}
	if d.exponent > 20 {
		return 0, d.negative, tooLarge
	}
	n := int64(0)
	for _, c := range d.digits {
		if c == '.' {
			continue
		}
		if n == d.exponent {
			break
		}
		if u > math.MaxUint64/10 || u*10 > math.MaxUint64-uint64(c-'0') {
			return 0, d.negative, tooLarge
		}
		u = u*10 + uint64(c-'0')
		n++
	}
	for ; n < d.exponent; n++ {
		if u > math.MaxUint64/10 {
			return 0, d.negative, tooLarge
		}
		u *= 10
	}
	return u, d.negative, ""
}

// integral tells whether no digit but zeros stands after the point.
func (d decimal) integral() (detail string) {
	n := int64(0)
	for _, c := range d.digits {
		if c == '.' {
			continue
		}
		if n >= d.exponent && c != '0' {
			return hasFraction
		}
		n++
	}
	return ""
}

func int64Of(token []byte) (int64, string) {
	u, negative, detail := magnitudeOf(token)
	switch {
	case detail != "":
		return 0, detail
	case negative && u <= 1<<63:
		return -int64(u), ""
	case negative || u > math.MaxInt64:
		return 0, tooLarge
	}
	return int64(u), ""
}

func uint64Of(token []byte) (uint64, string) {
	u, negative, detail := magnitudeOf(token)
	if detail == "" && negative && u != 0 {
		return 0, isNegative
	}
	return u, detail
}

func bigIntOf(token []byte) (*big.Int, string) {
	d := parseDecimal(token)
	if d.zero {
		return new(big.Int), ""
	}
	digits := d.digits
	if !d.integer {
		if detail := d.integral(); detail != "" {
			return nil, detail
		}
		// A canonical number with a fraction or an exponent is below 10^309.
		digits = make([]byte, 0, maxDigits)
		for _, c := range d.digits {
			if c != '.' && len(digits) < int(d.exponent) {
				digits = append(digits, c)
			}
		}
		for len(digits) < int(d.exponent) {
			digits = append(digits, '0')
		}
	}
	i := parseBig(digits)
	if d.negative {
		i.Neg(i)
	}
	return i, ""
}

// bigChunk is how many digits math/big reads at once. It takes time that grows
// with their square, so a number of millions of digits would take minutes.
const bigChunk = 4096

// parseBig reads digits chunk by chunk and joins neighbours, then neighbours of
// those, with the fast multiplication of math/big.
func parseBig(digits []byte) *big.Int {
	var parts []*big.Int // most significant first; only the first may be shorter
	for end := len(digits) % bigChunk; ; end += bigChunk {
		if start := max(end-bigChunk, 0); end > start {
			part, _ := new(big.Int).SetString(string(digits[start:end]), 10)
			parts = append(parts, part)
		}
		if end == len(digits) {
			break
		}
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(bigChunk), nil)
	for len(parts) > 1 {
		odd := len(parts) % 2
		joined := parts[:odd]
		for i := odd; i < len(parts); i += 2 {
			high, low := parts[i], parts[i+1]
			joined = append(joined, high.Mul(high, scale).Add(high, low))
		}
		parts = joined
		if len(parts) > 1 {
			scale.Mul(scale, scale)
		}
	}
	return parts[0]
}

// floatOf reads a number as a float of 64 or 32 bits. An integer must be exact;
// of other numbers it is the nearest.
func floatOf(token []byte, size int) (float64, string) {
	d := parseDecimal(token)
	if d.integer && !d.zero && !exactInteger(d.digits) {
		return 0, noDouble
	}
	f := parseFloat(token, size)
	switch {
	case math.IsInf(f, 0):
		return 0, tooLarge
	case d.integer && size == 32 && f != parseFloat(token, 64):
		return 0, noFloat32
	}
	return f, ""
}
