package interpreter

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answers are outputs of a probe with the nonce N, also the seeds of the fuzzer.
var answers = []struct {
	name   string
	stdout string
	fields []field // nil: there is no answer
	code   string
}{
	{"whole", "\x00N 4 3\na\x00b\x00xyz", []field{{"a", "b"}}, "xyz"},
	{"between noise", "hello\nN 1 1\n\x00N 4 3\na\x00b\x00xyzbye", []field{{"a", "b"}}, "xyz"},
	{"several fields", "\x00N 11 0\na\x00\x00\x00c\x00a\x00bb\x00", []field{{"a", ""}, {"", "c"}, {"a", "bb"}}, ""},
	{"code like an answer", "\x00N 4 7\na\x00b\x00\x00N 1 1\n", []field{{"a", "b"}}, "\x00N 1 1\n"},
	{"nothing", "", nil, ""},
	{"no NUL before", "N 4 3\na\x00b\x00xyz", nil, ""},
	{"another nonce", "\x00M 4 3\na\x00b\x00xyz", nil, ""},
	{"longer nonce", "\x00NN 4 3\na\x00b\x00xyz", nil, ""},
	{"only the nonce", "\x00N ", nil, ""},
	{"one length", "\x00N 4\na\x00b\x00", nil, ""},
	{"three lengths", "\x00N 4 3 2\na\x00b\x00xyz", nil, ""},
	{"report cut", "\x00N 4 3\na\x00b", nil, ""},
	{"code cut", "\x00N 4 3\na\x00b\x00xy", nil, ""},
	{"negative report", "\x00N -4 3\na\x00b\x00xyz", nil, ""},
	{"negative code", "\x00N 4 -3\na\x00b\x00xyz", nil, ""},
	{"length beyond 64 bits", "\x00N 99999999999999999999 3\na\x00b\x00xyz", nil, ""},
	{"half a field", "\x00N 2 3\na\x00xyz", nil, ""},
	{"field without its end", "\x00N 3 3\na\x00bxyz", nil, ""},
}

func TestParseAnswer(t *testing.T) {
	for _, test := range answers {
		t.Run(test.name, func(t *testing.T) {
			got, ok := parseAnswer([]byte(test.stdout), "N")
			if ok != (test.fields != nil) {
				t.Fatalf("found %t, want %t", ok, !ok)
			}
			if !ok {
				return
			}
			if diff := cmp.Diff(test.fields, got.fields, cmp.AllowUnexported(field{})); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			if string(got.code) != test.code {
				t.Errorf("code %q, want %q", got.code, test.code)
			}
		})
	}
}

func FuzzParseAnswer(f *testing.F) {
	for _, test := range answers {
		f.Add([]byte(test.stdout))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		got, ok := parseAnswer(stdout, "N")
		if !ok {
			return
		}
		// What was found can be written again, and stands in the output so, but
		// for spellings of the lengths such as 007.
		var report strings.Builder
		for _, field := range got.fields {
			report.WriteString(field.name + "\x00" + field.value + "\x00")
		}
		body := report.String() + string(got.code)
		if !bytes.Contains(stdout, []byte("\n"+body)) {
			t.Errorf("%q is not in %q", body, stdout)
		}
		head := fmt.Sprintf("\x00N %d %d\n", report.Len(), len(got.code))
		again, ok := parseAnswer([]byte(head+body), "N")
		if !ok {
			t.Fatalf("%q is no answer", head+body)
		}
		if diff := cmp.Diff(got, again, cmp.AllowUnexported(answer{}, field{})); diff != "" {
			t.Errorf("first (-) and second (+) reading:\n%s", diff)
		}
		// Whatever an answer says, it is an interpreter or an error.
		if found, err := got.interpreter("/x"); (found == nil) == (err == nil) {
			t.Errorf("found %v and error %v", found, err)
		}
	})
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"3.9.0":     {3, 9, 0},
		"3.12.1":    {3, 12, 1},
		"10.200.30": {10, 200, 30},
	} {
		got, err := parseVersion(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("parseVersion(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "3", "3.9", "3.9.0.1", "3.9.x", "-3.9.0", "3..0", " 3.9.0", "3.9.99999"} {
		if got, err := parseVersion(text); err == nil {
			t.Errorf("parseVersion(%q) = %v, want an error", text, got)
		}
	}
}
