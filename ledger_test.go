package thirdrail

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// leastBudget is the smallest LogBytes that a run may have: the marker's own size.
var leastBudget = func() int64 {
	for limit := int64(1); ; limit++ {
		if size, _ := lossless.StringSize(wire.LogTruncationMarker(limit), math.MaxInt); int64(size) <= limit {
			return limit
		}
	}
}()

// A ledgerStep is something that reaches a ledger.
type ledgerStep struct {
	from      source
	text      string // for a native source, any bytes
	open      bool
	truncated bool
}

func line(text string) ledgerStep             { return ledgerStep{text: text} }
func opened(text string) ledgerStep           { return ledgerStep{text: text, open: true} }
func native(from source, b string) ledgerStep { return ledgerStep{from: from, text: b} }

// play gives steps to a ledger and finishes it.
func play(limit int64, steps []ledgerStep) (l *ledger, told []string) {
	l = newLedger(limit, func(text string) { told = append(told, text) })
	for _, step := range steps {
		if step.from != fromFrames {
			l.native(step.from, []byte(step.text))
			continue
		}
		size, _ := lossless.StringSize(step.text, math.MaxInt)
		l.frame(&wire.Log{Text: step.text, Open: step.open, Truncated: step.truncated, Size: int64(size)})
	}
	l.finish()
	return l, told
}

// modelLedger is a ledger without any cleverness: it takes characters one by one,
// and weighs all entries anew for each.
type modelLedger struct {
	limit   int64
	entries []string
	isOpen  bool // the last entry waits for its end
	owner   source
	goesOn  bool
	spent   bool
	pending [sources][]byte
}

// weigh returns the size of entries as a compact JSON array.
func weigh(entries []string) int64 {
	size := int64(2)
	for i, entry := range entries {
		if i > 0 {
			size++
		}
		size += 2
		for _, r := range entry {
			switch {
			case strings.ContainsRune("\b\t\n\f\r\"\\", r):
				size += 2
			case r < 0x20:
				size += 6
			default:
				size += int64(utf8.RuneLen(r))
			}
		}
	}
	return size
}

func (m *modelLedger) put(from source, text string) {
	if m.spent {
		return
	}
	if m.isOpen && m.owner != from {
		m.isOpen = false
	}
	next := slices.Clone(m.entries)
	if m.isOpen {
		next[len(next)-1] += text
	} else {
		next = append(next, text)
	}
	if weigh(next) > m.limit {
		m.cut()
		return
	}
	m.entries, m.isOpen, m.owner = next, true, from
}

func (m *modelLedger) cut() {
	m.entries = append(m.entries, wire.LogTruncationMarker(m.limit))
	m.isOpen, m.spent = false, true
}

// char takes one character, or the end of a line.
func (m *modelLedger) char(from source, r rune) {
	if r != '\n' {
		m.put(from, string(r))
		return
	}
	m.put(from, "")
	m.isOpen = false
}

func (m *modelLedger) step(s ledgerStep) {
	if s.from != fromFrames {
		for _, b := range []byte(s.text) {
			m.pending[s.from] = append(m.pending[s.from], b)
			for p := m.pending[s.from]; len(p) > 0 && utf8.FullRune(p); p = m.pending[s.from] {
				r, width := utf8.DecodeRune(p)
				m.pending[s.from] = slices.Clone(p[width:])
				m.char(s.from, r)
			}
		}
		return
	}
	ownOpen := m.isOpen && m.owner == fromFrames
	switch {
	case m.spent:
	case s.truncated:
		m.cut()
	case s.text == "" && s.open:
	case s.text == "" && m.goesOn && !ownOpen:
		m.goesOn = false
	default:
		m.goesOn = s.open
		if s.text == "" {
			m.put(fromFrames, "")
		}
		for _, r := range s.text {
			m.put(fromFrames, string(r)) // a line feed within it is text
		}
		if !s.open {
			m.isOpen = false
		}
	}
}

func (m *modelLedger) finish() {
	for from, bytes := range m.pending {
		for range bytes {
			m.put(source(from), "\uFFFD")
		}
	}
}

// compareLedger plays steps to a ledger and its model, and checks what holds for
// any ledger.
func compareLedger(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, limit int64, steps []ledgerStep,
) {
	t.Helper()
	l, told := play(limit, steps)
	m := &modelLedger{limit: limit}
	for _, step := range steps {
		m.step(step)
	}
	m.finish()
	if diff := cmp.Diff(m.entries, l.entries); diff != "" {
		t.Fatalf("limit %d, steps %+v: entries (-model +ledger):\n%s", limit, steps, diff)
	}
	if !slices.Equal(told, l.entries) {
		t.Fatalf("OnLog got %q, the entries are %q", told, l.entries)
	}
	kept := l.entries
	if at := slices.Index(kept, wire.LogTruncationMarker(limit)); l.spent {
		if at != len(kept)-1 {
			t.Fatalf("the marker is at %d of %d", at, len(kept))
		}
		kept = kept[:at]
		if l.used() != limit {
			t.Fatalf("used is %d of %d", l.used(), limit)
		}
	} else if used := weigh(l.entries) - 1; len(l.entries) > 0 && l.used() != used {
		t.Fatalf("used is %d, want %d", l.used(), used)
	}
	if array, err := lossless.Of(append([]string{}, kept...)); err != nil || int64(len(array.Bytes())) > limit || int64(len(array.Bytes())) != weigh(kept) {
		t.Fatalf("the entries take %d bytes (%d by the model) of %d: %v", len(array.Bytes()), weigh(kept), limit, err)
	}
}

// ledgerCases start the fuzzer, too.
var ledgerCases = []struct {
	name  string
	limit int64
	steps []ledgerStep
	want  []string
}{
	{"nothing", 60, nil, nil},
	{"one line", 60, []ledgerStep{line("a")}, []string{"a"}},
	{"blank lines cost three", 60, slices.Repeat([]ledgerStep{line("")}, 20), append(make([]string, 19), marker(60))},
	{"blank lines to the byte", 61, slices.Repeat([]ledgerStep{line("")}, 20), make([]string, 20)},
	{"to the byte", 60, []ledgerStep{line(strings.Repeat("x", 56))}, []string{strings.Repeat("x", 56)}},
	{"a byte over", 60, []ledgerStep{line(strings.Repeat("x", 57))}, []string{strings.Repeat("x", 56), marker(60)}},
	{"an open entry pays its quotes and comma once", 60, slices.Repeat([]ledgerStep{opened("x")}, 56), []string{strings.Repeat("x", 56)}},
	{"an open entry, a byte over", 60, slices.Repeat([]ledgerStep{opened("x")}, 57), []string{strings.Repeat("x", 56), marker(60)}},
	{"two entries pay twice", 60, []ledgerStep{line(strings.Repeat("x", 26)), line(strings.Repeat("y", 27))}, []string{strings.Repeat("x", 26), strings.Repeat("y", 27)}},
	{"two entries, a byte over", 60, []ledgerStep{line(strings.Repeat("x", 27)), line(strings.Repeat("y", 27))}, []string{strings.Repeat("x", 27), strings.Repeat("y", 26), marker(60)}},
	{"no room for another entry", 60, []ledgerStep{line(strings.Repeat("x", 54)), line("y")}, []string{strings.Repeat("x", 54), marker(60)}},
	{"controls cost six", 60, []ledgerStep{line(strings.Repeat("\x00", 10))}, []string{strings.Repeat("\x00", 9), marker(60)}},
	{"short escapes cost two", 60, []ledgerStep{line("\"\\\b\t\n\f\r" + strings.Repeat("\"", 22))}, []string{"\"\\\b\t\n\f\r" + strings.Repeat("\"", 21), marker(60)}},
	{"DEL costs one", 60, []ledgerStep{line(strings.Repeat("\x7f", 56))}, []string{strings.Repeat("\x7f", 56)}},
	{"no room for half a character", 60, []ledgerStep{line("x" + strings.Repeat("é", 28))}, []string{"x" + strings.Repeat("é", 27), marker(60)}},
	{"room for just the character", 60, []ledgerStep{line(strings.Repeat("😀", 15))}, []string{strings.Repeat("😀", 14), marker(60)}},
	{"native, room for just the character", 60, []ledgerStep{native(fromStdout, strings.Repeat("😀", 15))}, []string{strings.Repeat("😀", 14), marker(60)}},
	{"bad bytes cost three", 60, []ledgerStep{native(fromStdout, strings.Repeat("\xff", 20))}, []string{strings.Repeat("\uFFFD", 18), marker(60)}},
	{"a surrogate in three bytes is three bad ones", 60, []ledgerStep{native(fromStdout, "\xed\xa0\x80\n")}, []string{"\uFFFD\uFFFD\uFFFD"}},
	{"a character in pieces", 60, []ledgerStep{native(fromStdout, "\xf0"), native(fromStdout, "\x9f\x98"), native(fromStdout, "\x80\n")}, []string{"😀"}},
	{"a character in pieces on two descriptors", 60, []ledgerStep{native(fromStdout, "\xc3"), native(fromStderr, "\xc3"), native(fromStderr, "\xa9\n"), native(fromStdout, "\xa8\n")}, []string{"é", "è"}},
	{"a character that never ends", 60, []ledgerStep{native(fromStdout, "a\xf0\x9f"), native(fromStderr, "b\xe4")}, []string{"a", "b", "\uFFFD\uFFFD", "\uFFFD"}},
	{"a character broken by a line feed", 60, []ledgerStep{native(fromStdout, "\xe4\xbd"), native(fromStdout, "\nA")}, []string{"\uFFFD\uFFFD", "A"}},
	{"native lines", 60, []ledgerStep{native(fromStdout, "one\ntwo\n\nthr"), native(fromStdout, "ee")}, []string{"one", "two", "", "three"}},
	{"a native piece with two lines, the first over", 60, []ledgerStep{native(fromStdout, strings.Repeat("x", 60)+"\nsecond\n")}, []string{strings.Repeat("x", 56), marker(60)}},
	{"other text ends an open entry", 60, []ledgerStep{opened("a"), native(fromStdout, "b"), native(fromStderr, "c"), opened("d"), line("")}, []string{"a", "b", "c", "d"}},
	{"the end of an entry that was ended", 60, []ledgerStep{opened("a"), native(fromStdout, "b\n"), line(""), line(""), line("c")}, []string{"a", "b", "", "c"}},
	{"the rest of an entry that was ended", 60, []ledgerStep{opened("a"), native(fromStdout, "b\n"), line("c")}, []string{"a", "b", "c"}},
	{"a blank native line after an entry that was ended", 60, []ledgerStep{native(fromStdout, "a"), line("b"), native(fromStdout, "\n")}, []string{"a", "b", ""}},
	{"open and empty", 60, []ledgerStep{opened(""), opened("a"), opened(""), line("b"), opened("")}, []string{"ab"}},
	{"the child's marker", 60, []ledgerStep{line("a"), {text: "x", truncated: true}, line("b"), {text: "x", truncated: true}}, []string{"a", marker(60)}},
	{"the child's marker after an open entry", 60, []ledgerStep{opened("a"), {truncated: true}, native(fromStdout, "b\n")}, []string{"a", marker(60)}},
	{"the child's marker after the host's", 60, []ledgerStep{line(strings.Repeat("x", 60)), {truncated: true}}, []string{strings.Repeat("x", 56), marker(60)}},
	{"nothing after the marker", 60, []ledgerStep{native(fromStderr, strings.Repeat("x", 60)+"\n"), line("a"), opened("b"), native(fromStdout, "c\n\xe4")}, []string{strings.Repeat("x", 56), marker(60)}},
	{"the least budget", leastBudget, []ledgerStep{line(strings.Repeat("x", 100))}, []string{strings.Repeat("x", int(leastBudget)-4), marker(leastBudget)}},
}

func TestLedger(t *testing.T) {
	for _, c := range ledgerCases {
		t.Run(c.name, func(t *testing.T) {
			l, _ := play(c.limit, c.steps)
			if diff := cmp.Diff(c.want, l.entries); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			compareLedger(t, c.limit, c.steps)
		})
	}
}

// TestLedgerSurrogates has text whose lone surrogates the host can't hold: each
// costs the six bytes that it has in JSON.
func TestLedgerSurrogates(t *testing.T) {
	for count, fits := range map[int]bool{9: true, 10: false} {
		frame, err := wire.DecodeChild([]byte(`{"type":"log","text":"` + strings.Repeat(`\udc00`, count) + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		l := newLedger(60, nil)
		l.frame(frame.(*wire.Log))
		l.finish()
		if l.spent == fits {
			t.Errorf("%d surrogates: entries %q", count, l.entries)
		}
		if fits && l.used() != 6*9+3 {
			t.Errorf("%d surrogates cost %d", count, l.used())
		}
	}
}

// drawSteps draws what may reach a ledger. The pieces are small, and so are the
// budgets, so that all edges are met.
func drawSteps(t *rapid.T) []ledgerStep {
	pieces := rapid.SampledFrom([]string{
		"", "a", "bc", "\n", "x\ny", "\n\n", "é", "你", "😀", "\x00", "\"", "\x7f", "\r", "\t", "\uFFFD", "\u2028",
		"\xff", "\xc3", "\xa9", "\xed\xa0\x80", "\xf0\x9f", "\x98\x80", "\xe4\xbd", "\xa0", "0123456789", "\xf4\x90", "\xc0\x80",
	})
	step := rapid.Custom(func(t *rapid.T) ledgerStep {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 4).Draw(t, "pieces"), "")
		s := ledgerStep{from: source(rapid.IntRange(0, int(sources)-1).Draw(t, "from")), text: text}
		if s.from == fromFrames {
			s.text = strings.ToValidUTF8(text, "\uFFFD")
			s.open = rapid.Bool().Draw(t, "open")
			s.truncated = rapid.IntRange(0, 30).Draw(t, "truncated") == 0
		}
		return s
	})
	return rapid.SliceOfN(step, 0, 40).Draw(t, "steps")
}

func TestLedgerProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		compareLedger(t, rapid.Int64Range(leastBudget, 300).Draw(t, "limit"), drawSteps(t))
	})
}

// TestLedgerPieces cuts one native stream anywhere: the entries must not depend on
// where.
func TestLedgerPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole strings.Builder
		for _, step := range drawSteps(t) {
			whole.WriteString(step.text)
		}
		limit := rapid.Int64Range(leastBudget, 300).Draw(t, "limit")
		want, _ := play(limit, []ledgerStep{native(fromStdout, whole.String())})
		var steps []ledgerStep
		for rest := whole.String(); rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			steps = append(steps, native(fromStdout, rest[:n]))
			rest = rest[n:]
		}
		got, _ := play(limit, steps)
		if !slices.Equal(got.entries, want.entries) || got.used() != want.used() {
			t.Fatalf("in pieces %q, as a whole %q", got.entries, want.entries)
		}
	})
}

// TestLedgerMemory has text of any size: what the ledger holds is bounded by its
// budget, not by what arrives.
func TestLedgerMemory(t *testing.T) {
	const limit = 4096
	piece := []byte(strings.Repeat("x", nativePiece))
	l := newLedger(limit, nil)
	for range 1000 {
		l.native(fromStdout, piece)
		l.native(fromStderr, piece)
	}
	l.finish()
	if len(l.entries) != 2 || cap(l.text) > 2*limit {
		t.Errorf("%d entries, %d bytes held", len(l.entries), cap(l.text))
	}
	// A budget that is almost spent, by an entry that stays open.
	l = newLedger(limit, nil)
	for range limit {
		l.frame(&wire.Log{Text: "x", Open: true, Size: 3})
		l.frame(&wire.Log{Open: true, Size: 2})
	}
	if cap(l.text) > 2*limit || len(l.entries) != 2 {
		t.Errorf("%d bytes held, %d entries", cap(l.text), len(l.entries))
	}
}

// script writes steps as bytes, for the fuzzer.
func script(steps []ledgerStep) []byte {
	var b []byte
	for _, s := range steps {
		code := byte(s.from)
		if s.open {
			code |= 4
		}
		if s.truncated {
			code |= 8
		}
		for text := s.text; ; text = text[255:] { // in pieces of a size that a byte holds
			n := min(len(text), 255)
			b = append(append(b, code, byte(n)), text[:n]...)
			if n < 255 {
				break
			}
		}
	}
	return b
}

// steps reads a script. Any bytes are one.
func steps(b []byte) []ledgerStep {
	var found []ledgerStep
	for len(b) >= 2 {
		n := min(int(b[1]), len(b)-2)
		s := ledgerStep{from: source(b[0] & 3 % byte(sources)), text: string(b[2 : 2+n])}
		if s.from == fromFrames {
			s.open, s.truncated = b[0]&4 != 0, b[0]&8 != 0
			s.text = strings.ToValidUTF8(s.text, "\uFFFD")
		}
		found = append(found, s)
		b = b[2+n:]
	}
	return found
}

func FuzzLedger(f *testing.F) {
	for _, c := range ledgerCases {
		f.Add(uint16(c.limit), script(c.steps))
	}
	f.Fuzz(func(t *testing.T, limit uint16, b []byte) {
		if len(b) > 4096 {
			t.Skip("the model takes quadratic time")
		}
		compareLedger(t, max(int64(limit), leastBudget), steps(b))
	})
}
