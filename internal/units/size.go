// Package units reads and writes the values of the command's flags: sizes such
// as 64MiB and durations such as 10s.
package units

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A unit is a name for a number of bytes, 1024 to some power.
type unit struct {
	name  string
	bytes int64
}

// units holds the largest first.
var units = []unit{
	{"EiB", 1 << 60},
	{"PiB", 1 << 50},
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"B", 1},
}

// The errors of a value that can't be read, for errors.Is.
var (
	// ErrSyntax: the text is not a size or a duration.
	ErrSyntax = errors.New("not understood")
	// ErrRange: the value is negative, zero where that has no meaning, or too
	// large.
	ErrRange = errors.New("out of range")
)

// howSize is the end of each message about a size.
const howSize = "write a size like 64MiB, 512KiB, 6B or plain bytes"

// ParseSize reads a number of bytes: a whole number alone, or with one of the
// units B, KiB, MiB, GiB, TiB, PiB and EiB, each 1024 times the one before it.
// A single space may stand before the unit, and bytes may be spelled out, so that
// it reads what FormatSize writes. Units such as MB, which mean 1000 to some and
// 1024 to others, are refused with both readings.
func ParseSize(text string) (int64, error) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	name := strings.TrimPrefix(text[digits:], " ")
	if digits == 0 {
		return 0, sizeWithoutDigits(text)
	}
	scale, ok := unitBytes(name)
	if !ok || name == "" && digits < len(text) {
		return 0, sizeUnitError(text, text[:digits], name)
	}
	number, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil || number > math.MaxInt64/scale {
		return 0, valueError(ErrRange, text, "is too large: the most is 8EiB less one byte, %d", int64(math.MaxInt64))
	}
	return number * scale, nil
}

// unitBytes returns the bytes of a unit.
func unitBytes(name string) (int64, bool) {
	switch name {
	case "", "byte", "bytes":
		return 1, true
	}
	for _, unit := range units {
		if unit.name == name {
			return unit.bytes, true
		}
	}
	return 0, false
}

// sizeWithoutDigits returns the error of text, which starts with no digit.
func sizeWithoutDigits(text string) error {
	if rest, ok := strings.CutPrefix(text, "-"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return valueError(ErrRange, text, "is negative: %s", howSize)
	}
	return valueError(ErrSyntax, text, "is not a size: %s", howSize)
}

// sizeUnitError returns the error of text, a number with something after it that
// is no unit of ours.
func sizeUnitError(text, number, name string) error {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, ",") {
		return valueError(ErrSyntax, text, "is not a whole number: write it in a smaller unit, as 1536MiB for 1.5 GiB")
	}
	// What is left of MB, mb, M, m, Mi and mib is the letter M.
	letter := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(name), "B"), "I")
	if len(letter) != 1 || !strings.Contains("KMGTPE", letter) {
		return valueError(ErrSyntax, text, "is not a size: %s", howSize)
	}
	right := number + letter + "iB"
	if strings.EqualFold(name, letter+"iB") {
		return valueError(ErrSyntax, text, "is not a size: write %s", right)
	}
	binary, err := ParseSize(right)
	decimal, ok := thousands(number, 1+strings.Index("KMGTPE", letter))
	if err != nil || !ok {
		return valueError(ErrSyntax, text, "is not a size: %s", howSize)
	}
	return valueError(ErrSyntax, text, "could mean two sizes: write %s for %d bytes, or %d", right, binary, decimal)
}

// thousands returns number times 1000 to the power given.
func thousands(number string, power int) (int64, bool) {
	value, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, false
	}
	for range power {
		if value > math.MaxInt64/1000 {
			return 0, false
		}
		value *= 1000
	}
	return value, true
}

// FormatSize returns a number of bytes as a message shows it, exactly: in the
// largest unit that makes it a whole number, as "1 GiB", "64 MiB" or "1500 bytes".
func FormatSize(bytes int64) string {
	number, unit := split(bytes)
	switch {
	case unit != "B":
		return number + " " + unit
	case bytes == 1:
		return "1 byte"
	default:
		return number + " bytes"
	}
}

// split returns the largest unit of which bytes is a whole number, and that
// number.
func split(bytes int64) (number, name string) {
	if bytes != 0 {
		for _, unit := range units {
			if bytes%unit.bytes == 0 {
				return strconv.FormatInt(bytes/unit.bytes, 10), unit.name
			}
		}
	}
	return strconv.FormatInt(bytes, 10), "B"
}

// A Size is a flag that holds a number of bytes, at least 1. Its zero value means
// that the flag was not given: a limit of zero is the default, so zero can't be
// written. An int64 variable becomes a flag by (*Size)(&variable).
type Size int64

// String returns the size as the flag is written, such as "64MiB", and "0" for
// the zero value.
func (s *Size) String() string {
	if *s == 0 {
		return "0"
	}
	number, unit := split(int64(*s))
	return number + unit
}

// Set reads text as ParseSize does. The value stays when that fails.
func (s *Size) Set(text string) error {
	bytes, err := ParseSize(text)
	if err != nil {
		return err
	}
	if bytes == 0 {
		return valueError(ErrRange, text, "is no size to work with: write at least 1B, or leave it out for the default")
	}
	*s = Size(bytes)
	return nil
}

// Type returns "size", which the help shows as the kind of value.
func (s *Size) Type() string { return "size" }

// maxEcho is how much of a value a message repeats.
const maxEcho = 40

// A textError says what is wrong with the text of a value. Its words are complete,
// and reason is only for errors.Is.
type textError struct {
	words  string
	reason error
}

func (e *textError) Error() string { return e.words }

func (e *textError) Unwrap() error { return e.reason }

// valueError returns the error of text: text, quoted, and then the words.
func valueError(reason error, text, format string, args ...any) error {
	quoted := strconv.Quote(text[:min(len(text), maxEcho)])
	if len(text) > maxEcho {
		quoted += "…"
	}
	return &textError{words: quoted + " " + fmt.Sprintf(format, args...), reason: reason}
}
