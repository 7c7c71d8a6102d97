package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

func FuzzChild(f *testing.F) { fuzzDecoder(f, Decoder.Child) }

func FuzzHost(f *testing.F) { fuzzDecoder(f, Decoder.Host) }

// fuzzDecoder decodes hostile lines under both profiles. The lines of both
// directions are seeds of each.
func fuzzDecoder(f *testing.F, decode func(Decoder, []byte) (Frame, error)) {
	const small = 1 << 12 // seeds stay short, the long cases are unit tests
	for _, d := range decoders {
		for _, c := range d.frames {
			if len(c.line) < small {
				f.Add([]byte(c.line))
			}
		}
		for _, c := range d.junk {
			if len(c.line) < small {
				f.Add([]byte(c.line))
			}
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, d := range []Decoder{{}, {Numbers: lossless.Double}, {ValueBytes: 8}} {
			frame, err := decode(d, bytes.Clone(line))
			if err != nil {
				if frame != nil {
					t.Fatalf("both a frame and an error: %v", err)
				}
				checkMessage(t, err, "")
				continue
			}
			checkDecoded(t, line, frame)
			checkAgain(t, frame, func(line []byte) (Frame, error) { return decode(d, line) })
		}
	})
}

// checkDecoded holds a frame against the line that it came from.
func checkDecoded(t *testing.T, line []byte, frame Frame) {
	t.Helper()
	if !utf8.Valid(line) {
		t.Errorf("a frame of invalid UTF-8: %q", line)
	}
	if bytes.Count(line, []byte{'['})+bytes.Count(line, []byte{'{'}) < 10_000 && !json.Valid(line) {
		t.Errorf("a frame of what is not JSON: %q", line)
	}
	for name := range memberNames(t, frame) {
		if !declares(frame, name) {
			t.Errorf("%T has a member %q that is not declared", frame, name)
		}
	}
	if done, ok := frame.(*Done); ok {
		if done.Error != nil && (done.Value.Exists() || done.Size != 0 || done.Fault != nil) {
			t.Errorf("an error and a value: %+v", done)
		}
		if done.Fault != nil && done.Value.Exists() {
			t.Errorf("a value with a refused number: %+v", done)
		}
		if done.Value.Exists() && done.Size != int64(len(done.Value.Bytes())) {
			t.Errorf("the size is %d of %s", done.Size, done.Value)
		}
	}
}

func declares(f Frame, name string) bool {
	for field := range declaredFields(reflect.TypeOf(f).Elem()) {
		if field.name == name {
			return true
		}
	}
	return false
}

// checkAgain encodes a frame, decodes it and expects the same.
func checkAgain(t *testing.T, frame Frame, decode func([]byte) (Frame, error)) {
	t.Helper()
	line := Append(nil, frame)
	got, err := decode(line[:len(line)-1])
	if err != nil {
		t.Fatalf("%q, which was encoded, is refused: %v", line, err)
	}
	switch want := frame.(type) {
	case *Log: // U+FFFD is smaller than the lone surrogate that it stands for
		got := got.(*Log)
		if got.Size > want.Size {
			t.Errorf("the size has grown from %d to %d", want.Size, got.Size)
		}
		got.Size = want.Size
	case *Done: // what was not kept is not sent again
		got := got.(*Done)
		if !want.Value.Exists() {
			got.Size, got.Fault = want.Size, want.Fault
		}
	}
	if diff := cmp.Diff(frame, got, sameFrame); diff != "" {
		t.Errorf("%q (-first +again):\n%s", line, diff)
	}
	if again := Append(nil, got); !bytes.Equal(again, line) {
		t.Errorf("encoded as %q, then as %q", line, again)
	}
}

// FuzzReader cuts a text into pieces as cuts says: each byte is the length of a
// piece, and a zero a read that would block.
func FuzzReader(f *testing.F) {
	f.Add([]byte("one\ntwo\n\nthree"), []byte{1, 0, 5, 0, 0, 200}, uint16(5))
	f.Add([]byte("12345678\n123456789\n"), []byte{8, 0}, uint16(8))
	f.Add(bytes.Repeat([]byte("x"), 40_000), []byte{255}, uint16(60_000))
	f.Fuzz(func(t *testing.T, text, cuts []byte, limit uint16) {
		max := int(limit) + 1
		var pieces []piece
		rest := string(text)
		for _, n := range cuts {
			size := min(int(n), len(rest))
			p := piece{data: rest[:size]}
			if n == 0 {
				p.err = syscall.EAGAIN
			} else if size == 0 {
				continue // many reads of nothing in a row are another error
			}
			pieces = append(pieces, p)
			rest = rest[size:]
		}
		pieces = append(pieces, piece{data: rest})
		r := NewReader(&script{pieces: pieces}, max)
		var got []string
		for {
			line, err := r.Next()
			if cap(r.buf) > max+1 || r.Buffered() > max+1 {
				t.Fatalf("the buffer has %d bytes, over the limit of %d", cap(r.buf), max)
			}
			if errors.Is(err, syscall.EAGAIN) {
				continue
			}
			if err != nil {
				want, wantErr := splitLines(string(text), max)
				if !slices.Equal(got, want) || !errors.Is(err, wantErr) {
					t.Fatalf("got %q, %v, want %q, %v", got, err, want, wantErr)
				}
				return
			}
			got = append(got, string(line))
		}
	})
}
