package wire

import (
	"fmt"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Decoder turns lines into frames. The zero value decodes under the Exact
// profile and keeps a value of any size.
type Decoder struct {
	// Numbers is the profile that call.args, reply.value and run.data must keep,
	// and that done.value is judged by.
	Numbers lossless.Numbers
	// ValueBytes is the budget of done.value in canonical bytes. A value over it
	// is measured and not copied: Done.Size tells, and Done.Value is absent. Zero
	// means no budget.
	ValueBytes int64
	// ArgsBytes is the largest canonical size of call.args. The Double profile can
	// spell a number sixty times as long as the frame did, so a frame that is
	// short enough may hold arguments that are not. Zero means no bound.
	ArgsBytes int64
}

// DecodeChild decodes a line from a child under the Exact profile, see
// [Decoder.Child].
func DecodeChild(line []byte) (Frame, error) { return Decoder{}.Child(line) }

// Child decodes one line from a child, without its newline, into a *[BootAck],
// *[Call], *[Log] or *[Done]. White space around the object is accepted. Nothing
// in the frame refers to line.
//
// Any other line is an error and no frame: malformed JSON, invalid UTF-8, a name
// twice in one object at any level, an unknown type, a required member that is
// missing or of another type, a number in a call that the profile refuses.
// Members that are not declared are held to JSON, and forgotten.
//
// The optional members of log count only as the literal true, and are ignored
// otherwise. When done has both value and error, the error stays.
func (d Decoder) Child(line []byte) (Frame, error) {
	var f fields
	switch f.open(line, d.Numbers, childMembers); f.path {
	case "boot-ack":
		return f.result(f.bootAck())
	case "call":
		return f.result(f.call(d.ArgsBytes))
	case "log":
		return f.result(f.log())
	case "done":
		return f.result(f.done(d.ValueBytes))
	}
	return f.unknownType("boot-ack, call, log or done")
}

// Host decodes one line from a host, without its newline, into a *[Boot], *[Run],
// *[ReplyValue] or *[ReplyError]. It serves children of another make, fakes in
// tests and transcripts, and is as strict as [Decoder.Child].
func (d Decoder) Host(line []byte) (Frame, error) {
	var f fields
	switch f.open(line, d.Numbers, hostMembers); f.path {
	case "boot":
		return f.result(f.boot())
	case "run":
		return f.result(f.run())
	case "reply":
		return f.result(f.reply())
	}
	return f.unknownType("boot, run or reply")
}

// The names that the frames of each direction declare, and those of the objects
// inside them.
var (
	childMembers = []string{
		"type", "text", "open", "truncated", "id", "global", "name", "args", "value", "error", "proof",
	}
	hostMembers = []string{
		"type", "id", "ok", "value", "message", "program", "fileName", "data", "lastExpression",
		"cpuSeconds", "addressSpaceBytes", "maxLogBytes", "maxValueBytes", "namespaces",
		"numbers", "openLogs", "confinement",
	}
	doneErrorMembers  = []string{"kind", "message"}
	namespaceMembers  = []string{"global", "names", "errorClass", "splitArguments", "handles"}
	errorClassMembers = []string{"name", "memberNameProperty"}
)

func (f *fields) bootAck() Frame {
	return &BootAck{Proof: f.optionalObject("proof")}
}

func (f *fields) call(argsBytes int64) Frame {
	if size := f.get("args").Size; argsBytes > 0 && size > argsBytes {
		f.fail("args", ErrMemberValue, fmt.Sprintf("at most %d bytes when canonical, not %d", argsBytes, size))
	}
	call := &Call{
		ID:     f.integer("id"),
		Global: f.text("global"),
		Name:   f.text("name"),
		Args:   f.value("args"),
	}
	f.refuse(f.path, f.fault) // in a member that is not declared
	return call
}

func (f *fields) log() Frame {
	return &Log{
		Text:      f.text("text"),
		Truncated: f.isTrue("truncated"),
		Open:      f.isTrue("open"),
		Size:      f.get("text").Size,
	}
}

// done reads the end of a run. A number that the profile refuses, wherever in the
// frame, makes it an end with invalid output: to drop the frame would leave the
// run without an end.
func (f *fields) done(valueBytes int64) Frame {
	if f.has("error") {
		var e fields
		f.object("error", &e, doneErrorMembers)
		done := &Done{Error: &DoneError{
			Kind:    ErrorKind(e.oneOf("kind", ErrorKind("").literals())),
			Message: e.text("message"),
		}}
		f.adopt(&e)
		return done
	}
	value := f.get("value")
	done := &Done{Size: value.Size, Fault: value.Fault}
	if done.Fault == nil {
		done.Fault = f.fault
	}
	if f.has("value") && done.Fault == nil && (valueBytes == 0 || done.Size <= valueBytes) {
		done.Value = kept(value)
	}
	return done
}

func (f *fields) boot() Frame {
	return &Boot{
		CPUSeconds:        f.integer("cpuSeconds"),
		AddressSpaceBytes: f.integer("addressSpaceBytes"),
		MaxLogBytes:       f.integer("maxLogBytes"),
		MaxValueBytes:     f.integer("maxValueBytes"),
		Namespaces:        f.namespaces("namespaces"),
		Numbers:           Numbers(f.optionalOneOf("numbers", Numbers("").literals())),
		OpenLogs:          f.isTrue("openLogs"),
		Confinement:       f.optionalObject("confinement"),
	}
}

func (f *fields) namespaces(name string) []Namespace {
	list := []Namespace{}
	for element := range f.elements(name, namespaceMembers) {
		n := Namespace{
			Global: element.text("global"),
			Names:  element.texts("names"),

			SplitArguments: element.isTrue("splitArguments"),
			Handles:        element.optionalText("handles"),
		}
		if element.has("errorClass") {
			var class fields
			element.object("errorClass", &class, errorClassMembers)
			n.ErrorClass = &ErrorClass{
				Name:               class.text("name"),
				MemberNameProperty: class.text("memberNameProperty"),
			}
			element.adopt(&class)
		}
		list = append(list, n)
	}
	return list
}

func (f *fields) run() Frame {
	return &Run{
		Program:  f.text("program"),
		FileName: f.optionalText("fileName"),
		Data:     f.optionalValue("data"),

		LastExpression: f.isTrue("lastExpression"),
	}
}

func (f *fields) reply() Frame {
	id := f.integer("id")
	ok := f.expect("ok", anything, "true or false")
	if ok == nil {
		return nil
	}
	switch string(ok.Text) {
	case "true":
		return &ReplyValue{ID: id, Value: f.value("value")}
	case "false":
		return &ReplyError{ID: id, Message: f.text("message")}
	}
	f.fail("ok", ErrMemberType, "true or false")
	return nil
}
