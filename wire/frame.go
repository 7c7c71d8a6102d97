package wire

import "github.com/thirdrail-dev/thirdrail/lossless"

// MaxInteger is the largest integer that a frame's own number fields carry:
// 2^53−1, the largest that every JSON implementation holds exactly.
const MaxInteger = 1<<53 - 1

// Frame is one message of the protocol: *[Boot], *[Run], *[ReplyValue] and
// *[ReplyError] from the host, *[BootAck], *[Call], *[Log] and *[Done] from the
// child.
type Frame interface {
	// FrameType returns the frame's member "type".
	FrameType() string

	appendTo(dst []byte) []byte
}

// Reply is the host's answer to a call: *[ReplyValue] or *[ReplyError].
type Reply interface {
	Frame

	// CallID returns the id of the call that is answered.
	CallID() int64
}

// hostFrames and childFrames hold one of each frame, by who sends it. The mirror
// test reads their types.
var (
	hostFrames  = []Frame{(*Boot)(nil), (*Run)(nil), (*ReplyValue)(nil), (*ReplyError)(nil)}
	childFrames = []Frame{(*BootAck)(nil), (*Call)(nil), (*Log)(nil), (*Done)(nil)}
)

// Boot is the first frame: what the child may use, and which functions the
// program may call. The four numbers lie between 0 and [MaxInteger].
type Boot struct {
	_ struct{} `wire:"type=boot"`

	// CPUSeconds is the CPU time that the child may use, in whole seconds.
	CPUSeconds int64 `json:"cpuSeconds"`
	// AddressSpaceBytes is the memory that the child may map.
	AddressSpaceBytes int64 `json:"addressSpaceBytes"`
	// MaxLogBytes is the budget of all log entries together, see wire.md.
	MaxLogBytes int64 `json:"maxLogBytes"`
	// MaxValueBytes is the largest canonical size of done's value.
	MaxValueBytes int64 `json:"maxValueBytes"`
	// Namespaces are the objects of functions among the program's globals. Nil
	// is sent as an empty array.
	Namespaces []Namespace `json:"namespaces"`

	// Numbers is the number profile. Absent (empty) means NumbersDouble.
	Numbers Numbers `json:"numbers,omitempty"`
	// OpenLogs lets the child send log frames with Open set.
	OpenLogs bool `json:"openLogs,omitempty" wire:"true"`
	// Confinement is what the child may do, as a JSON object that the host
	// composes and the child applies. Absent means no confinement by the child.
	Confinement lossless.Value `json:"confinement,omitzero" wire:"object"`
}

// Namespace is one object of functions that the program finds under its global
// name.
type Namespace struct {
	Global string `json:"global"`
	// Names are the functions, in any order. Nil is sent as an empty array.
	Names []string `json:"names"`
	// ErrorClass is what rejected calls raise. Nil means RuntimeError. Namespaces
	// whose classes have the same name and member share one class.
	ErrorClass *ErrorClass `json:"errorClass,omitempty"`

	// SplitArguments has calls send [[positional…],{keywords}] as their args, for
	// the host to bind.
	SplitArguments bool `json:"splitArguments,omitempty" wire:"true"`
	// Handles is the member name that marks an object in a reply as a handle, and
	// the name of the function that reads one. Absent (empty) means no handles.
	Handles string `json:"handles,omitempty"`
}

// ErrorClass is an exception class that the child makes for a namespace. An
// instance has the name of the function that failed in its member
// MemberNameProperty.
type ErrorClass struct {
	Name               string `json:"name"`
	MemberNameProperty string `json:"memberNameProperty"`
}

// Numbers names a number profile on the wire. The empty text is an absent field,
// which means NumbersDouble: the rule of the base protocol.
type Numbers string

// The number profiles, see [lossless.Exact] and [lossless.Double].
const (
	NumbersExact  Numbers = "exact"
	NumbersDouble Numbers = "double"
)

func (Numbers) literals() []string { return []string{string(NumbersExact), string(NumbersDouble)} }

// Profile returns the profile that the field asks for, as package lossless names it.
func (n Numbers) Profile() lossless.Numbers {
	if n == NumbersExact {
		return lossless.Exact
	}
	return lossless.Double
}

// NumbersOf returns the wire's name of a profile.
func NumbersOf(n lossless.Numbers) Numbers {
	if n == lossless.Exact {
		return NumbersExact
	}
	return NumbersDouble
}

// Run carries the program. The host sends it once, after the child's boot-ack.
type Run struct {
	_ struct{} `wire:"type=run"`

	Program string `json:"program"`

	// FileName is the program's name in tracebacks. Absent (empty) means
	// [DefaultFileName].
	FileName string `json:"fileName,omitempty"`
	// Data becomes the program's global named data. Absent means no such global.
	Data lossless.Value `json:"data,omitzero"`
	// LastExpression makes the value of a bare expression that the program ends
	// with the value of the run.
	LastExpression bool `json:"lastExpression,omitempty" wire:"true"`
}

// DefaultFileName is what a program is called when run does not say.
const DefaultFileName = "program.py"

// ReplyValue answers a call that succeeded. An absent Value is sent as null.
type ReplyValue struct {
	_ struct{} `wire:"type=reply"`

	ID    int64          `json:"id"`
	_     struct{}       `wire:"ok=true"`
	Value lossless.Value `json:"value"`
}

// ReplyError answers a call that was rejected. The program sees Message as the
// text of the exception.
type ReplyError struct {
	_ struct{} `wire:"type=reply"`

	ID      int64    `json:"id"`
	_       struct{} `wire:"ok=false"`
	Message string   `json:"message"`
}

// BootAck says that the child has applied what boot asked for and waits for run.
type BootAck struct {
	_ struct{} `wire:"type=boot-ack"`

	// Proof is what the child saw when it tried what its confinement forbids, as
	// a JSON object. Absent when there was nothing to prove.
	Proof lossless.Value `json:"proof,omitzero" wire:"object"`
}

// Call asks the host to call the function Name of the namespace Global. Whether
// they exist, and whether ID is the next one, is for the receiver to judge. A
// lone surrogate in either name has become U+FFFD.
type Call struct {
	_ struct{} `wire:"type=call"`

	// ID numbers the calls of a run: 0, 1, 2 and so on, at most [MaxInteger].
	ID     int64  `json:"id"`
	Global string `json:"global"`
	Name   string `json:"name"`
	// Args is any JSON value, lossless under the decoder's profile. An absent
	// one is sent as null.
	Args lossless.Value `json:"args"`
}

// Log is one line that the program wrote, without its newline, or a piece of one.
type Log struct {
	_ struct{} `wire:"type=log"`

	// Text has U+FFFD for each lone surrogate that the frame carried.
	Text string `json:"text"`
	// Truncated marks the child's own notice that its log budget is spent.
	Truncated bool `json:"truncated,omitempty" wire:"true"`
	// Open says that the line goes on in the next log frame.
	Open bool `json:"open,omitempty" wire:"true"`

	// Size is the canonical size of the text as the frame carried it, in bytes,
	// with its quotes: a lone surrogate counts 6, though Text holds 3 bytes for
	// it. Decoding sets it; it is not sent.
	Size int64 `json:"-"`
}

// Done ends the run: with Value, with Error, or with neither, which is a program
// that returned nothing. Decoding never yields both: the error wins.
type Done struct {
	_ struct{} `wire:"type=done"`

	// Value is what the program returned. It is absent when there was none, and
	// also when Size is over the decoder's ValueBytes or Fault is set.
	Value lossless.Value `json:"value,omitzero"`
	// Error is why there is no value.
	Error *DoneError `json:"error,omitempty"`

	// Size is the canonical size of the value that the frame carried, in bytes,
	// also when it was not kept; 0 when there was none. Decoding sets it; it is
	// not sent.
	Size int64 `json:"-"`
	// Fault is the first number that the decoder's profile refuses, when the
	// frame had no error; nil when there is none. Such a frame still ends the
	// run, as invalid output, unless Size is over budget, which comes first. Its
	// Pointer is relative to the value. Decoding sets it; it is not sent.
	Fault *lossless.Error `json:"-"`
}

// DoneError says why a program has no value.
type DoneError struct {
	Kind ErrorKind `json:"kind"`
	// Message has U+FFFD for each lone surrogate that the frame carried.
	Message string `json:"message"`
}

// ErrorKind is the kind of a [DoneError].
type ErrorKind string

// The kinds of error that a child reports. The others, such as a timeout, are
// the host's to see.
const (
	// KindException is a program that raised, or that does not compile.
	KindException ErrorKind = "exception"
	// KindInvalidOutput is a returned value that JSON can't carry exactly.
	KindInvalidOutput ErrorKind = "invalid-output"
	// KindOutputLimit is a returned value over MaxValueBytes.
	KindOutputLimit ErrorKind = "output-limit"
)

func (ErrorKind) literals() []string {
	return []string{string(KindException), string(KindInvalidOutput), string(KindOutputLimit)}
}

// FrameType returns "boot".
func (*Boot) FrameType() string { return "boot" }

// FrameType returns "run".
func (*Run) FrameType() string { return "run" }

// FrameType returns "reply".
func (*ReplyValue) FrameType() string { return "reply" }

// FrameType returns "reply".
func (*ReplyError) FrameType() string { return "reply" }

// FrameType returns "boot-ack".
func (*BootAck) FrameType() string { return "boot-ack" }

// FrameType returns "call".
func (*Call) FrameType() string { return "call" }

// FrameType returns "log".
func (*Log) FrameType() string { return "log" }

// FrameType returns "done".
func (*Done) FrameType() string { return "done" }

// CallID returns ID.
func (r *ReplyValue) CallID() int64 { return r.ID }

// CallID returns ID.
func (r *ReplyError) CallID() int64 { return r.ID }
