package lossless

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestValidUTF8 goes through all texts of up to three bytes, and of four that
// begin like a character of four.
func TestValidUTF8(t *testing.T) {
	check := func(text []byte) {
		if got, want := validUTF8(text), utf8.Valid(text); got != want {
			t.Fatalf("validUTF8(%x) = %v", text, got)
		}
		// Placed so that its bytes fall into different blocks.
		for _, before := range []string{"seven b", "sixfil", "five "} {
			padded := append([]byte(before), text...)
			padded = append(padded, "and more than eight bytes"...)
			if got, want := validUTF8(padded), utf8.Valid(padded); got != want {
				t.Fatalf("validUTF8(%q) = %v", padded, got)
			}
		}
	}
	edges := []byte{0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xff}
	for a := range 256 {
		check([]byte{byte(a)})
		for b := range 256 {
			check([]byte{byte(a), byte(b)})
			for _, c := range edges {
				check([]byte{byte(a), byte(b), c})
				if a >= 0xe0 {
					check([]byte{byte(a), byte(b), c, 0x80})
					check([]byte{byte(a), byte(b), c, 0xc0})
				}
			}
		}
	}
}

func TestRuneLen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edges := rapid.SampledFrom([]byte{0x20, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xee, 0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff})
		text := rapid.SliceOfN(rapid.OneOf(edges, rapid.Byte()), 1, 6).Draw(t, "text")
		if text[0] < 0x80 {
			return
		}
		want := 0
		if r, size := utf8.DecodeRune(text); r != utf8.RuneError || size > 1 {
			want = size
		}
		if got := runeLen(text, 0); got != want {
			t.Fatalf("runeLen(%x) = %d; want %d", text, got, want)
		}
	})
}

// TestSpecial holds the search for special bytes against looking at each.
func TestSpecial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("\"\\ !#[]\x00\x1f\x20\x7f\x80\xa2\xdc\xff")))
		text := rapid.SliceOfN(b, 0, 40).Draw(t, "text")
		end, ascii := 0, true
		for end < len(text) && text[end] >= ' ' && text[end] != '"' && text[end] != '\\' {
			ascii = ascii && text[end] < 0x80
			end++
		}
		if gotEnd, gotASCII := plain(text, 0); gotEnd != end || gotASCII != ascii {
			t.Fatalf("plain(%q) = %d, %v; want %d, %v", text, gotEnd, gotASCII, end, ascii)
		}
		run := 0
		for run < end && text[run] < 0x80 {
			run++
		}
		if got := asciiRun(text, 0); got != run {
			t.Fatalf("asciiRun(%q) = %d; want %d", text, got, run)
		}
	})
}
