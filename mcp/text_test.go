package mcp

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestCutMiddle: what is shown is of the text, is whole characters, and is bounded.
func TestCutMiddle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		budget := rapid.IntRange(0, 40).Draw(t, "budget")
		got := cutMiddle(text, budget, "of it")
		if len(text) <= budget {
			if got != text {
				t.Fatalf("%q became %q", text, got)
			}
			return
		}
		head, rest, ok := strings.Cut(got, "\n[… ")
		i := strings.LastIndex(rest, "…]\n")
		if !ok || i < 0 {
			t.Fatalf("%q doesn't say that it is cut", got)
		}
		tail := rest[i+len("…]\n"):]
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head)+len(tail) > budget || !utf8.ValidString(got) {
			t.Fatalf("%q with %d became %q", text, budget, got)
		}
	})
}

// TestCutLines: the lines that stay are those of both ends, and never more.
func TestCutLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringN(0, 20, -1)).Draw(t, "lines")
		budget := rapid.IntRange(40, 400).Draw(t, "budget")
		got, cut := cutLines(lines, budget)
		total := 0
		for _, line := range lines {
			total += len(line) + 1
		}
		if (cut != nil) != (total > budget) || got == nil {
			t.Fatalf("%d bytes of %d, cut %v", total, budget, cut)
		}
		if cut != nil && (cut.Total != total || cut.Shown > budget || cut.Shown >= total) {
			t.Fatalf("cut %+v of %d bytes with %d", cut, total, budget)
		}
		if cut == nil && len(got) != len(lines) {
			t.Fatalf("%d lines of %d", len(got), len(lines))
		}
	})
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\tc": "a b c", "  x ": "x", "x\u202ey": "xy", "x\x00y\x1b[31m": "xy[31m", "中文": "中文", "\xff": "", "abcdefgh": "abcdefgh", "abcdefghi": "abcdefgh…",
	} {
		if got := plain(text, 8); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDepth(t *testing.T) {
	for text, want := range map[string]int{`1`: 0, `[]`: 1, `{"a":[{}]}`: 3, `"[[["`: 0, `["\"[",[]]`: 2, `[[],[]]`: 2, ``: 0} {
		if got := depth([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
