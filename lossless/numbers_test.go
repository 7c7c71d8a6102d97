package lossless

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersNames(t *testing.T) {
	for _, n := range []Numbers{Exact, Double} {
		if got, err := ParseNumbers(n.String()); got != n || err != nil {
			t.Errorf("ParseNumbers(%q) = %v, %v", n.String(), got, err)
		}
	}
	if (Options{}).Numbers != Exact {
		t.Error("the zero value of Options is not Exact")
	}
	for _, name := range []string{"", "Exact", "single"} {
		if _, err := ParseNumbers(name); err == nil || !strings.Contains(err.Error(), "exact or double") {
			t.Errorf("ParseNumbers(%q): %v; want an error that names what there is", name, err)
		}
	}
	if got := Numbers(7).String(); got != "Numbers(7)" {
		t.Errorf("Numbers(7) is called %q", got)
	}
}

// isExact tells by math/big whether a double holds the integer.
func isExact(digits string) bool {
	exact, _ := new(big.Int).SetString(digits, 10)
	f, _ := new(big.Float).SetInt(exact).Float64()
	if math.IsInf(f, 0) {
		return false
	}
	near, _ := new(big.Float).SetFloat64(f).Int(nil)
	return near.Cmp(exact) == 0
}

func TestExactInteger(t *testing.T) {
	check := func(i *big.Int) {
		t.Helper()
		digits := i.String()
		if got, want := exactInteger([]byte(digits)), isExact(digits); got != want {
			t.Errorf("exactInteger(%s) = %v", digits, got)
		}
	}
	one := big.NewInt(1)
	for power := range uint(1026) {
		i := new(big.Int).Lsh(one, power)
		check(i)
		check(new(big.Int).Add(i, one))
		if power > 0 {
			check(new(big.Int).Sub(i, one))
		}
		if power > 60 {
			// 53 and 54 bits at the top.
			check(new(big.Int).Add(i, new(big.Int).Lsh(one, power-52)))
			check(new(big.Int).Add(i, new(big.Int).Lsh(one, power-53)))
		}
	}
	ten := one
	for range 320 {
		check(ten)
		ten = new(big.Int).Mul(ten, big.NewInt(10))
	}
	if exactInteger([]byte(strings.Repeat("9", 400))) {
		t.Error("400 nines are exact")
	}
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[1-9][0-9]{0,320}`).Draw(t, "digits")
		if exactInteger([]byte(digits)) != isExact(digits) {
			t.Fatalf("exactInteger(%s) is wrong", digits)
		}
	})
}

func TestOverflows(t *testing.T) {
	check := func(t failer, token string) {
		t.Helper()
		f, err := strconv.ParseFloat(token, 64)
		if got, want := parseDecimal([]byte(token)).overflows(), errors.Is(err, strconv.ErrRange) && math.IsInf(f, 0); got != want {
			t.Fatalf("overflows(%.60s) = %v", token, got)
		}
	}
	below := overflow[:len(overflow)-1] + "1"
	for _, token := range []string{
		overflow + ".0", below + ".9999", below + ".0", overflow + "e0", "0." + overflow + "e309", "0." + below + "e309",
		"0.000" + overflow + "e312", "1.7976931348623157e308", "1.7976931348623159e+308", "-1.8e308", "0.1e309", "0.1e310",
		"1" + strings.Repeat("0", 400) + ".0e-100", "0." + strings.Repeat("0", 400) + "1e700", "0." + strings.Repeat("0", 400) + "1e710",
		"0.0e99999999999999999999", "1e18446744073709551617", "1e-18446744073709551617", "1e9223372036854775807", "1e9227000000000000000", "1e-9227000000000000000", "9e308", "1e308",
	} {
		check(t, token)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?[eE]\+?(2[89][0-9]|30[0-9]|31[0-9])`).Draw(t, "token"))
	})
}

func TestBelowPower(t *testing.T) {
	for e := range maxDigits {
		f, _ := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
		below := new(big.Float).SetPrec(2000).SetFloat64(f).Cmp(new(big.Float).SetPrec(2000).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(e)), nil))) < 0
		if got := belowPower[e>>6]>>(e&63)&1 == 1; got != below {
			t.Errorf("belowPower has bit %d = %v", e, got)
		}
	}
}

// TestDoubleSpelling compares size and spelling with the reference, over all
// exponents and the doubles next to the powers of ten.
func TestDoubleSpelling(t *testing.T) {
	check := func(t failer, f float64) {
		t.Helper()
		want := referenceDouble(f)
		if got := string(appendDouble(nil, f)); got != want {
			t.Fatalf("appendDouble(%g) = %s; want %s", f, got, want)
		}
		token := strconv.FormatFloat(f, 'e', 20, 64)
		size, same, c := doubleNumber([]byte(token), false)
		if size != len(want) || same || c != fine {
			t.Fatalf("doubleNumber(%s) = %d, %v, %v; want %d", token, size, same, c, len(want))
		}
	}
	for e := -330; e <= 308; e++ {
		f, _ := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
		if f == 0 {
			continue
		}
		for _, near := range []float64{f, math.Nextafter(f, 0), math.Nextafter(f, math.Inf(1)), 3 * f, -f} {
			if !math.IsInf(near, 0) && near != 0 {
				check(t, near)
			}
		}
	}
	check(t, math.MaxFloat64)
	check(t, 1<<53)
	check(t, 1<<53-1)
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if !math.IsInf(f, 0) && !math.IsNaN(f) && f != 0 {
			check(t, f)
		}
	})
}

// TestShortDecimals goes through the short cut for decimals of few digits.
func TestShortDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.StringMatching(`-?(0|[1-9][0-9]{0,7})(\.0{0,7}[0-9]{0,7}0{0,3}[0-9])?`).Draw(t, "token")
		checkReference(t, []byte(token), Double)
		checkReference(t, []byte("["+token+"]"), Double)
	})
}

func TestLongNumbersAreLinear(t *testing.T) {
	// Each is 4 MB; one that took more than linear time would take minutes.
	long := strings.Repeat("7", 4<<20)
	for _, c := range []textCase{
		{text: long, exact: long, doubleErr: ErrInexact},
		{text: "0." + long, exact: "0." + long, double: "0.7777777777777778"},
		{text: "1e" + long, exactErr: ErrNumberRange, doubleErr: ErrNumberRange},
		{text: long + "e-4194304", exact: long + "e-4194304", double: "0.7777777777777778"},
		{text: long + ".5", exactErr: ErrNumberRange, doubleErr: ErrNumberRange},
	} {
		for _, n := range []Numbers{Exact, Double} {
			want, wantErr := c.exact, c.exactErr
			if n == Double {
				want, wantErr = c.double, c.doubleErr
			}
			if v, err := Parse([]byte(c.text), Options{Numbers: n}); v.String() != want || !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil) {
				t.Errorf("%.20s... under %v: %.40q, %v", c.text, n, v, err)
			}
		}
	}
}
