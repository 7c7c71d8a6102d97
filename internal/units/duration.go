package units

import (
	"strings"
	"time"
)

// howDuration is the end of each message about a duration.
const howDuration = "write a duration like 10s, 500ms, 1.5s, 2m or 1h30m"

// ParseDuration reads a duration as time.ParseDuration does, with messages that
// say what to write instead. A unit is needed for everything but 0.
func ParseDuration(text string) (time.Duration, error) {
	duration, err := time.ParseDuration(text)
	if err == nil {
		if duration < 0 {
			return 0, valueError(ErrRange, text, "is negative: %s", howDuration)
		}
		return duration, nil
	}
	if isNumber(text) {
		return 0, valueError(ErrSyntax, text, "has no unit: write %ss for seconds", text)
	}
	// The errors of package time do not tell a large value from a wrong one. Zero
	// is the only number that needs no unit, so the last byte must be one of a unit.
	if _, err := time.ParseDuration(withoutNumbers(text)); err == nil && !isDigits(text[len(text)-1:]) {
		return 0, valueError(ErrRange, text, "is too long: the most is %v", time.Duration(1<<63-1))
	}
	return 0, valueError(ErrSyntax, text, "is not a duration: %s", howDuration)
}

// isNumber reports whether text is a short plain number, as 10 or 1.5.
func isNumber(text string) bool {
	whole, fraction, dotted := strings.Cut(text, ".")
	return len(text) <= maxEcho && isDigits(whole) && (!dotted || isDigits(fraction))
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// withoutNumbers returns text with each run of digits replaced by a single 0.
func withoutNumbers(text string) string {
	var result strings.Builder
	for i := range len(text) {
		digit := text[i] >= '0' && text[i] <= '9'
		switch {
		case !digit:
			result.WriteByte(text[i])
		case i == 0 || text[i-1] < '0' || text[i-1] > '9':
			result.WriteByte('0')
		}
	}
	return result.String()
}

// A Duration is a flag that holds a duration above zero. Its zero value means
// that the flag was not given: a limit of zero is the default, so zero can't be
// written. A time.Duration variable becomes a flag by (*Duration)(&variable).
type Duration time.Duration

// String returns the duration as the flag is written, such as "1m0s", and "0" for
// the zero value.
func (d *Duration) String() string {
	if *d == 0 {
		return "0"
	}
	return time.Duration(*d).String()
}

// Set reads text as ParseDuration does. The value stays when that fails.
func (d *Duration) Set(text string) error {
	duration, err := ParseDuration(text)
	if err != nil {
		return err
	}
	if duration == 0 {
		return valueError(ErrRange, text, "is no time to work in: write at least 1ns, or leave it out for the default")
	}
	*d = Duration(duration)
	return nil
}

// Type returns "duration", which the help shows as the kind of value.
func (d *Duration) Type() string { return "duration" }
