package lossless

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reference is this package's contract written the plain way: recursive, with a
// copy of everything, and numbers by math/big. Tests compare the scanner with it.
type reference struct {
	text   []byte
	at     int
	double bool
	faults []error // of numbers and names, in order
}

// referenceCanonical returns the canonical form of text and the first error
// that Check should tell, but for budgets.
func referenceCanonical(text []byte, n Numbers) (canonical []byte, err error) {
	r := &reference{text: text, double: n == Double}
	if !utf8.Valid(text) {
		// Which of the two is told first depends on the place; syntax and UTF-8
		// are one class in the comparison.
		return nil, ErrSyntax
	}
	defer func() {
		if p := recover(); p != nil {
			if !errors.Is(p.(error), ErrSyntax) {
				panic(p)
			}
			canonical, err = nil, ErrSyntax
		}
	}()
	out := r.value()
	r.white()
	if r.at != len(r.text) {
		return nil, ErrSyntax
	}
	if len(r.faults) > 0 {
		return out, r.faults[0]
	}
	return out, nil
}

func (r *reference) white() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *reference) peek() byte {
	if r.at == len(r.text) {
		panic(ErrSyntax)
	}
	return r.text[r.at]
}

func (r *reference) expect(s string) {
	if !strings.HasPrefix(string(r.text[r.at:]), s) {
		panic(ErrSyntax)
	}
	r.at += len(s)
}

func (r *reference) value() []byte {
	r.white()
	switch c := r.peek(); c {
	case '{', '[':
		return r.container(c)
	case '"':
		return referenceString(r.string())
	case 't':
		r.expect("true")
		return []byte("true")
	case 'f':
		r.expect("false")
		return []byte("false")
	case 'n':
		r.expect("null")
		return []byte("null")
	default:
		return []byte(r.number())
	}
}

func (r *reference) container(open byte) []byte {
	r.at++
	out := []byte{open}
	closing := open + 2
	seen := map[string]bool{}
	for r.white(); r.peek() != closing; r.white() {
		if len(out) > 1 {
			r.expect(",")
			r.white()
			out = append(out, ',')
		}
		if open == '{' {
			if r.peek() != '"' {
				panic(ErrSyntax)
			}
			units := fmt.Sprint(r.string())
			if seen[units] {
				r.faults = append(r.faults, ErrDuplicateName)
			}
			seen[units] = true
			var list []rune
			for _, f := range strings.Fields(strings.Trim(units, "[]")) {
				u, _ := strconv.Atoi(f)
				list = append(list, rune(u))
			}
			out = append(append(out, referenceString(list)...), ':')
			r.white()
			r.expect(":")
		}
		out = append(out, r.value()...)
	}
	r.at++
	return append(out, closing)
}

// string reads a string as code points and lone surrogates.
func (r *reference) string() []rune {
	r.at++
	var units []rune
	for {
		switch c := r.peek(); {
		case c == '"':
			r.at++
			var joined []rune
			for i := 0; i < len(units); i++ {
				// Only escapes are surrogates here, so they were neighbours.
				if u := units[i]; u >= 0xD800 && u < 0xDC00 && i+1 < len(units) && units[i+1] >= 0xDC00 && units[i+1] < 0xE000 {
					joined = append(joined, 0x10000+(u-0xD800)*0x400+(units[i+1]-0xDC00))
					i++
				} else {
					joined = append(joined, u)
				}
			}
			return joined
		case c < ' ':
			panic(ErrSyntax)
		case c == '\\':
			r.at++
			letter := r.peek()
			r.at++
			if i := strings.IndexByte(`"\/bfnrt`, letter); i >= 0 {
				units = append(units, rune("\"\\/\b\f\n\r\t"[i]))
				continue
			}
			if letter != 'u' || r.at+4 > len(r.text) {
				panic(ErrSyntax)
			}
			hex := string(r.text[r.at : r.at+4])
			u, err := strconv.ParseUint(hex, 16, 32)
			if err != nil || strings.ContainsAny(hex, "_+-") {
				panic(ErrSyntax)
			}
			r.at += 4
			units = append(units, rune(u))
		default:
			u, size := utf8.DecodeRune(r.text[r.at:])
			r.at += size
			units = append(units, u)
		}
	}
}

func referenceString(units []rune) []byte {
	out := []byte{'"'}
	for _, u := range units {
		if i := strings.IndexRune("\"\\\b\f\n\r\t", u); i >= 0 && u < 0x80 {
			out = append(out, '\\', `"\bfnrt`[i])
		} else if u < ' ' || u >= 0xD800 && u < 0xE000 {
			out = fmt.Appendf(out, `\u%04x`, u)
		} else {
			out = utf8.AppendRune(out, u)
		}
	}
	return append(out, '"')
}

func (r *reference) digits() string {
	start := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	if r.at == start {
		panic(ErrSyntax)
	}
	return string(r.text[start:r.at])
}

func (r *reference) number() string {
	start := r.at
	if r.peek() == '-' {
		r.at++
	}
	if d := r.digits(); len(d) > 1 && d[0] == '0' {
		panic(ErrSyntax)
	}
	integer := true
	if r.at < len(r.text) && r.text[r.at] == '.' {
		integer = false
		r.at++
		r.digits()
	}
	if r.at < len(r.text) && (r.text[r.at] == 'e' || r.text[r.at] == 'E') {
		integer = false
		r.at++
		if c := r.peek(); c == '+' || c == '-' {
			r.at++
		}
		r.digits()
	}
	token := string(r.text[start:r.at])
	spelled, err := referenceNumber(token, integer, r.double)
	if err != nil {
		r.faults = append(r.faults, err)
	}
	return spelled
}

// referenceNumber applies the number rule to a token by comparing exact values.
func referenceNumber(token string, integer, double bool) (spelled string, err error) {
	f, _ := strconv.ParseFloat(token, 64)
	switch {
	case integer && !double:
		return token, nil
	case integer && token == "-0":
		return token, ErrNegativeZero
	case integer:
		exact, _ := new(big.Int).SetString(token, 10)
		if math.IsInf(f, 0) {
			return token, ErrInexact
		}
		if near, _ := new(big.Float).SetFloat64(f).Int(nil); near.Cmp(exact) != 0 {
			return token, ErrInexact
		}
		return token, nil
	case math.IsInf(f, 0):
		return token, ErrNumberRange
	case !double:
		return token, nil
	case f == 0 && math.Signbit(f):
		return token, ErrNegativeZero
	}
	return referenceDouble(f), nil
}

// referenceDouble spells a double as ECMA-262 Number::toString describes it, by
// cases of the decimal point's place, with all digits of large integral values.
func referenceDouble(f float64) string {
	if f == 0 {
		return "0"
	}
	if f < 0 {
		return "-" + referenceDouble(-f)
	}
	if f == math.Trunc(f) && f > 1<<53-1 {
		whole, _ := new(big.Float).SetFloat64(f).Int(nil)
		return whole.String()
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	e, _ := strconv.Atoi(exponent)
	k, n := len(digits), e+1
	switch {
	case k <= n && n <= 21:
		return digits + strings.Repeat("0", n-k)
	case 0 < n && n <= 21:
		return digits[:n] + "." + digits[n:]
	case -6 < n && n <= 0:
		return "0." + strings.Repeat("0", -n) + digits
	}
	sign := "+"
	if n-1 < 0 {
		sign = "-"
	}
	tail := "e" + sign + strconv.Itoa(max(n-1, 1-n))
	if k == 1 {
		return digits + tail
	}
	return digits[:1] + "." + digits[1:] + tail
}
