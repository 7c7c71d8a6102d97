package thirdrail

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// write is the beginning of the programs that write to descriptor 3 themselves.
const write = "import os\ndef w(s):\n    b = s.encode() if isinstance(s, str) else s\n    while b:\n        b = b[os.write(3, b):]\n"

// droppedFrames are lines that are no frame, or none that is due.
var droppedFrames = []string{
	"garbage", "", "null", "42", `"s"`, "[]", "{}", `{"type":"nope"}`, `{"type":1}`,
	`{"type":"log"}`, `{"type":"log","text":42}`, `{"type":"boot-ack"}`, `{"type":"reply","id":0,"ok":true,"value":1}`,
	`{"type":"call","id":"0","global":"tools","name":"echo","args":{}}`,
	`{"type":"call","id":0,"global":7,"name":"echo","args":{}}`,
	`{"type":"call","id":0,"global":"tools","args":{}}`,
	`{"type":"call","id":0,"global":"tools","name":"echo"}`,
	`{"type":"call","id":1e400,"global":"tools","name":"echo","args":{}}`,
	`{"type":"call","id":-0,"global":"tools","name":"echo","args":{}}`,
	`{"type":"call","id":0.0,"global":"tools","name":"echo","args":{}}`,
	`{"type":"call","id":0.5,"global":"tools","name":"echo","args":{}}`,
	`{"type":"call","id":1e0,"global":"tools","name":"echo","args":{}}`,
	`{"type":"call","id":null,"global":"tools","name":"echo","args":{}}`,
	`{"type":"call","id":7,"global":"tools","name":"echo","args":{}}`,
	`{"type":"call","id":0,"global":"tools","name":"echo","args":{"n":1e400}}`,
	`{"type":"done","error":"x"}`, `{"type":"done","error":null}`, `{"type":"done","error":{}}`,
	`{"type":"done","error":{"message":42}}`, `{"type":"done","error":{"message":"m"}}`,
	`{"type":"done","error":{"kind":"timeout","message":"m"}}`, `{"type":"done","error":{"kind":"weird","message":"m"}}`,
	`{"type":"done","value":1,"value":2}`, `{"type":"done","value":{"a":1,"a":2}}`,
	`{"type":"done","value":1} {"type":"done","value":2}`, `{"type":"done","value":"` + "\xff" + `"}`,
	`{"type":"done","value":01}`, `{"type":"done","value":nul}`, `{"type":"done","value":"\u00"}`,
}

// TestDroppedFrames writes each of them, all in one piece and one by one, and sees
// the honest end and the honest call go on.
func TestDroppedFrames(t *testing.T) {
	var all strings.Builder
	for _, line := range droppedFrames {
		all.WriteString("w(" + pythonBytes(line+"\n") + ")\n")
	}
	joined := "w(" + pythonBytes(strings.Join(droppedFrames, "\n")+"\n") + ")\n"
	dropped := func(t *testing.T, result *Result) {
		t.Helper()
		if got := result.Stats.DroppedFrames; got != int64(len(droppedFrames)) {
			t.Errorf("%d frames dropped, want %d", got, len(droppedFrames))
		}
		if result.Stats.Calls != 1 {
			t.Errorf("%d calls, want the honest one", result.Stats.Calls)
		}
	}
	const honest = "print('kept')\nreturn await tools.echo('honest')"
	runCases(t, []programCase{
		{Name: "one by one", Program: write + all.String() + honest, Value: `"honest"`, Logs: []string{"kept"}, Check: dropped},
		{Name: "in one write", Program: write + joined + honest, Value: `"honest"`, Logs: []string{"kept"}, Check: dropped},
	})
}

// pythonBytes returns text as a bytes literal.
func pythonBytes(text string) string {
	var literal strings.Builder
	literal.WriteString("b'")
	for _, c := range []byte(text) {
		literal.WriteString(`\x` + strconv.FormatInt(int64(c)+0x100, 16)[1:])
	}
	return literal.String() + "'"
}

// forgedCases are programs that forge frames which count.
var forgedCases = []programCase{
	{Name: "done", Program: write + "w('{\"type\":\"done\",\"value\":[1.0]}\\n')\nreturn 2", Value: "[1.0]"},
	{Name: "done without anything", Program: write + "w('{\"type\":\"done\"}\\n')\nimport time\ntime.sleep(100)", Value: "absent"},
	{Name: "done with null", Program: write + "w('{\"type\":\"done\",\"value\":null,\"extra\":1}\\n')\nreturn 2", Value: "null"},
	{Name: "done with both", Program: write + "w('{\"type\":\"done\",\"value\":1,\"error\":{\"kind\":\"exception\",\"message\":\"forged\"}}\\n')\nreturn 2", Kind: Exception, Message: []string{"forged"}},
	{Name: "the first of two", Program: write + "w('{\"type\":\"done\",\"value\":1}\\n{\"type\":\"done\",\"value\":2}\\n')", Value: "1"},
	{Name: "with spaces, and a carriage return", Program: write + "w(' { \"type\" : \"done\" , \"value\" : [ 1 ] } \\r\\n')", Value: "[1]"},
	{Name: "escaped names", Program: write + "w('{\"\\\\u0074ype\":\"d\\\\u006fne\",\"value\":3}\\n')", Value: "3"},
	{Name: "a number out of range", Program: write + "w('{\"type\":\"done\",\"value\":1e400}\\n')\nreturn 2", Kind: InvalidOutput},
	{Name: "a tiny number", Program: write + "w('{\"type\":\"done\",\"value\":1e-400}\\n')\nreturn 2", Value: "1e-400"},
	{Name: "over the budget", Program: write + "w('{\"type\":\"done\",\"value\":\"' + 'x' * 5000 + '\"}\\n')", Limits: Limits{ValueBytes: 64}, Kind: OutputLimit, Message: []string{"5002", "64"}},
	{Name: "over the budget and out of range", Program: write + "w('{\"type\":\"done\",\"value\":[1e400,\"' + 'x' * 5000 + '\"]}\\n')", Limits: Limits{ValueBytes: 64}, Kind: OutputLimit},
	{Name: "deep, over the budget", Program: write + "w('{\"type\":\"done\",\"value\":' + '[' * 20000 + ']' * 20000 + '}\\n')", Limits: Limits{ValueBytes: 32768}, Kind: OutputLimit},
	{Name: "deep, within the budget", Program: write + "w('{\"type\":\"done\",\"value\":' + '[' * 100000 + ']' * 100000 + '}\\n')", Check: func(t *testing.T, r *Result) {
		if n := len(r.Value.Bytes()); n != 200_000 {
			t.Errorf("a value of %d bytes, want 200000", n)
		}
	}},
	{Name: "a huge message", Program: write + "w('{\"type\":\"done\",\"error\":{\"kind\":\"exception\",\"message\":\"first' + 'm' * (40 << 20) + 'last\"}}\\n')", Kind: Exception, Message: []string{"first", "last", "cut"}, Check: bounded},
	{Name: "unknown binding with the next id", Program: write + "w('{\"type\":\"call\",\"id\":0,\"global\":\"none\",\"name\":\"x\",\"args\":{}}\\n')\nreturn 3", Value: "3"},
	{Name: "an inherited name", Program: write + "w('{\"type\":\"call\",\"id\":0,\"global\":\"tools\",\"name\":\"hasOwnProperty\",\"args\":{}}\\n')\nreturn 3", Value: "3"},
	{Name: "a huge name", Program: write + "w('{\"type\":\"call\",\"id\":0,\"global\":\"tools\",\"name\":\"' + 'n' * (8 << 20) + '\",\"args\":{}}\\n')\nreturn 3", Value: "3"},
	{Name: "a half line, then the end", Program: write + "w('{\"type\"')\nreturn 1", Kind: WorkerExit},
	{Name: "many writes of one byte", Program: "import os\nfor i in range(60000):\n    os.write(3, b'j')\nos.write(3, b'\\n')\nprint('after')\nreturn 1", Value: "1", Logs: []string{"after"}},
	{Name: "log after done", Program: write + "w('{\"type\":\"done\"}\\n{\"type\":\"log\",\"text\":\"late\"}\\n')", Value: "absent", Logs: []string{}},
	{Name: "a line at the frame limit", Program: write + "w('j' * (1 << 20) + '\\n')\nreturn 1", Limits: Limits{FrameBytes: 1 << 20, ValueBytes: 1 << 10, LogBytes: 1 << 10}, Value: "1"},
	{Name: "a line over the frame limit", Program: write + "w('j' * ((1 << 20) + 1) + '\\n')\nimport time\ntime.sleep(100)", Limits: Limits{FrameBytes: 1 << 20, ValueBytes: 1 << 10, LogBytes: 1 << 10}, Kind: WorkerExit, Message: []string{"1048576"}},
	{Name: "no newline, over the frame limit", Program: write + "w('j' * (2 << 20))\nimport time\ntime.sleep(100)", Limits: Limits{FrameBytes: 1 << 20, ValueBytes: 1 << 10, LogBytes: 1 << 10}, Kind: WorkerExit, Message: []string{"1048576"}},
	{Name: "a fork sends done too", Sandbox: withProcesses, Program: "import os\nif os.fork() == 0:\n    return 'copy'\nimport time\ntime.sleep(0.3)\nreturn 'original'", Check: func(t *testing.T, r *Result) {
		if v := r.Value.String(); v != `"copy"` && v != `"original"` {
			t.Errorf("value %s, failure %v", v, r.Failure)
		}
	}},
}

// forgedDoubleCases are those of the Double profile.
var forgedDoubleCases = []programCase{
	{Name: "an inexact integer", Numbers: lossless.Double, Program: write + "w('{\"type\":\"done\",\"value\":9007199254740993}\\n')\nreturn 2", Kind: InvalidOutput},
	{Name: "an inexact integer in a string", Numbers: lossless.Double, Program: write + "w('{\"type\":\"done\",\"value\":\"\\\\\"9007199254740993\"}\\n')\nreturn 2", Value: `"\"9007199254740993"`},
	{Name: "an inexact integer with a fraction", Numbers: lossless.Double, Program: write + "w('{\"type\":\"done\",\"value\":9007199254740993.0}\\n')\nreturn 2", Value: "9007199254740992"},
	{Name: "exact ones", Numbers: lossless.Double, Program: write + "w('{\"type\":\"done\",\"value\":[9007199254740992,18446744073709551616]}\\n')\nreturn 2", Value: "[9007199254740992,18446744073709551616]"},
	{Name: "an inexact argument", Numbers: lossless.Double, Program: write + "w('{\"type\":\"call\",\"id\":0,\"global\":\"tools\",\"name\":\"echo\",\"args\":[-0]}\\n')\nreturn await tools.echo('mine')", Value: `"mine"`},
}

func TestForgedFrames(t *testing.T) {
	runCases(t, slices.Concat(forgedCases, forgedDoubleCases))
}

// TestStolenCallNumber has a program use up its own call's number: the call is
// dropped, and waits until the wall limit.
func TestStolenCallNumber(t *testing.T) {
	rt := newRuntime(t, Config{})
	result := run1(t, rt, write+"w('{\"type\":\"call\",\"id\":0,\"global\":\"tools\",\"name\":\"slow\",\"args\":{}}\\n')\nawait tools.echo(1)\nreturn 1",
		Limits{Wall: time.Second})
	if result.Failure == nil || result.Failure.Kind != Timeout || result.Stats.DroppedFrames != 1 {
		t.Errorf("%v, %d frames dropped; want a timeout and 1", result.Err(), result.Stats.DroppedFrames)
	}
}
