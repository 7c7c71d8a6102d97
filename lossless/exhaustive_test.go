package lossless

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestEveryShortText goes through all texts of up to six bytes of an alphabet
// that has each sort of byte, and asks encoding/json which of them are JSON.
func TestEveryShortText(t *testing.T) {
	const alphabet = `[]{},:"0-1e.\ `
	const longest = 6
	text := make([]byte, 0, longest)
	valid := 0
	var extend func()
	extend = func() {
		_, err := Check(text, Options{})
		want := json.Valid(text)
		// The two differ only in what is JSON but doesn't cross.
		if broken := errors.Is(err, ErrSyntax); broken == want {
			t.Fatalf("Check(%q): %v; encoding/json says %v", text, err, want)
		}
		if want {
			valid++
			checkReference(t, text, Double)
		}
		if len(text) == longest {
			return
		}
		for i := range len(alphabet) {
			// A text that went wrong before its end stays wrong.
			var e *Error
			if errors.As(err, &e) && e.Err == ErrSyntax && e.Offset < int64(len(text)) {
				return
			}
			text = append(text, alphabet[i])
			extend()
			text = text[:len(text)-1]
		}
	}
	extend()
	if valid < 1000 {
		t.Errorf("only %d texts were JSON", valid)
	}
}

// TestEveryPlace puts each sort of byte at each place of a string, so that it
// falls on every place of a word, before and after the last whole word.
func TestEveryPlace(t *testing.T) {
	units := []string{`"`, `\n`, `\/`, `\u001f`, `\u00e9`, `\ud83d\ude00`, `\ud800`, `\`, `\u`, `\ud800\u`, "\x1f", "\x00", "\x7f", "é", "日", "😀", "\x80", "\xff", "\xc3", "\xe6\x97", "\xf0\x9f\x98", "!", "#", "[", "]"}
	for _, unit := range units {
		for before := range 20 {
			for _, after := range []int{0, 1, 2, 6, 7, 8, 9, 17} {
				inner := strings.Repeat("x", before) + unit + strings.Repeat("y", after)
				for _, text := range []string{`"` + inner + `"`, `["` + inner + `",1]`, `{"` + inner + `":"` + inner + `"}`, `"` + inner} {
					checkReference(t, []byte(text), Exact)
				}
				checkStringSize(t, inner)
			}
		}
	}
}

// TestEveryDepth nests containers over the places where the bits of open ones go
// from one word to the next, in patterns that tell a lost bit.
func TestEveryDepth(t *testing.T) {
	patterns := []string{"[", "{", "[{", "[[{", "{{[", "[{{{[[{"}
	for _, pattern := range patterns {
		for _, depth := range []int{1, 2, 62, 63, 64, 65, 66, 126, 127, 128, 129, 191, 192, 193, 300} {
			var open, closing strings.Builder
			for i := range depth {
				if pattern[i%len(pattern)] == '[' {
					open.WriteString("[0,")
				} else {
					fmt.Fprintf(&open, `{"a":0,"k%d":`, i%3)
				}
			}
			for i := depth - 1; i >= 0; i-- {
				// Something after each inner container, so that the outer is used.
				if pattern[i%len(pattern)] == '[' {
					closing.WriteString(",1]")
				} else {
					closing.WriteString(`,"b":1}`)
				}
			}
			good := open.String() + "null" + closing.String()
			checkReference(t, []byte(good), Exact)
			var back any
			v := parse(t, good)
			if err := v.Decode(&back); err != nil {
				t.Fatalf("%s at depth %d: %v", pattern, depth, err)
			}
			// Each bracket in its turn of the wrong kind.
			for i, c := range closing.String() {
				if c == ']' || c == '}' {
					bad := []byte(good)
					bad[len(good)-closing.Len()+i] ^= ']' ^ '}'
					var e *Error
					if _, err := Check(bad, Options{}); !errors.As(err, &e) || e.Offset != int64(len(good)-closing.Len()+i) {
						t.Fatalf("%s at depth %d with the wrong bracket at %d: %v", pattern, depth, i, err)
					}
				}
			}
			// A repeated name in each object is seen after the inner ones.
			for i, c := range closing.String() {
				if c == 'b' {
					bad := []byte(good)
					bad[len(good)-closing.Len()+i] = 'a'
					if _, err := Check(bad, Options{}); !errors.Is(err, ErrDuplicateName) {
						t.Fatalf("%s at depth %d with a repeated name at %d: %v", pattern, depth, i, err)
					}
				}
			}
		}
	}
}

// TestEveryCut cuts a text that has everything at each byte: no part of it is
// JSON, and each is told to end too early or at the place of the cut.
func TestEveryCut(t *testing.T) {
	text := `{"a":[1,-2.5e+10,true,false,null,"x\n\u00e9\ud83d\ude00é日😀"],"b\t":{"c":{}},"d":[]}`
	if _, err := Check([]byte(text), Options{}); err != nil {
		t.Fatal(err)
	}
	for cut := range len(text) {
		_, err := Check([]byte(text[:cut]), Options{})
		var e *Error
		if !errors.As(err, &e) || e.Err != ErrSyntax && e.Err != ErrUTF8 {
			t.Errorf("cut at %d: %v", cut, err)
		}
		if e.Err == ErrSyntax && (e.Offset != int64(cut) || !strings.Contains(err.Error(), "ends")) {
			t.Errorf("cut at %d, %q: %v", cut, text[:cut], err)
		}
		checkMembers(t, []byte(text[:cut]), Double)
	}
}

// TestEveryByte replaces each byte of a text by each byte.
func TestEveryByte(t *testing.T) {
	text := `{"a":[1,-2.5e+1,true,"x\n\u00e9é"],"b":{"c":{}}} `
	for i := range len(text) {
		for b := range 256 {
			changed := []byte(text)
			changed[i] = byte(b)
			checkReference(t, changed, Double)
		}
	}
}
