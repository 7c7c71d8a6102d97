package lossless

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// membersCases are objects and what Members tells of their members under Double:
// name, text, whether it is canonical, its canonical form or fault.
var membersCases = []struct {
	text    string
	members []memberCase
}{
	{`{}`, nil},
	{" { } \r", nil},
	{`{"type":"done"}`, []memberCase{{"type", `"done"`, true, `"done"`, nil}}},
	{` { "a" : [ 1 ] , "b" :null } `, []memberCase{{"a", `[ 1 ]`, false, `[1]`, nil}, {"b", `null`, true, `null`, nil}}},
	{`{"v":1e400,"w":5.0,"x":[-0,1e400]}`, []memberCase{
		{"v", `1e400`, true, "", ErrNumberRange}, {"w", `5.0`, false, `5`, nil}, {"x", `[-0,1e400]`, true, "", ErrNegativeZero}}},
	{`{"\u0061\n":"\/","\ud800":{}}`, []memberCase{{"a\n", `"\/"`, false, `"/"`, nil}, {"\xed\xa0\x80", `{}`, true, `{}`, nil}}},
	{`{"😀":"\ud83d\ude00"}`, []memberCase{{"😀", `"\ud83d\ude00"`, false, `"😀"`, nil}}},
	{`{"a name that is longer than any that is kept for reuse":0}`, []memberCase{{"a name that is longer than any that is kept for reuse", `0`, true, `0`, nil}}},
}

type memberCase struct {
	name, text string
	canonical  bool
	value      string
	fault      error
}

func TestMembers(t *testing.T) {
	for _, c := range membersCases {
		var got []memberCase
		err := Members([]byte(c.text), Double, func(m Member) error {
			mc := memberCase{m.Name, string(m.Text), m.Canonical, m.Value().String(), nil}
			if m.Fault != nil {
				mc.fault = m.Fault.Err
			} else if m.Size != int64(len(mc.value)) {
				t.Errorf("%s: the size of %q is told as %d", c.text, mc.value, m.Size)
			}
			got = append(got, mc)
			return nil
		})
		if err != nil || len(got) != len(c.members) {
			t.Errorf("Members(%s) = %v, %v; want %v", c.text, got, err, c.members)
			continue
		}
		for i := range got {
			if got[i] != c.members[i] {
				t.Errorf("Members(%s): %+v; want %+v", c.text, got[i], c.members[i])
			}
		}
	}
}

func TestMembersFaultPlace(t *testing.T) {
	var fault *Error
	text := `{"a": 1, "v" : [{"n":-0}]}`
	if err := Members([]byte(text), Double, func(m Member) error {
		if m.Fault != nil {
			fault = m.Fault
		}
		return nil
	}); err != nil || fault == nil {
		t.Fatal(fault, err)
	}
	if fault.Offset != 6 || fault.Pointer != "/0/n" {
		t.Errorf("the fault is at %d, %q; want 6, /0/n, relative to the member", fault.Offset, fault.Pointer)
	}
}

// brokenMembers are texts that Members refuses.
var brokenMembers = []struct {
	text    string
	err     error
	pointer string
}{
	{"", ErrSyntax, ""}, {"null", ErrSyntax, ""}, {"42", ErrSyntax, ""}, {"[]", ErrSyntax, ""}, {`"s"`, ErrSyntax, ""},
	{"{", ErrSyntax, ""}, {`{"a"`, ErrSyntax, "/a"}, {`{"a":`, ErrSyntax, "/a"}, {`{"a":1`, ErrSyntax, "/a"}, {`{"a":1,`, ErrSyntax, ""},
	{`{"a":1,}`, ErrSyntax, ""}, {`{,}`, ErrSyntax, ""}, {`{"a" 1}`, ErrSyntax, "/a"}, {`{"a":1 "b":2}`, ErrSyntax, "/a"}, {`{a:1}`, ErrSyntax, ""},
	{`{}{}`, ErrSyntax, ""}, {`{"a":1}x`, ErrSyntax, ""}, {`{"a":01}`, ErrSyntax, "/a"}, {`{"a":{]}`, ErrSyntax, "/a"},
	{"{\"a\":\"\xff\"}", ErrUTF8, "/a"}, {"{\"\xff\":1}", ErrUTF8, ""}, {"{\"a\":\"\n\"}", ErrSyntax, "/a"},
	{`{"a":1,"a":2}`, ErrDuplicateName, "/a"}, {`{"a":1,"\u0061":2}`, ErrDuplicateName, "/a"},
	{`{"a":{"b":1,"b":2}}`, ErrDuplicateName, "/a/b"}, {`{"a":[{"b":{"c":1,"c":2}}],"z":x}`, ErrDuplicateName, "/a/0/b/c"},
	{`{"a":1e400,"a":1}`, ErrDuplicateName, "/a"}, {`{"a":1e400,"b":}`, ErrSyntax, "/b"},
}

func TestMembersRefuses(t *testing.T) {
	for _, c := range brokenMembers {
		err := Members([]byte(c.text), Double, func(Member) error { return nil })
		var e *Error
		if !errors.As(err, &e) || e.Err != c.err || e.Pointer != c.pointer {
			t.Errorf("Members(%q): %v; want %v at %q", c.text, err, c.err, c.pointer)
		}
	}
}

func TestMembersStops(t *testing.T) {
	stop := errors.New("enough")
	count := 0
	err := Members([]byte(`{"a":1,"b":2,"c":x}`), Exact, func(Member) error {
		if count++; count == 2 {
			return stop
		}
		return nil
	})
	if err != stop || count != 2 {
		t.Errorf("Members = %v after %d members; want the error of visit after 2", err, count)
	}
}

// checkMembers holds Members against Check of the whole and Parse of the parts.
func checkMembers(t failer, text []byte, n Numbers) {
	t.Helper()
	whole, wholeErr := Check(text, Options{Numbers: n})
	var built []byte
	var fault error
	err := Members(text, n, func(m Member) error {
		v, parseErr := Parse(m.Text, Options{Numbers: n})
		if m.Fault != nil {
			if fault == nil {
				fault = m.Fault
			}
			var e *Error
			if !errors.As(parseErr, &e) || e.Err != m.Fault.Err || e.Offset != m.Fault.Offset || e.Pointer != m.Fault.Pointer || m.Value().Exists() {
				t.Fatalf("member %q has the fault %v; Parse says %v", m.Text, m.Fault, parseErr)
			}
			v = Value{bytes.Repeat([]byte("0"), int(m.Size))}
		} else if parseErr != nil || !m.Value().Equal(v) || m.Size != int64(len(v.Bytes())) || m.Canonical != bytes.Equal(m.Text, v.Bytes()) {
			t.Fatalf("member %+v of %q; Parse says %q, %v", m, text, v, parseErr)
		}
		built = append(append(appendString(append(built, ','), m.Name), ':'), v.Bytes()...)
		return nil
	})
	object := len(bytes.TrimLeft(text, " \t\r\n")) > 0 && bytes.TrimLeft(text, " \t\r\n")[0] == '{'
	var numbers bool
	for _, sentinel := range []error{ErrNumberRange, ErrInexact, ErrNegativeZero} {
		numbers = numbers || errors.Is(wholeErr, sentinel)
	}
	switch {
	case !object:
		if !errors.Is(err, ErrSyntax) {
			t.Fatalf("Members(%q): %v; it is no object", text, err)
		}
	case wholeErr == nil:
		if err != nil || fault != nil || max(int64(len(built)), 1)+1 != whole {
			t.Fatalf("Members(%q): %v, fault %v, %q; Check says %d", text, err, fault, built, whole)
		}
	case numbers && err == nil:
		var e, f *Error
		errors.As(wholeErr, &e)
		if !errors.As(fault, &f) || f.Err != e.Err {
			t.Fatalf("Members(%q): fault %v; Check says %v", text, fault, wholeErr)
		}
	case err == nil:
		t.Fatalf("Members(%q) has no error; Check says %v", text, wholeErr)
	case numbers && !errors.Is(err, ErrDuplicateName):
		t.Fatalf("Members(%q): %v; Check says %v", text, err, wholeErr)
	}
}

func TestMembersAgainstCheck(t *testing.T) {
	for _, c := range textCases {
		checkMembers(t, []byte(c.text), Exact)
		checkMembers(t, []byte(c.text), Double)
		checkMembers(t, []byte(`{"v": `+c.text+` ,"w":[1e400]}`), Double)
	}
	gen := genJSON(3)
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		for i := range rapid.IntRange(0, 4).Draw(t, "count") {
			parts = append(parts, `"`+strings.Repeat("k", i+1)+`":`+gen.Draw(t, "value"))
		}
		text := []byte("{" + strings.Join(parts, ",") + "}")
		checkMembers(t, text, Exact)
		checkMembers(t, text, Double)
	})
}

func TestMembersAllocates(t *testing.T) {
	if poolsForget {
		t.Skip("the race detector empties the pool that keeps the names")
	}
	frame := []byte(`{"type":"call","id":12,"global":"tools","name":"search","args":{"q":"x","n":[1,2]}}`)
	visit := func(m Member) error {
		if m.Name == "" {
			t.Error("a member without a name")
		}
		return nil
	}
	if got := testing.AllocsPerRun(100, func() { Members(frame, Exact, visit) }); got > 0 {
		t.Errorf("Members of a frame allocates %v times", got)
	}
}

func TestMembersDeep(t *testing.T) {
	const depth = 1000000
	text := []byte(`{"a":` + strings.Repeat(`[{"a":`, depth/2) + `1e400` + strings.Repeat("}]", depth/2) + `}`)
	var m Member
	if err := Members(text, Exact, func(got Member) error { m = got; return nil }); err != nil || m.Fault == nil {
		t.Fatal(m.Fault, err)
	}
	if m.Fault.Offset != depth/2*6 {
		t.Errorf("the fault is at %d; want %d", m.Fault.Offset, depth/2*6)
	}
}
