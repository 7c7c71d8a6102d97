package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// PlayHost plays the host against a real child on conn, and returns how the two
// differ from the transcript. It returns after the child's last frame.
//
// What a frame says must be as written, save what only the real side knows: boot
// and boot-ack may have further optional fields, boot.addressSpaceBytes may be
// any, and an error's message must only contain the one that is written. Log
// frames may be cut in other places and come at other times than written: their
// entries are compared at the end. Replies, and calls, that follow each other in
// the file may come in any order.
//
// Each side writes when it is its turn, without regard to what the other side is
// about to write, so conn needs a buffer, such as a socket has.
func (t *Transcript) PlayHost(conn io.ReadWriter) error { return t.play(conn, Host) }

// PlayChild plays the child against a real host on conn, as [Transcript.PlayHost]
// plays the host.
func (t *Transcript) PlayChild(conn io.ReadWriter) error { return t.play(conn, Child) }

func (t *Transcript) play(conn io.ReadWriter, side Side) error {
	p := player{t: t, side: side, in: wire.NewReader(conn, 0)}
	for steps := t.Steps; len(steps) > 0; {
		turn := slices.IndexFunc(steps, func(s Step) bool { return s.From != steps[0].From })
		if turn < 0 {
			turn = len(steps)
		}
		play := p.hear
		if steps[0].From == side {
			play = func(steps []Step) error { return say(conn, steps) }
		}
		if err := play(steps[:turn]); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		steps = steps[turn:]
	}
	if side == Child {
		return nil
	}
	limit := t.Boot().MaxLogBytes
	want, got := Entries(logsOf(t.Steps), limit), Entries(p.logs, limit)
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s: the log entries are %q, want %q", t.Name, got, want)
	}
	return nil
}

func say(w io.Writer, steps []Step) error {
	for _, s := range steps {
		if _, err := io.WriteString(w, s.Line+"\n"); err != nil {
			return fmt.Errorf("line %d: %w", s.Number, err)
		}
	}
	return nil
}

// player hears the real side.
type player struct {
	t    *Transcript
	side Side // the side that is played
	in   *wire.Reader
	logs []*wire.Log // all that were heard
}

// hear reads the frames that the real side must send in one turn.
func (p *player) hear(steps []Step) error {
	expected := slices.DeleteFunc(slices.Clone(steps), isLog)
	for len(expected) > 0 {
		got, err := p.next()
		if err != nil {
			return fmt.Errorf("line %d: waiting for %s: %w", expected[0].Number, expected[0].Frame.FrameType(), err)
		}
		i, err := find(expected, got)
		if err != nil {
			return err
		}
		expected = slices.Delete(expected, i, i+1)
	}
	return nil
}

func isLog(s Step) bool {
	_, ok := s.Frame.(*wire.Log)
	return ok
}

// next returns the next frame that is no log.
func (p *player) next() (wire.Frame, error) {
	decode := p.t.decoder.Child
	if p.side == Child {
		decode = p.t.decoder.Host
	}
	for {
		line, err := p.in.Next()
		if err != nil {
			return nil, err
		}
		frame, err := decode(line)
		if err != nil {
			return nil, err
		}
		log, ok := frame.(*wire.Log)
		if !ok {
			return frame, nil
		}
		p.logs = append(p.logs, log)
	}
}

// find returns which expected frame got is. Only calls and replies may come
// before an earlier one of their type.
func find(expected []Step, got wire.Frame) (int, error) {
	first := expected[0]
	for i, s := range expected {
		if i > 0 && (s.Frame.FrameType() != first.Frame.FrameType() || !anyOrder(s.Frame)) {
			break
		}
		if same(s.Frame, got) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("line %d: got %s, want %s", first.Number, show(got), show(first.Frame))
}

func anyOrder(f wire.Frame) bool {
	switch f.(type) {
	case *wire.Call, wire.Reply:
		return true
	}
	return false
}

// same tells whether got says what want says, as PlayHost explains.
func same(want, got wire.Frame) bool {
	switch w := want.(type) {
	case *wire.Boot:
		g, ok := got.(*wire.Boot)
		return ok && sameBoot(w, *g)
	case *wire.Run:
		g, ok := got.(*wire.Run)
		if ok && w.FileName == "" && g.FileName == wire.DefaultFileName {
			return g.Program == w.Program && g.Data.String() == w.Data.String()
		}
	case *wire.BootAck:
		g, ok := got.(*wire.BootAck)
		return ok && orAbsent(g.Proof, w.Proof).String() == w.Proof.String()
	case *wire.Done:
		g, ok := got.(*wire.Done)
		if ok && w.Error != nil && g.Error != nil {
			return g.Error.Kind == w.Error.Kind && strings.Contains(g.Error.Message, w.Error.Message)
		}
	}
	return bytes.Equal(wire.Append(nil, want), wire.Append(nil, got))
}

// sameBoot compares boot frames once got has lost what the transcript leaves open.
func sameBoot(want *wire.Boot, got wire.Boot) bool {
	got.AddressSpaceBytes = want.AddressSpaceBytes
	got.Confinement = orAbsent(got.Confinement, want.Confinement)
	got.OpenLogs = got.OpenLogs && want.OpenLogs
	if want.Numbers == "" && got.Numbers == wire.NumbersDouble {
		got.Numbers = ""
	}
	return bytes.Equal(wire.Append(nil, want), wire.Append(nil, &got))
}

// orAbsent returns got, unless nothing is wanted.
func orAbsent(got, want lossless.Value) lossless.Value {
	if !want.Exists() {
		return want
	}
	return got
}

// show returns a frame's beginning for a message.
func show(f wire.Frame) string {
	const most = 200
	line := strings.TrimSuffix(string(wire.Append(nil, f)), "\n")
	if len(line) > most {
		return strings.ToValidUTF8(line[:most], "") + "..."
	}
	return line
}

func logsOf(steps []Step) (logs []*wire.Log) {
	for _, s := range steps {
		if log, ok := s.Frame.(*wire.Log); ok {
			logs = append(logs, log)
		}
	}
	return logs
}

// Entries returns the log entries that an honest child's log frames make: open
// frames are joined with the one that follows, and the child's own notice that
// its budget is spent ends the log with the marker. An honest child keeps to its
// budget, so it is not metered here.
func Entries(logs []*wire.Log, maxLogBytes int64) []string {
	var entries []string
	var line strings.Builder
	for _, log := range logs {
		if log.Truncated {
			if line.Len() > 0 {
				entries = append(entries, line.String())
			}
			return append(entries, wire.LogTruncationMarker(maxLogBytes))
		}
		line.WriteString(log.Text)
		if !log.Open {
			entries = append(entries, line.String())
			line.Reset()
		}
	}
	if line.Len() > 0 {
		entries = append(entries, line.String())
	}
	return entries
}

// Check compares how a run ended with the transcript's outcome. An error's
// message must contain the one that is written.
func (t *Transcript) Check(got Outcome) error {
	want := t.Outcome
	switch {
	case got.Error != want.Error:
		return fmt.Errorf("%s: the error is %q (%q), want %q", t.Name, got.Error, got.Message, want.Error)
	case !strings.Contains(got.Message, want.Message):
		return fmt.Errorf("%s: the message is %q, want one that contains %q", t.Name, got.Message, want.Message)
	case got.Value.Exists() != want.Value.Exists() || got.Value.String() != want.Value.String():
		return fmt.Errorf("%s: the value is %.200s, want %.200s", t.Name, showValue(got.Value), showValue(want.Value))
	case !slices.Equal(got.Logs, want.Logs):
		return fmt.Errorf("%s: the log entries are %q, want %q", t.Name, got.Logs, want.Logs)
	}
	return nil
}

func showValue(v lossless.Value) string {
	if !v.Exists() {
		return "absent"
	}
	return v.String()
}

var errNoDone = errors.New("the conversation has no done")

// Settle returns the outcome that the conversation's own frames make: what a host
// does with the first done, and Entries with the log frames before it. A test
// compares it with the outcome that the file states.
func (t *Transcript) Settle() (Outcome, error) {
	for i, s := range t.Steps {
		done, ok := s.Frame.(*wire.Done)
		if !ok {
			continue
		}
		o := Outcome{Logs: Entries(logsOf(t.Steps[:i]), t.Boot().MaxLogBytes)}
		switch {
		case done.Error != nil:
			o.Error, o.Message = done.Error.Kind, done.Error.Message
		case done.Size > t.Boot().MaxValueBytes:
			o.Error = wire.KindOutputLimit
		case done.Fault != nil:
			o.Error, o.Message = wire.KindInvalidOutput, done.Fault.Error()
		default:
			o.Value = done.Value
		}
		return o, nil
	}
	return Outcome{}, errNoDone
}
