package lossless

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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

// TestHostileObject fills an object with names that only a seed tells apart, and
// looks at how far from its slot each lies: that is the work to find it.
func TestHostileObject(t *testing.T) {
	const count = 200000
	text := make([]byte, 0, count*24)
	n := newNames()
	n.open()
	for i := range count {
		start := len(text)
		text = fmt.Appendf(text, "prefix-%08x-suffix", i)
		if !n.insert(text, text[start:], start) {
			t.Fatalf("name %d is taken for another", i)
		}
	}
	table := n.top.table
	if len(table) < 2*count || len(table) > 8*count {
		t.Fatalf("%d names have a table of %d", count, len(table))
	}
	steps, longest := 0, 0
	mask := uint32(len(table) - 1)
	for slot, index := range table {
		if index == 0 {
			continue
		}
		away := int((uint32(slot) - n.list[index-1].hash) & mask)
		steps += away
		longest = max(longest, away)
	}
	if steps > count || longest > 200 {
		t.Errorf("the names lie %d slots off in all, one of them %d", steps, longest)
	}
	for _, i := range []int{0, count / 2, count - 1} {
		if again := fmt.Appendf(nil, "prefix-%08x-suffix", i); n.insert(append(text, again...), again, len(text)) {
			t.Errorf("name %d again is taken for new", i)
		}
	}
	// Two processes differ in where names lie.
	other := newNames()
	other.open()
	same := 0
	for i := range 1000 {
		if at := 23 * i; other.insert(text, text[at:at+23], at) && other.list[i].hash == n.list[i].hash {
			same++
		}
	}
	if same > 2 {
		t.Errorf("%d of 1,000 hashes are the same under two seeds", same)
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
