package thirdrail

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// source is where log text came from. Text of another source ends an unfinished
// line.
type source int

const (
	fromFrames source = iota // the child's log frames
	fromStdout               // bytes on descriptor 1
	fromStderr               // bytes on descriptor 2
	sources
)

// ledger keeps a run's log entries within Limits.LogBytes. The child keeps such a
// ledger too; this one holds whatever the child sends, and counts the bytes that
// go past it.
//
// The budget counts the entries as a compact JSON array: it starts at one byte
// less than LogBytes, and an entry costs its JSON string and a comma.
type ledger struct {
	max   int64
	left  int64
	spent bool

	entries []string
	onLog   func(string)

	open   bool // an entry waits for its newline
	owner  source
	goesOn bool            // the last frame said that the next one goes on with its entry
	text   []byte          // the open entry's
	broken [sources][]byte // the beginning of a character that is not whole yet
}

func newLedger(maxBytes int64, onLog func(string)) *ledger {
	return &ledger{max: maxBytes, left: maxBytes - 1, onLog: onLog}
}

// frame takes a log frame.
func (l *ledger) frame(f *wire.Log) {
	switch {
	case l.spent:
	case f.Truncated:
		l.truncate("")
	case f.Open && f.Text == "":
	case f.Text == "" && l.goesOn && !(l.open && l.owner == fromFrames):
		l.goesOn = false // text of another source has ended that entry already
	default:
		l.goesOn = f.Open
		l.add(fromFrames, f.Text, f.Size-2)
		if !f.Open {
			l.end()
		}
	}
}

// native takes bytes that the child wrote to descriptor 1 or 2.
func (l *ledger) native(from source, data []byte) {
	for len(data) > 0 && !l.spent {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		if text := l.decode(from, line, whole); text != "" || whole {
			l.add(from, text, contentSize(text, l.left))
			if whole {
				l.end()
			}
		}
		data = rest
	}
}

// decode turns a piece of a line into text, with U+FFFD for each byte that is no
// UTF-8. A character that the next piece may complete is kept back.
func (l *ledger) decode(from source, piece []byte, whole bool) string {
	if len(l.broken[from]) > 0 {
		piece = append(l.broken[from], piece...)
		l.broken[from] = nil
	}
	if !whole {
		start := len(piece) - 1
		for start > 0 && len(piece)-start < utf8.UTFMax && !utf8.RuneStart(piece[start]) {
			start--
		}
		if start >= 0 && !utf8.FullRune(piece[start:]) {
			l.broken[from] = bytes.Clone(piece[start:])
			piece = piece[:start]
		}
	}
	if utf8.Valid(piece) {
		return string(piece)
	}
	var text strings.Builder
	for _, r := range string(piece) {
		text.WriteRune(r)
	}
	return text.String()
}

// add puts text, whose JSON string takes size bytes within its quotes, into the
// open entry, or opens one.
func (l *ledger) add(from source, text string, size int64) {
	if l.spent {
		return
	}
	if l.open && l.owner != from {
		l.end()
	}
	cost := size
	if !l.open {
		cost += 3
	}
	if cost > l.left {
		l.truncate(l.fitting(text))
		return
	}
	l.left -= cost
	l.open, l.owner = true, from
	l.text = append(l.text, text...)
}

// end completes the open entry.
func (l *ledger) end() {
	if l.open {
		entry := string(l.text)
		l.open, l.text = false, nil
		l.emit(entry)
	}
}

// finish completes what is still open when the child is gone.
func (l *ledger) finish() {
	for from := range sources {
		if n := len(l.broken[from]); n > 0 && !l.spent {
			l.broken[from] = nil
			text := strings.Repeat("\uFFFD", n)
			l.add(from, text, contentSize(text, l.left))
		}
	}
	l.end()
}

// truncate adds what fits, then the marker, and ends the capture.
func (l *ledger) truncate(fitting string) {
	if fitting != "" {
		l.text = append(l.text, fitting...)
		l.open = true
	}
	l.end()
	l.spent = true
	l.left = 0
	l.emit(wire.LogTruncationMarker(l.max))
}

func (l *ledger) emit(entry string) {
	l.entries = append(l.entries, entry)
	if l.onLog != nil {
		l.onLog(entry)
	}
}

// fitting returns the longest beginning of text that the budget still holds.
func (l *ledger) fitting(text string) string {
	room := l.left
	if !l.open {
		room -= 3
	}
	for i, r := range text {
		if room -= contentSize(text[i:i+utf8.RuneLen(r)], room); room < 0 {
			return text[:i]
		}
	}
	return text
}

// contentSize returns what text takes in a JSON string, without the quotes. It
// stops counting once over room.
func contentSize(text string, room int64) int64 {
	size, ok := lossless.StringSize(text, int(max(room, 0))+2)
	if !ok {
		return room + 1
	}
	return int64(size) - 2
}

// used returns what the entries cost.
func (l *ledger) used() int64 {
	if l.spent {
		return l.max
	}
	return l.max - 1 - l.left
}
