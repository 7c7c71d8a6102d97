package wire

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// script is a reader that hands out one piece a call: bytes, or an error when it
// holds none.
type script struct {
	pieces []piece
	reads  int
	widest int // the most room that a call offered
}

type piece struct {
	data string
	err  error
}

func (s *script) Read(p []byte) (int, error) {
	s.reads++
	s.widest = max(s.widest, len(p))
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	next := &s.pieces[0]
	n := copy(p, next.data)
	next.data = next.data[n:]
	if next.data != "" {
		return n, nil
	}
	err := next.err
	s.pieces = s.pieces[1:]
	return n, err
}

// lines reads r to its end and returns the lines and the final error. Passing
// errors are counted.
func lines(r *Reader) (got []string, passing int, err error) {
	for {
		line, err := r.Next()
		switch {
		case err == nil:
			got = append(got, string(line))
		case errors.Is(err, syscall.EAGAIN):
			passing++
		default:
			return got, passing, err
		}
	}
}

func TestReader(t *testing.T) {
	again := piece{err: syscall.EAGAIN}
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		max     int
		pieces  []piece
		want    []string
		passing int
		err     error
	}{
		{"nothing", 8, nil, nil, 0, io.EOF},
		{"one line", 8, []piece{{data: "abc\n"}}, []string{"abc"}, 0, io.EOF},
		{"empty lines", 8, []piece{{data: "\n\n\n"}}, []string{"", "", ""}, 0, io.EOF},
		{"many in one read", 8, []piece{{data: "a\nb\nc\n"}}, []string{"a", "b", "c"}, 0, io.EOF},
		{"carriage return stays", 8, []piece{{data: "a\r\n"}}, []string{"a\r"}, 0, io.EOF},
		{"in pieces", 8, []piece{{data: "a"}, {data: "b"}, {data: "\nc"}, {data: "\n"}}, []string{"ab", "c"}, 0, io.EOF},
		{"unfinished", 8, []piece{{data: "a\nb"}}, []string{"a"}, 0, io.ErrUnexpectedEOF},
		{"end with the last bytes", 8, []piece{{data: "a\nb\n", err: io.EOF}}, []string{"a", "b"}, 0, io.EOF},
		{"unfinished with the last bytes", 8, []piece{{data: "a\nb", err: io.EOF}}, []string{"a"}, 0, io.ErrUnexpectedEOF},
		{"would block", 8, []piece{again, {data: "a"}, again, again, {data: "b\n"}, again, {data: "c\n"}}, []string{"ab", "c"}, 4, io.EOF},
		{"bytes and would block", 8, []piece{{data: "a\nb", err: syscall.EAGAIN}, {data: "c\n"}}, []string{"a", "bc"}, 1, io.EOF},
		{"broken", 8, []piece{{data: "a\nb", err: broken}}, []string{"a"}, 0, broken},
		{"empty reads", 8, []piece{{}, {data: "a"}, {}, {}, {data: "\n"}}, []string{"a"}, 0, io.EOF},
		{"longest line", 8, []piece{{data: "12345678\n1234567\n"}}, []string{"12345678", "1234567"}, 0, io.EOF},
		{"longest line in pieces", 8, []piece{{data: "12345678"}, again, {data: "\n"}}, []string{"12345678"}, 1, io.EOF},
		{"one too many", 8, []piece{{data: "123456789\n"}}, nil, 0, ErrFrameTooLong},
		{"one too many, no newline", 8, []piece{{data: "a\n123456789"}, again}, []string{"a"}, 0, ErrFrameTooLong},
		{"one too many at last", 8, []piece{{data: "12345678"}, again, {data: "9"}, again}, nil, 1, ErrFrameTooLong},
		{"unfinished longest", 8, []piece{{data: "12345678"}}, nil, 0, io.ErrUnexpectedEOF},
		{"limit of one", 1, []piece{{data: "a\n\nb\ncc\n"}}, []string{"a", "", "b"}, 0, ErrFrameTooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(&script{pieces: slices.Clone(c.pieces)}, c.max)
			got, passing, err := lines(r)
			if !slices.Equal(got, c.want) || passing != c.passing || !errors.Is(err, c.err) {
				t.Errorf("got %q, %d passing errors, %v, want %q, %d, %v", got, passing, err, c.want, c.passing, c.err)
			}
		})
	}
}

func TestReaderErrorsStay(t *testing.T) {
	for _, c := range []struct {
		text string
		want error
	}{
		{"a\n", io.EOF}, {"a", io.ErrUnexpectedEOF}, {"123456789\nb\n", ErrFrameTooLong},
	} {
		source := &script{pieces: []piece{{data: c.text}}}
		r := NewReader(source, 8)
		_, _, err := lines(r)
		reads := source.reads
		for range 3 {
			if line, again := r.Next(); line != nil || again != err || !errors.Is(err, c.want) {
				t.Errorf("%q: got %q, %v, want %v again", c.text, line, again, c.want)
			}
		}
		if source.reads != reads || r.Buffered() != 0 {
			t.Errorf("%q: read again, or %d bytes are held", c.text, r.Buffered())
		}
	}
}

func TestReaderNamesTheLimit(t *testing.T) {
	_, err := NewReader(strings.NewReader(strings.Repeat("x", 5000)), 4096).Next()
	if err == nil || err.Error() != "wire: frame too long: a line has more than 4096 bytes" {
		t.Errorf("got error %v", err)
	}
}

func TestReaderOfNothing(t *testing.T) {
	if _, err := NewReader(iotest.ErrReader(nil), 8).Next(); err != io.ErrNoProgress {
		t.Errorf("got %v, want %v", err, io.ErrNoProgress)
	}
}

// lyingReader claims to have read a count that can't be.
type lyingReader int

func (r lyingReader) Read(p []byte) (int, error) {
	if r < 0 {
		return int(r), nil
	}
	return len(p) + int(r), nil
}

func TestReaderOfLies(t *testing.T) {
	for _, n := range []int{-1, 1, 1 << 40} {
		if _, err := NewReader(lyingReader(n), 8).Next(); err != errImpossibleCount {
			t.Errorf("%d: got %v, want %v", n, err, errImpossibleCount)
		}
	}
}

func TestReaderDefaultLimit(t *testing.T) {
	for _, n := range []int{0, -1} {
		if r := NewReader(strings.NewReader(""), n); r.max != DefaultFrameBytes {
			t.Errorf("NewReader(r, %d) has limit %d, want %d", n, r.max, DefaultFrameBytes)
		}
	}
	const most = int(^uint(0) >> 1)
	if got, _, err := lines(NewReader(strings.NewReader("a\n"), most)); len(got) != 1 || err != io.EOF {
		t.Errorf("with the largest limit: got %q, %v", got, err)
	}
}

func TestReaderBuffered(t *testing.T) {
	r := NewReader(&script{pieces: []piece{{data: "ab\ncd\nefg"}, {err: syscall.EAGAIN}}}, 100)
	for _, want := range []int{6, 3, 3} {
		r.Next()
		if got := r.Buffered(); got != want {
			t.Errorf("Buffered() = %d, want %d", got, want)
		}
	}
}

// The buffer follows the bytes that have arrived, and never passes the limit by
// more than the newline's byte.
func TestReaderGrowsWithWhatArrives(t *testing.T) {
	const limit = 1 << 20
	r := NewReader(iotest.HalfReader(strings.NewReader(strings.Repeat("x", limit)+"\n"+strings.Repeat("y", limit+1))), limit)
	line, err := r.Next()
	if err != nil || len(line) != limit {
		t.Fatalf("got %d bytes, %v, want %d", len(line), err, limit)
	}
	if cap(r.buf) > limit+1 {
		t.Errorf("the buffer has %d bytes, over the limit of %d", cap(r.buf), limit)
	}
	if _, err := r.Next(); !errors.Is(err, ErrFrameTooLong) || r.buf != nil {
		t.Errorf("got %v and a buffer of %d bytes, want %v and none", err, cap(r.buf), ErrFrameTooLong)
	}

	small := NewReader(strings.NewReader("short\n"), DefaultFrameBytes)
	if _, err := small.Next(); err != nil || cap(small.buf) > firstBuffer {
		t.Errorf("a short line: %v, a buffer of %d bytes", err, cap(small.buf))
	}
	for _, arrived := range []int{100_000, 1_000_000} {
		r := NewReader(&script{pieces: []piece{{data: strings.Repeat("x", arrived)}, {err: syscall.EAGAIN}}}, DefaultFrameBytes)
		if _, err := r.Next(); err != syscall.EAGAIN {
			t.Fatal(err)
		}
		if cap(r.buf) > 2*arrived+firstBuffer {
			t.Errorf("after %d bytes the buffer has %d", arrived, cap(r.buf))
		}
	}
}

// A big buffer goes once its line is gone, also when bytes of the next line stay.
func TestReaderShrinks(t *testing.T) {
	for _, rest := range []string{"", "leftover"} {
		source := &script{pieces: []piece{{data: strings.Repeat("x", 8<<20) + "\n" + rest}, {err: syscall.EAGAIN}, {data: "\n"}}}
		r := NewReader(source, DefaultFrameBytes)
		if line, err := r.Next(); err != nil || len(line) != 8<<20 {
			t.Fatal(len(line), err)
		}
		if _, err := r.Next(); err != syscall.EAGAIN {
			t.Fatal(err)
		}
		if cap(r.buf) > keptBuffer {
			t.Errorf("%d bytes of buffer are kept for %d bytes", cap(r.buf), r.Buffered())
		}
		if line, err := r.Next(); err != nil || string(line) != rest {
			t.Errorf("got %q, %v, want %q", line, err, rest)
		}
	}
}

// watcher is an underlying reader that looks at its Reader at each read.
type watcher struct {
	io.Reader
	of       *Reader
	buf      []byte // the Reader's buffer at the last read
	end      int    // where the bytes held ended after it
	moved    int    // bytes that were held and have moved since
	unlooked bool   // bytes held that are to be searched again
}

func (w *watcher) Read(p []byte) (int, error) {
	r := w.of
	if len(w.buf) == 0 || &w.buf[0] != &r.buf[0] || w.end != r.end {
		w.moved += r.Buffered()
	}
	if r.scanned != r.end {
		w.unlooked = true
	}
	n, err := w.Reader.Read(p)
	w.buf, w.end = r.buf, r.end+n
	return n, err
}

// Each byte is searched once, and moved a bounded number of times, however small
// the pieces and however the lines lie in them.
func TestReaderIsLinear(t *testing.T) {
	const size = 60_000
	text := strings.Repeat("x", size) + "\n" + strings.Repeat("y\n", size) + strings.Repeat(strings.Repeat("z", 3000)+"\n", 100)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole":    func(r io.Reader) io.Reader { return r },
		"halves":   iotest.HalfReader,
		"one byte": iotest.OneByteReader,
	} {
		w := &watcher{Reader: wrap(strings.NewReader(text))}
		w.of = NewReader(w, DefaultFrameBytes)
		if got, _, err := lines(w.of); len(got) != 1+size+100 || err != io.EOF {
			t.Fatalf("%s: got %d lines, %v", name, len(got), err)
		}
		if w.unlooked {
			t.Errorf("%s: bytes are searched twice", name)
		}
		if w.moved > 2*len(text) {
			t.Errorf("%s: %d bytes were moved for %d bytes read", name, w.moved, len(text))
		}
	}
}

// However the stream is cut, and wherever it would block, the lines are the same.
func TestReaderAnyChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\n{}"))).Draw(t, "text")
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		var pieces []piece
		for rest := text; rest != ""; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "piece")
			p := piece{data: rest[:n]}
			if n == 0 || rapid.Bool().Draw(t, "block") {
				p.err = syscall.EAGAIN
			}
			pieces = append(pieces, p)
			rest = rest[n:]
		}
		got, _, err := lines(NewReader(&script{pieces: pieces}, limit))
		want, wantErr := splitLines(text, limit)
		if !slices.Equal(got, want) || !errors.Is(err, wantErr) {
			t.Fatalf("got %q, %v, want %q, %v", got, err, want, wantErr)
		}
	})
}

// splitLines is what a Reader must make of a text, in the plainest way.
func splitLines(text string, limit int) (lines []string, err error) {
	for {
		line, rest, found := strings.Cut(text, "\n")
		switch {
		case len(line) > limit:
			return lines, ErrFrameTooLong
		case !found && line != "":
			return lines, io.ErrUnexpectedEOF
		case !found:
			return lines, io.EOF
		}
		lines = append(lines, line)
		text = rest
	}
}

func TestReaderLineIsWithinItsCapacity(t *testing.T) {
	r := NewReader(strings.NewReader("ab\ncd\n"), 8)
	first, _ := r.Next()
	_ = append(first, "XX"...) // must not write into the next line
	if second, err := r.Next(); err != nil || !bytes.Equal(second, []byte("cd")) {
		t.Errorf("got %q, %v, want %q", second, err, "cd")
	}
}
