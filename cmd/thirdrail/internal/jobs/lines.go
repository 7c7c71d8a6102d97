package jobs

import (
	"bufio"
	"bytes"
	"io"
)

// A line is one line of a stream.
type line struct {
	text  []byte // without its newline; nil when it is too long
	size  int64  // in bytes, with its newline
	long  bool   // it has more than the most, and was read past
	whole bool   // it ended with a newline
}

// lines cuts a stream into lines, of which one has at most max bytes. A longer one
// is read past in bounded memory.
type lines struct {
	r   *bufio.Reader
	max int
}

func newLines(r io.Reader, most int) *lines { return &lines{bufio.NewReaderSize(r, 64<<10), most} }

// next returns the next line, in memory of its own. A last line may lack its
// newline. The error is io.EOF at the end, and otherwise the stream's own.
func (l *lines) next() (line, error) {
	var next line
	for {
		piece, err := l.r.ReadSlice('\n')
		next.size += int64(len(piece))
		if err == nil {
			next.whole, piece = true, piece[:len(piece)-1]
		}
		if next.long = next.long || len(next.text)+len(piece) > l.max; next.long {
			next.text = nil
		} else {
			next.text = append(next.text, piece...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && next.size > 0:
			return next, nil
		default:
			return next, err
		}
	}
}

// blank tells whether there is nothing but JSON's white space in the line.
func (l line) blank() bool { return !l.long && len(bytes.Trim(l.text, " \t\r")) == 0 }
