package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// value makes a canonical value of JSON text for a test's table.
func value(text string) lossless.Value {
	v, err := lossless.Parse([]byte(text), lossless.Options{})
	if err != nil {
		panic(err)
	}
	return v
}

// sameFrame compares frames with their values as text, and faults by reason.
var sameFrame = cmp.Options{
	cmp.Comparer(func(a, b lossless.Value) bool {
		return a.Exists() == b.Exists() && a.String() == b.String()
	}),
	cmp.Comparer(func(a, b *lossless.Error) bool {
		return (a == nil) == (b == nil) && (a == nil || a.Err == b.Err)
	}),
}

// equalFrames fails the test if got is not want.
func equalFrames(t *testing.T, got, want Frame) {
	t.Helper()
	if diff := cmp.Diff(want, got, sameFrame); diff != "" {
		t.Errorf("frame (-want +got):\n%s", diff)
	}
}

// frameCase is a line and the frame that it is.
type frameCase struct {
	name    string
	line    string
	numbers lossless.Numbers
	want    Frame
}

// childFrameCases are lines from a child that are frames. They are also seeds of
// the fuzzers.
var childFrameCases = []frameCase{
	{"boot-ack", `{"type":"boot-ack"}`, 0, &BootAck{}},
	{"boot-ack with proof", `{"type":"boot-ack","proof":{"landlock":[7, true]}}`, 0, &BootAck{Proof: value(`{"landlock":[7,true]}`)}},
	{"boot-ack with more", `{"type":"boot-ack","value":1,"error":2,"id":3}`, 0, &BootAck{}},

	{"call", `{"type":"call","id":0,"global":"tools","name":"add","args":{"a":1}}`, 0,
		&Call{ID: 0, Global: "tools", Name: "add", Args: value(`{"a":1}`)}},
	{"call with the largest id", `{"type":"call","id":9007199254740991,"global":"","name":"","args":null}`, 0,
		&Call{ID: MaxInteger, Args: value("null")}},
	{"call in another order", `{"args":[1,2],"name":"n","global":"g","id":7,"type":"call"}`, 0,
		&Call{ID: 7, Global: "g", Name: "n", Args: value("[1,2]")}},
	{"call with spaces", " {\t\"type\" : \"call\", \"id\" : 1, \"global\": \"g\", \"name\": \"n\", \"args\": { \"a\" : [ 1 , 2 ] } } \r", 0,
		&Call{ID: 1, Global: "g", Name: "n", Args: value(`{"a":[1,2]}`)}},
	{"call with escaped names", `{"\u0074ype":"\u0063all","\u0069d":2,"gl\u006fbal":"\u0067","name":"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","args":{"\u0061":1}}`, 0,
		&Call{ID: 2, Global: "g", Name: "a\"\\/\b\f\n\r\té😀", Args: value(`{"a":1}`)}},
	{"call with lone surrogates", `{"type":"call","id":3,"global":"\ud800","name":"\udc00\ud800\ud800\udc00\uDFFFx","args":"\ud800"}`, 0,
		&Call{ID: 3, Global: "\uFFFD", Name: "\uFFFD\uFFFD\U00010000\uFFFDx", Args: value(`"\ud800"`)}},
	{"call with undeclared members", `{"type":"call","id":4,"global":"g","name":"n","args":1,"x":{"type":"done"},"ok":true,"error":[],"":0}`, 0,
		&Call{ID: 4, Global: "g", Name: "n", Args: value("1")}},
	{"call with exact numbers", `{"type":"call","id":5,"global":"g","name":"n","args":[-0.0,9007199254740993,3.0,1e2]}`, lossless.Exact,
		&Call{ID: 5, Global: "g", Name: "n", Args: value("[-0.0,9007199254740993,3.0,1e2]")}},
	{"call with doubles", `{"type":"call","id":6,"global":"g","name":"n","args":[5.0,1e2,9007199254740992,9e99,9007199254740993.0]}`, lossless.Double,
		&Call{ID: 6, Global: "g", Name: "n", Args: value("[5,100,9007199254740992,8999999999999999948859130765266355329578537025198862586562510896759102769772101980841694466750283776,9007199254740992]")}},
	{"digits in a string are data", `{"type":"call","id":7,"global":"g","name":"n","args":"\"9007199254740993"}`, lossless.Double,
		&Call{ID: 7, Global: "g", Name: "n", Args: value(`"\"9007199254740993"`)}},

	{"log", `{"type":"log","text":"one line"}`, 0, &Log{Text: "one line", Size: 10}},
	{"log, empty", `{"type":"log","text":""}`, 0, &Log{Size: 2}},
	{"log, truncated", `{"text":"m","truncated":true,"type":"log"}`, 0, &Log{Text: "m", Truncated: true, Size: 3}},
	{"log, open", `{"type":"log","text":"m","open":true}`, 0, &Log{Text: "m", Open: true, Size: 3}},
	{"log, not quite truncated", `{"type":"log","text":"m","truncated":1,"open":"true"}`, 0, &Log{Text: "m", Size: 3}},
	{"log, not quite open", `{"type":"log","text":"m","truncated":{"a":[true]},"open":null}`, 0, &Log{Text: "m", Size: 3}},
	{"log, closed", `{"type":"log","text":"m","truncated":false,"open":false}`, 0, &Log{Text: "m", Size: 3}},
	{"log, escapes", `{"type":"log","text":"\u0000\u001f\t\"\u0041é\ud83d\ude00\ud800"}`, 0,
		&Log{Text: "\x00\x1f\t\"Aé😀\uFFFD", Size: 2 + 6 + 6 + 2 + 2 + 1 + 2 + 4 + 6}},
	{"log, a thousand lone surrogates", `{"type":"log","text":"` + strings.Repeat(`\udfff`, 1000) + `"}`, 0,
		&Log{Text: strings.Repeat("\uFFFD", 1000), Size: 6002}},
	{"log, undeclared number", `{"type":"log","text":"m","x":1e400}`, 0, &Log{Text: "m", Size: 3}},

	{"done", `{"type":"done"}`, 0, &Done{}},
	{"done with null", `{"type":"done","value":null}`, 0, &Done{Value: value("null"), Size: 4}},
	{"done with a value", `{"type":"done","value":[1, "x", null]}`, 0, &Done{Value: value(`[1,"x",null]`), Size: 12}},
	{"done with an error", `{"type":"done","error":{"kind":"exception","message":"KeyError: \ud800 end"}}`, 0,
		&Done{Error: &DoneError{KindException, "KeyError: \uFFFD end"}}},
	{"done with more in its error", `{"type":"done","error":{"x":[1e999],"message":"","kind":"\u006futput-limit","type":"log"}}`, lossless.Double,
		&Done{Error: &DoneError{KindOutputLimit, ""}}},
	{"done with both", `{"type":"done","value":1e400,"error":{"kind":"invalid-output","message":"m"}}`, 0,
		&Done{Error: &DoneError{KindInvalidOutput, "m"}}},
	{"done with a number out of range", `{"type":"done","value":[1,1e400]}`, 0,
		&Done{Size: 9, Fault: &lossless.Error{Err: lossless.ErrNumberRange}}},
	{"done with an inexact number", `{"type":"done","value":9007199254740993}`, lossless.Double,
		&Done{Size: 16, Fault: &lossless.Error{Err: lossless.ErrInexact}}},
	{"done with a negative zero", `{"type":"done","value":{"x":-0.0}}`, lossless.Double,
		&Done{Size: 10, Fault: &lossless.Error{Err: lossless.ErrNegativeZero}}},
	{"done with an undeclared inexact number", `{"type":"done","value":1,"x":[9007199254740993]}`, lossless.Double,
		&Done{Size: 1, Fault: &lossless.Error{Err: lossless.ErrInexact}}},
	{"done with a tiny number", `{"type":"done","value":1e-400}`, 0, &Done{Value: value("1e-400"), Size: 6}},
	{"done with a float of one digit", `{"type":"done","value":5.0}`, lossless.Double, &Done{Value: value("5"), Size: 1}},
	{"done, deep", `{"type":"done","value":` + nested(100_000) + `}`, 0, &Done{Value: value(nested(100_000)), Size: 200_001}},
}

func nested(depth int) string {
	return strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth)
}

// junkCase is a line that is no frame.
type junkCase struct {
	name    string
	line    string
	numbers lossless.Numbers
	reason  error  // what errors.Is finds, nil for any
	says    string // what the message contains
}

// childJunkCases are lines from a child that are dropped.
var childJunkCases = append(junkIDs(`{"type":"call","id":`, `,"global":"g","name":"n","args":1}`, "call.id"), []junkCase{
	{"nothing", ``, 0, lossless.ErrSyntax, ""},
	{"blank", " \t", 0, lossless.ErrSyntax, ""},
	{"text", `hello`, 0, lossless.ErrSyntax, ""},
	{"null", `null`, 0, nil, ""},
	{"number", `42`, 0, nil, ""},
	{"string", `"s"`, 0, nil, ""},
	{"array", `[]`, 0, nil, ""},
	{"empty object", `{}`, 0, ErrMissing, "type: required member is missing"},
	{"open object", `{"type":"done"`, 0, lossless.ErrSyntax, ""},
	{"two objects", `{"type":"done"}{"type":"done"}`, 0, lossless.ErrSyntax, ""},
	{"two objects apart", `{"type":"done"} {"type":"done"}`, 0, lossless.ErrSyntax, ""},
	{"object and junk", `{"type":"done"} x`, 0, lossless.ErrSyntax, ""},
	{"trailing comma", `{"type":"done",}`, 0, lossless.ErrSyntax, ""},
	{"comment", `{"type":"done"/**/}`, 0, lossless.ErrSyntax, ""},
	{"byte order mark", "\uFEFF" + `{"type":"done"}`, 0, lossless.ErrSyntax, ""},
	{"control character", "{\"type\":\"log\",\"text\":\"a\x01\"}", 0, lossless.ErrSyntax, ""},
	{"NaN", `{"type":"done","value":NaN}`, 0, lossless.ErrSyntax, ""},
	{"bad escape", `{"type":"log","text":"\x41"}`, 0, lossless.ErrSyntax, ""},
	{"invalid UTF-8", "{\"type\":\"log\",\"text\":\"\xff\"}", 0, lossless.ErrUTF8, ""},
	{"raw surrogate", "{\"type\":\"log\",\"text\":\"\xed\xa0\x80\"}", 0, lossless.ErrUTF8, ""},
	{"invalid UTF-8 in an undeclared member", "{\"type\":\"done\",\"x\":\"\xc0\x80\"}", 0, lossless.ErrUTF8, ""},
	{"duplicate type", `{"type":"done","type":"done"}`, 0, lossless.ErrDuplicateName, ""},
	{"duplicate by escape", `{"type":"log","text":"a","te\u0078t":"b"}`, 0, lossless.ErrDuplicateName, ""},
	{"duplicate inside the value", `{"type":"done","value":[{"a":1,"a":2}]}`, 0, lossless.ErrDuplicateName, ""},
	{"duplicate inside an undeclared member", `{"type":"done","x":{"a":{"b":1,"b":1}}}`, 0, lossless.ErrDuplicateName, ""},
	{"duplicate undeclared member", `{"type":"done","x":1,"x":1}`, 0, lossless.ErrDuplicateName, ""},
	{"duplicate inside the error", `{"type":"done","error":{"kind":"exception","message":"m","message":"m"}}`, 0, lossless.ErrDuplicateName, ""},

	{"unknown type", `{"type":"nope"}`, 0, ErrFrameType, `unknown frame type "\"nope\"", want boot-ack, call, log or done`},
	{"the host's type", `{"type":"boot","text":"x"}`, 0, ErrFrameType, ""},
	{"type of another case", `{"type":"Done"}`, 0, ErrFrameType, ""},
	{"member of another case", `{"Type":"done"}`, 0, ErrMissing, ""},
	{"type null", `{"type":null}`, 0, ErrMemberType, "type"},
	{"type in an array", `{"type":["done"]}`, 0, ErrMemberType, "type"},
	{"huge type", `{"type":"` + strings.Repeat("d", 1<<20) + `"}`, 0, ErrFrameType, "..."},
	{"escaped huge type", `{"type":"` + strings.Repeat(`\ud800`, 1<<16) + `"}`, 0, ErrFrameType, "..."},

	{"boot-ack with proof of another type", `{"type":"boot-ack","proof":[]}`, 0, ErrMemberType, "boot-ack.proof"},
	{"boot-ack with proof null", `{"type":"boot-ack","proof":null}`, 0, ErrMemberType, "boot-ack.proof"},
	{"boot-ack with inexact proof", `{"type":"boot-ack","proof":{"a":1e400}}`, 0, lossless.ErrNumberRange, "boot-ack.proof"},

	{"log without text", `{"type":"log"}`, 0, ErrMissing, "log.text"},
	{"log with a number", `{"type":"log","text":42}`, 0, ErrMemberType, "log.text"},
	{"log with null", `{"type":"log","text":null,"truncated":true}`, 0, ErrMemberType, "log.text"},

	{"call without id", `{"type":"call","global":"g","name":"n","args":1}`, 0, ErrMissing, "call.id"},
	{"call without global", `{"type":"call","id":0,"name":"n","args":1}`, 0, ErrMissing, "call.global"},
	{"call without name", `{"type":"call","id":0,"global":"g","args":1}`, 0, ErrMissing, "call.name"},
	{"call without args", `{"type":"call","id":0,"global":"g","name":"n"}`, 0, ErrMissing, "call.args"},
	{"call with numeric global", `{"type":"call","id":0,"global":1,"name":"n","args":1}`, 0, ErrMemberType, "call.global"},
	{"call with name null", `{"type":"call","id":0,"global":"g","name":null,"args":1}`, 0, ErrMemberType, "call.name"},
	{"call with number out of range", `{"type":"call","id":0,"global":"g","name":"n","args":{"n":1e400}}`, 0, lossless.ErrNumberRange, "call.args"},
	{"call with negative zero", `{"type":"call","id":0,"global":"g","name":"n","args":[-0]}`, lossless.Double, lossless.ErrNegativeZero, "call.args"},
	{"call with inexact number", `{"type":"call","id":0,"global":"g","name":"n","args":"","x":-9007199254740993}`, lossless.Double, lossless.ErrInexact, "call"},
	{"call with 400 nines", `{"type":"call","id":0,"global":"g","name":"n","args":` + strings.Repeat("9", 400) + `}`, lossless.Double, nil, "call.args"},

	{"done with error null", `{"type":"done","error":null}`, 0, ErrMemberType, "done.error"},
	{"done with value and error null", `{"type":"done","value":1,"error":null}`, 0, ErrMemberType, "done.error"},
	{"done with error text", `{"type":"done","error":"x"}`, 0, ErrMemberType, "done.error"},
	{"done with error array", `{"type":"done","error":[]}`, 0, ErrMemberType, "done.error"},
	{"done with empty error", `{"type":"done","error":{}}`, 0, ErrMissing, "done.error.kind"},
	{"done without message", `{"type":"done","error":{"kind":"exception"}}`, 0, ErrMissing, "done.error.message"},
	{"done without kind", `{"type":"done","error":{"message":"m"}}`, 0, ErrMissing, "done.error.kind"},
	{"done with numeric message", `{"type":"done","error":{"kind":"exception","message":42}}`, 0, ErrMemberType, "done.error.message"},
	{"done with kind timeout", `{"type":"done","error":{"kind":"timeout","message":"m"}}`, 0, ErrMemberValue, "one of exception, invalid-output, output-limit"},
	{"done with odd kind", `{"type":"done","error":{"kind":"weird","message":"m"}}`, 0, ErrMemberValue, "done.error.kind"},
	{"done with kind null", `{"type":"done","error":{"kind":null,"message":"m"}}`, 0, ErrMemberType, "done.error.kind"},
}...)

// badIDs are texts that are no call id. Each makes a call and a reply of junk.
var badIDs = []string{
	"-0", "-1", "0.0", "0.5", "1e0", "1E2", "1e400", "9007199254740992", "18446744073709551616",
	strings.Repeat("9", 400), `"0"`, "null", "true", "[]", "{}",
}

func junkIDs(before, after, says string) []junkCase {
	var cases []junkCase
	for _, id := range badIDs {
		cases = append(cases, junkCase{"id " + id, before + id + after, 0, nil, says})
	}
	return cases
}

const bootLine = `{"type":"boot","cpuSeconds":30,"addressSpaceBytes":1073741824,"maxLogBytes":4096,"maxValueBytes":1024,"namespaces":`

// hostFrameCases are lines from a host that are frames.
var hostFrameCases = []frameCase{
	{"boot", bootLine + `[]}`, 0,
		&Boot{CPUSeconds: 30, AddressSpaceBytes: 1 << 30, MaxLogBytes: 4096, MaxValueBytes: 1024, Namespaces: []Namespace{}}},
	{"boot with all", bootLine + `[{"global":"db","names":["query","a-b",""],"errorClass":{"name":"DbError","memberNameProperty":"tool"}},{"names":[],"handles":"h","splitArguments":true,"global":"fs"}],"numbers":"exact","openLogs":true,"confinement":{"a":[1]}}`, 0,
		&Boot{CPUSeconds: 30, AddressSpaceBytes: 1 << 30, MaxLogBytes: 4096, MaxValueBytes: 1024,
			Namespaces: []Namespace{
				{Global: "db", Names: []string{"query", "a-b", ""}, ErrorClass: &ErrorClass{"DbError", "tool"}},
				{Global: "fs", Names: []string{}, SplitArguments: true, Handles: "h"},
			},
			Numbers: NumbersExact, OpenLogs: true, Confinement: value(`{"a":[1]}`)}},
	{"boot with closed logs", bootLine + `[],"numbers":"double","openLogs":false}`, 0,
		&Boot{CPUSeconds: 30, AddressSpaceBytes: 1 << 30, MaxLogBytes: 4096, MaxValueBytes: 1024, Namespaces: []Namespace{}, Numbers: NumbersDouble}},
	{"run", `{"type":"run","program":"return 1\n"}`, 0, &Run{Program: "return 1\n"}},
	{"run with all", `{"type":"run","program":"","fileName":"job.py","data":null,"lastExpression":true}`, 0,
		&Run{FileName: "job.py", Data: value("null"), LastExpression: true}},
	{"run with lastExpression 1", `{"type":"run","program":"","lastExpression":1}`, 0, &Run{}},
	{"reply", `{"type":"reply","id":0,"ok":true,"value":{"a":1}}`, 0, &ReplyValue{ID: 0, Value: value(`{"a":1}`)}},
	{"reply with null", `{"type":"reply","id":1,"ok":true,"value":null,"message":"m"}`, 0, &ReplyValue{ID: 1, Value: value("null")}},
	{"rejection", `{"type":"reply","id":2,"ok":false,"message":"no\ud800"}`, 0, &ReplyError{ID: 2, Message: "no\uFFFD"}},
}

// hostJunkCases are lines from a host that are refused.
var hostJunkCases = append(junkIDs(`{"type":"reply","id":`, `,"ok":true,"value":1}`, "reply.id"), []junkCase{
	{"text", `hello`, 0, lossless.ErrSyntax, ""},
	{"the child's type", `{"type":"done"}`, 0, ErrFrameType, "want boot, run or reply"},
	{"boot without a limit", `{"type":"boot","cpuSeconds":1,"addressSpaceBytes":1,"maxLogBytes":1,"namespaces":[]}`, 0, ErrMissing, "boot.maxValueBytes"},
	{"boot with half a second", `{"type":"boot","cpuSeconds":0.5,"addressSpaceBytes":1,"maxLogBytes":1,"maxValueBytes":1,"namespaces":[]}`, 0, ErrMemberType, "boot.cpuSeconds"},
	{"boot with an object of namespaces", bootLine + `{}}`, 0, ErrMemberType, "boot.namespaces"},
	{"boot with a refused number among the namespaces", bootLine + `[{"global":"a","names":[],"x":1e400}]}`, 0, lossless.ErrNumberRange, "boot.namespaces"},
	{"boot with a namespace of text", bootLine + `["db"]}`, 0, nil, "boot.namespaces[0]"},
	{"boot with a namespace without names", bootLine + `[{"global":"a","names":[]},{"global":"db"}]}`, 0, ErrMissing, "boot.namespaces[1].names"},
	{"boot with a numeric name", bootLine + `[{"global":"db","names":["a",1]}]}`, 0, ErrMemberType, "boot.namespaces[0].names"},
	{"boot with errorClass null", bootLine + `[{"global":"db","names":[],"errorClass":null}]}`, 0, ErrMemberType, "boot.namespaces[0].errorClass"},
	{"boot with half an errorClass", bootLine + `[{"global":"db","names":[],"errorClass":{"name":"E"}}]}`, 0, ErrMissing, "boot.namespaces[0].errorClass.memberNameProperty"},
	{"boot with handles true", bootLine + `[{"global":"db","names":[],"handles":true}]}`, 0, ErrMemberType, "boot.namespaces[0].handles"},
	{"boot with odd numbers", bootLine + `[],"numbers":"float"}`, 0, ErrMemberValue, "one of exact, double"},
	{"boot with confinement true", bootLine + `[],"confinement":true}`, 0, ErrMemberType, "boot.confinement"},
	{"run without program", `{"type":"run"}`, 0, ErrMissing, "run.program"},
	{"run with fileName null", `{"type":"run","program":"","fileName":null}`, 0, ErrMemberType, "run.fileName"},
	{"run with data out of range", `{"type":"run","program":"","data":1e400}`, 0, lossless.ErrNumberRange, "run.data"},
	{"reply without ok", `{"type":"reply","id":0,"value":1}`, 0, ErrMissing, "reply.ok"},
	{"reply with ok 1", `{"type":"reply","id":0,"ok":1,"value":1}`, 0, ErrMemberType, "reply.ok"},
	{"reply without value", `{"type":"reply","id":0,"ok":true,"message":"m"}`, 0, ErrMissing, "reply.value"},
	{"reply without message", `{"type":"reply","id":0,"ok":false,"value":1}`, 0, ErrMissing, "reply.message"},
	{"reply with inexact value", `{"type":"reply","id":0,"ok":true,"value":9007199254740993}`, lossless.Double, lossless.ErrInexact, "reply.value"},
}...)
