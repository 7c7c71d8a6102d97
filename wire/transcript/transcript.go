// Package transcript reads conversations between a host and a child from files,
// and plays either side of them. The same file tests both: as the child it is
// played against a real host, as the host against a real child.
//
// A file is lines of text:
//
//	# a comment
//	plays: host child      which real sides it tests: one of them or both
//	> {"type":"run",...}   a frame from the host
//	< {"type":"done",...}  a frame from the child
//	<! junk                a line from the child that is no frame
//	value: [1,2]           the outcome: a value,
//	value: absent          no value,
//	error: exception       or an error of that kind,
//	message: "KeyError"    whose message contains this JSON string
//	logs: ["a","b"]        the log entries that the host keeps; none if left out
//
// The number profile is the one that the conversation's boot frame asks for.
package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// Side is a side of the conversation.
type Side byte

// The two sides, by the mark that their lines have in a file.
const (
	Host  Side = '>'
	Child Side = '<'
)

// String returns "host" or "child".
func (s Side) String() string {
	if s == Host {
		return "host"
	}
	return "child"
}

// Transcript is one conversation.
type Transcript struct {
	// Name is the file's name without its extension.
	Name string
	// Host and Child tell which real sides it tests.
	Host, Child bool
	// Steps are the lines in order. The first two are boot and boot-ack.
	Steps []Step
	// Outcome is what the host must make of it.
	Outcome Outcome

	decoder wire.Decoder
}

// Step is a line of the conversation.
type Step struct {
	From Side
	// Line is the text without its newline, as it stands in the file.
	Line string
	// Frame is what the line says, nil if it is no frame.
	Frame wire.Frame
	// Number is the line's number in the file.
	Number int
}

// Outcome is how a run ends.
type Outcome struct {
	// Value is what the program returned, absent if it returned nothing.
	Value lossless.Value
	// Error is the kind of error, empty for a program that succeeded.
	Error wire.ErrorKind
	// Message is what the error's message contains.
	Message string
	// Logs are the entries that the host keeps.
	Logs []string
}

// Load reads each file named *.txt of a folder, in the order of their names.
func Load(folder fs.FS) ([]*Transcript, error) {
	names, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("transcript: no *.txt files in the folder")
	}
	var all []*Transcript
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		t, err := Parse(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// Parse reads the text of a file. Errors name the file and the line.
func Parse(name, text string) (*Transcript, error) {
	t := &Transcript{Name: strings.TrimSuffix(path.Base(name), ".txt")}
	for i, line := range strings.Split(text, "\n") {
		if err := t.parseLine(line, i+1); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

func (t *Transcript) parseLine(line string, number int) error {
	mark, rest, _ := strings.Cut(line, " ")
	switch mark {
	case "", "#":
		return nil
	case ">", "<":
		return t.parseFrame(Step{From: Side(mark[0]), Line: rest, Number: number})
	case "<!":
		if frame, err := t.decoder.Child([]byte(rest)); err == nil {
			return fmt.Errorf("this line is a %s frame, so it needs the mark < alone", frame.FrameType())
		}
		t.Steps = append(t.Steps, Step{From: Child, Line: rest, Number: number})
		return nil
	case "plays:":
		return t.parsePlays(rest)
	}
	return t.Outcome.parse(mark, rest)
}

func (t *Transcript) parseFrame(s Step) (err error) {
	decode := t.decoder.Child
	if s.From == Host {
		decode = t.decoder.Host
	}
	if s.Frame, err = decode([]byte(s.Line)); err != nil {
		return err
	}
	if boot, ok := s.Frame.(*wire.Boot); ok {
		t.decoder.Numbers = boot.Numbers.Profile()
	}
	t.Steps = append(t.Steps, s)
	return nil
}

func (t *Transcript) parsePlays(sides string) error {
	for _, side := range strings.Fields(sides) {
		switch side {
		case "host":
			t.Host = true
		case "child":
			t.Child = true
		default:
			return fmt.Errorf("plays: %q is neither host nor child", side)
		}
	}
	return nil
}

func (o *Outcome) parse(mark, rest string) (err error) {
	switch mark {
	case "value:":
		if rest != "absent" {
			o.Value, err = lossless.Parse([]byte(rest), lossless.Options{})
		}
		return err
	case "error:":
		o.Error = wire.ErrorKind(rest)
		return nil
	case "message:":
		return json.Unmarshal([]byte(rest), &o.Message)
	case "logs:":
		return json.Unmarshal([]byte(rest), &o.Logs)
	}
	return fmt.Errorf("a line starts with #, >, <, <!, plays:, value:, error:, message: or logs:, not with %q", mark)
}

// check refuses a file that would test nothing.
func (t *Transcript) check() error {
	if !t.Host && !t.Child {
		return errors.New("no line says plays: host, plays: child or both")
	}
	if len(t.Steps) < 2 {
		return errors.New("there is no conversation")
	}
	_, boot := t.Steps[0].Frame.(*wire.Boot)
	_, ack := t.Steps[1].Frame.(*wire.BootAck)
	if !boot || !ack {
		return errors.New("the first two frames must be boot and boot-ack")
	}
	for _, s := range t.Steps {
		if s.Frame == nil && t.Child {
			return fmt.Errorf("line %d is junk, which no real child sends: this can only play host", s.Number)
		}
	}
	return nil
}

// Boot returns the conversation's boot frame.
func (t *Transcript) Boot() *wire.Boot { return t.Steps[0].Frame.(*wire.Boot) }

// Run returns the conversation's run frame, or nil if it has none.
func (t *Transcript) Run() *wire.Run {
	for _, s := range t.Steps {
		if run, ok := s.Frame.(*wire.Run); ok {
			return run
		}
	}
	return nil
}

// Replies returns what the host answers, in the order in which it does.
func (t *Transcript) Replies() []wire.Reply {
	var replies []wire.Reply
	for _, s := range t.Steps {
		if reply, ok := s.Frame.(wire.Reply); ok {
			replies = append(replies, reply)
		}
	}
	return replies
}
