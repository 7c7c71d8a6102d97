package units

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// durations lists texts with their meaning; those with words are errors. They are
// also the seeds of the fuzzer.
var durations = []struct {
	text   string
	want   time.Duration
	reason error
	words  string
}{
	{"0", 0, nil, ""},
	{"0s", 0, nil, ""},
	{"10s", 10 * time.Second, nil, ""},
	{"+10s", 10 * time.Second, nil, ""},
	{"1.5s", 1500 * time.Millisecond, nil, ""},
	{"500ms", 500 * time.Millisecond, nil, ""},
	{"1h30m", 90 * time.Minute, nil, ""},
	{"1ns", 1, nil, ""},
	{"9223372036854775807ns", math.MaxInt64, nil, ""},

	{"", 0, ErrSyntax, `"" is not a duration: write a duration like 10s`},
	{"abc", 0, ErrSyntax, `"abc" is not a duration`},
	{"1d", 0, ErrSyntax, `"1d" is not a duration`},
	{"10 s", 0, ErrSyntax, `"10 s" is not a duration`},
	{"10S", 0, ErrSyntax, `"10S" is not a duration`},
	{"1e3", 0, ErrSyntax, `"1e3" is not a duration`},
	{"s", 0, ErrSyntax, `"s" is not a duration`},
	{"NaN", 0, ErrSyntax, `"NaN" is not a duration`},
	{"10", 0, ErrSyntax, `"10" has no unit: write 10s for seconds`},
	{"1.5", 0, ErrSyntax, `"1.5" has no unit: write 1.5s for seconds`},
	{"1.", 0, ErrSyntax, "is not a duration"},
	{"-5s", 0, ErrRange, `"-5s" is negative`},
	{"9223372036854775808ns", 0, ErrRange, "is too long: the most is 2562047h47m16.854775807s"},
	{"2562048h", 0, ErrRange, "is too long"},
	{"99999999999999999999999h1m", 0, ErrRange, "is too long"},
	{strings.Repeat("9", 1000), 0, ErrSyntax, strings.Repeat("9", maxEcho) + `"… is not a duration`},
	{"1s\n", 0, ErrSyntax, `"1s\n" is not a duration`},
}

func TestParseDuration(t *testing.T) {
	for _, test := range durations {
		got, err := ParseDuration(test.text)
		checkValue(t, test.text, got, err, test.want, test.reason, test.words)
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, test := range durations {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseDuration(text)
		standard, standardErr := time.ParseDuration(text)
		if (err == nil) != (standardErr == nil && standard >= 0) {
			t.Errorf("%q: %v, but time.ParseDuration says %v, %v", text, err, standard, standardErr)
		}
		if err == nil && got != standard || err != nil && got != 0 {
			t.Errorf("%q: %v, %v, want %v", text, got, err, standard)
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 400) {
			t.Errorf("%q: %q is not a short line", text, err)
		}
	})
}

func TestDurationFlag(t *testing.T) {
	wall, given := time.Duration(0), time.Minute
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Var((*Duration)(&wall), "wall", "the most time")
	flags.Var((*Duration)(&given), "given", "with a default")
	usage := flags.FlagUsages()
	if !strings.Contains(usage, "--wall duration") || !strings.Contains(usage, "(default 1m0s)") || strings.Contains(usage, "default 0") {
		t.Errorf("usage:\n%s", usage)
	}
	if err := flags.Parse([]string{"--wall=10s", "--given", "1ns"}); err != nil {
		t.Fatal(err)
	}
	if wall != 10*time.Second || given != 1 {
		t.Errorf("wall %v, given %v", wall, given)
	}
	for _, text := range []string{"0", "0s", "0.1ns", "-5s", "10", "abc", ""} {
		err := flags.Parse([]string{"--wall=" + text})
		if err == nil || !strings.Contains(err.Error(), "--wall") {
			t.Errorf("--wall=%s: error %v", text, err)
		}
		if wall != 10*time.Second {
			t.Fatalf("--wall=%s changed the value to %v", text, wall)
		}
	}
	if err := flags.Parse([]string{"--wall=0"}); !strings.Contains(err.Error(), "leave it out for the default") {
		t.Errorf("error %v does not say what zero means", err)
	}
}
