package lossless

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// object writes an object of the given names, each with the value 1.
func objectOf(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%s":1`, name)
	}
	return "{" + b.String() + "}"
}

// TestDuplicateAtEveryCount puts one repeated name into objects of many sizes,
// over the changes from filter to table and from table to larger table.
func TestDuplicateAtEveryCount(t *testing.T) {
	var names []string
	for i := range 700 {
		names = append(names, fmt.Sprintf("name%d", i))
		if _, err := Check([]byte(objectOf(names)), Options{}); err != nil {
			t.Fatalf("%d names: %v", len(names), err)
		}
		for _, again := range []int{0, i / 2, i} {
			text := objectOf(append(names[:i+1:i+1], names[again]))
			_, err := Check([]byte(text), Options{})
			var e *Error
			if !errors.As(err, &e) || e.Err != ErrDuplicateName || e.Pointer != "/"+names[again] {
				t.Fatalf("%d names and %s again: %v", i+1, names[again], err)
			}
			// The same as the second of two objects, of which the first lets
			// the names be guessed.
			text = "[" + objectOf(names[:i+1]) + "," + text + "]"
			if _, err := Check([]byte(text), Options{}); !errors.As(err, &e) || e.Pointer != "/1/"+names[again] {
				t.Fatalf("after an object of the same %d names, %s again: %v", i+1, names[again], err)
			}
		}
	}
}

// genObjects makes an array of nested objects over few names, so that sequences
// of names repeat, stop short, go on and repeat a name.
func genObjects(depth int) *rapid.Generator[string] {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d", "a name beyond a word", "a name beyond a wore", `\u0061`, `\n`, "é"})
	return rapid.Custom(func(t *rapid.T) string {
		count := rapid.IntRange(0, 6).Draw(t, "count")
		parts := make([]string, 0, count)
		if rapid.Bool().Draw(t, "array") {
			for range count {
				if depth > 0 {
					parts = append(parts, genObjects(depth-1).Draw(t, "element"))
				}
			}
			return "[" + strings.Join(parts, ",") + "]"
		}
		for range count {
			value := "1"
			if depth > 0 && rapid.IntRange(0, 2).Draw(t, "nest") == 0 {
				value = genObjects(depth-1).Draw(t, "member")
			}
			parts = append(parts, `"`+name.Draw(t, "name")+`":`+value)
		}
		return "{" + strings.Join(parts, ",") + "}"
	})
}

func TestNamesAgainstReference(t *testing.T) {
	gen := genObjects(4)
	rapid.Check(t, func(t *rapid.T) {
		checkReference(t, []byte(gen.Draw(t, "text")), Exact)
	})
}

// TestNestedTables opens objects with tables inside objects with tables, and
// uses the outer ones after the inner ones are closed.
func TestNestedTables(t *testing.T) {
	build := func(last string) string {
		text := "1"
		for level := range 20 {
			var parts []string
			for i := range 40 {
				parts = append(parts, fmt.Sprintf(`"k%d":%d`, i, level))
			}
			parts = append(parts, `"in":`+text)
			for i := range 40 {
				parts = append(parts, fmt.Sprintf(`"l\u006b%d":%d`, i, level))
			}
			parts = append(parts, last)
			text = "{" + strings.Join(parts, ",") + "}"
		}
		return text
	}
	if _, err := Check([]byte(build(`"z":1`)), Options{}); err != nil {
		t.Fatal(err)
	}
	for _, again := range []string{`"k0":1`, `"k39":1`, `"in":1`, `"lk0":1`, `"lk39":1`} {
		if _, err := Check([]byte(build(again)), Options{}); !errors.Is(err, ErrDuplicateName) {
			t.Errorf("%s again: %v", again, err)
		}
	}
}

// TestHostileObject bounds the time for large objects by that of smaller ones:
// what is searched in line would take a hundred times as long for ten times the
// names.
func TestHostileObject(t *testing.T) {
	timed := func(count int) time.Duration {
		var b strings.Builder
		b.WriteByte('{')
		for i := range count {
			if i > 0 {
				b.WriteByte(',')
			}
			// Names of one length that differ in the middle.
			fmt.Fprintf(&b, `"prefix-%08x-suffix":0`, i)
		}
		b.WriteByte('}')
		text := []byte(b.String())
		return timeOf(3, func() {
			if _, err := Check(text, Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	small, large := timed(20000), timed(200000)
	if large > 60*small {
		t.Errorf("200,000 names take %v, 20,000 take %v", large, small)
	}
}

func TestNamesAreForgotten(t *testing.T) {
	// Texts of one length, one after the other: nothing may be left of the names
	// of a text before, whether it was right or stopped half way.
	for _, text := range []string{
		`{"aa":1,"bb":2,"cc":{"dd":1}}`,
		`{"bb":1,"aa":2,"cc":{"dd":x}}`,
		`{"cc":1,"\u0061":{"dd":{"ee":`,
		`[{"aa":1,"bb":2},{"aa":1,"bb"`,
	} {
		Check([]byte(text), Options{})
		for _, good := range []string{`{"dd":1,"cc":2,"bb":{"aa":1}}`, `[{"ee":1,"aa":{"ee":1}},{"b":1}]`} {
			if _, err := Check([]byte(good), Options{}); err != nil {
				t.Errorf("Check(%q) after %q: %v", good, text, err)
			}
		}
	}
}
