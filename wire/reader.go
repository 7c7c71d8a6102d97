package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
)

// DefaultFrameBytes is the longest line that a [Reader] accepts when it is not
// told otherwise: 64 MiB.
const DefaultFrameBytes = 64 << 20

// ErrFrameTooLong is a line over the reader's limit. The error that wraps it
// names the limit.
var ErrFrameTooLong = errors.New("frame too long")

var errImpossibleCount = errors.New("wire: the underlying reader returned an impossible count")

const (
	firstBuffer = 16 << 10  // what a reader starts with
	keptBuffer  = 256 << 10 // what it may keep once a big line is gone
	emptyReads  = 100       // reads of nothing in a row before io.ErrNoProgress
)

// Reader cuts a stream into lines. It looks at each byte once, and its buffer
// grows with the bytes that have arrived, up to the limit. A Reader is for one
// goroutine at a time.
type Reader struct {
	r   io.Reader
	max int

	buf     []byte // the bytes held are buf[start:end]
	start   int
	scanned int // no newline lies in buf[start:scanned]
	end     int

	pending error // what r returned beside the bytes held
	sticky  error // what every further call returns
}

// NewReader returns a Reader of r's lines. A line may have maxBytes bytes, its
// newline not counted; maxBytes of 0 or less means [DefaultFrameBytes].
func NewReader(r io.Reader, maxBytes int) *Reader {
	if maxBytes <= 0 {
		maxBytes = DefaultFrameBytes
	}
	return &Reader{r: r, max: min(maxBytes, math.MaxInt-1)}
}

// Next returns the next line without its newline. The line is valid until the
// next call, and may be empty.
//
// An error of the underlying reader is returned as it is, once the lines that
// came before it are handed out, and nothing is lost: when it was a passing one,
// such as EAGAIN from a descriptor that does not block, the next call goes on
// where this one stopped. The end of the stream is io.EOF, or
// io.ErrUnexpectedEOF when it leaves a line without its newline, which is
// discarded. As soon as more bytes than the limit are held without a newline the
// error wraps [ErrFrameTooLong]. These three come again at every further call.
func (r *Reader) Next() ([]byte, error) {
	if r.sticky != nil {
		return nil, r.sticky
	}
	for {
		if i := bytes.IndexByte(r.buf[r.scanned:r.end], '\n'); i >= 0 {
			line := r.buf[r.start : r.scanned+i : r.scanned+i]
			r.start = r.scanned + i + 1
			r.scanned = r.start
			return line, nil
		}
		r.scanned = r.end
		if r.Buffered() > r.max {
			return nil, r.fail(fmt.Errorf("wire: %w: a line has more than %d bytes", ErrFrameTooLong, r.max))
		}
		if err := r.pending; err != nil {
			r.pending = nil
			if err != io.EOF {
				return nil, err
			}
			if r.Buffered() > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, r.fail(err)
		}
		r.makeRoom()
		if err := r.read(); err != nil {
			return nil, err
		}
	}
}

// Buffered returns the number of bytes that have arrived and are not yet part of
// a line that Next returned.
func (r *Reader) Buffered() int { return r.end - r.start }

// fail makes err the answer to every further call and lets the buffer go.
func (r *Reader) fail(err error) error {
	r.sticky = err
	r.buf, r.start, r.scanned, r.end = nil, 0, 0, 0
	return err
}

// read takes what the underlying reader has, at least one byte or an error,
// which it leaves in pending.
func (r *Reader) read() error {
	for range emptyReads {
		n, err := r.r.Read(r.buf[r.end:])
		if n < 0 || n > len(r.buf)-r.end {
			return r.fail(errImpossibleCount)
		}
		r.end += n
		r.pending = err
		if n > 0 || err != nil {
			return nil
		}
	}
	return io.ErrNoProgress
}

// makeRoom moves what is held, the beginning of one line, to the front of the
// buffer and leaves at least one free byte behind it. It is at most max bytes
// here, so a buffer of max+1 is always enough.
//
// A line's beginning is moved once, and growing doubles, so the copying is linear
// in the bytes that arrive. A big buffer whose line is gone is replaced by a small
// one, so that a few leftover bytes do not pin it.
func (r *Reader) makeRoom() {
	held := r.Buffered()
	size := len(r.buf)
	if size > keptBuffer && held < size/4 {
		size = max(keptBuffer, 2*held)
	}
	if held == size {
		size = max(firstBuffer, 2*held)
	}
	size = min(size, r.max+1)

	old := r.buf[r.start:r.end]
	if size != len(r.buf) {
		r.buf = make([]byte, size)
	} else if r.start == 0 {
		return
	}
	copy(r.buf, old)
	r.start, r.scanned, r.end = 0, held, held
}
