package wire

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// decoders are the two directions with their tables.
var decoders = []struct {
	name   string
	decode func(Decoder, []byte) (Frame, error)
	frames []frameCase
	junk   []junkCase
}{
	{"child", Decoder.Child, childFrameCases, childJunkCases},
	{"host", Decoder.Host, hostFrameCases, hostJunkCases},
}

func TestDecodeFrames(t *testing.T) {
	for _, d := range decoders {
		for _, c := range d.frames {
			t.Run(d.name+"/"+c.name, func(t *testing.T) {
				line := []byte(c.line)
				got, err := d.decode(Decoder{Numbers: c.numbers}, line)
				if err != nil {
					t.Fatal(err)
				}
				for i := range line {
					line[i] = 'X' // the reader uses the buffer again
				}
				equalFrames(t, got, c.want)
			})
		}
	}
}

func TestDecodeJunk(t *testing.T) {
	for _, d := range decoders {
		for _, c := range d.junk {
			t.Run(d.name+"/"+c.name, func(t *testing.T) {
				got, err := d.decode(Decoder{Numbers: c.numbers}, []byte(c.line))
				if err == nil || got != nil {
					t.Fatalf("got %#v, %v, want no frame and an error", got, err)
				}
				if c.reason != nil && !errors.Is(err, c.reason) {
					t.Errorf("got error %q, want one that is %q", err, c.reason)
				}
				checkMessage(t, err, c.says)
			})
		}
	}
}

// checkMessage fails the test unless err is a FrameError whose message says what
// is expected and is short and one line of printable text.
func checkMessage(t *testing.T, err error, says string) {
	t.Helper()
	var frameErr *FrameError
	if !errors.As(err, &frameErr) {
		t.Errorf("got a %T, want a *FrameError", err)
	}
	text := err.Error()
	if !strings.Contains(text, says) {
		t.Errorf("got error %q, want it to say %q", text, says)
	}
	const short = 600 // 80 bytes of a pointer may be escapes of 4 or more
	if len(text) > short || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("error %.600q is not a short line of printable text", text)
	}
}

func TestDecodeChildIsExact(t *testing.T) {
	const line = `{"type":"done","value":[-0.0,9007199254740993]}`
	got, err := DecodeChild([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	equalFrames(t, got, &Done{Value: value("[-0.0,9007199254740993]"), Size: 23})
}

func TestDecodeBudget(t *testing.T) {
	for _, c := range []struct {
		line   string
		budget int64
		want   Done
	}{
		{`{"type":"done","value":[1, "x", null]}`, 12, Done{Value: value(`[1,"x",null]`), Size: 12}},
		{`{"type":"done","value":[1, "x", null]}`, 11, Done{Size: 12}},
		{`{"type":"done","value":"` + strings.Repeat("z", 5000) + `"}`, 64, Done{Size: 5002}},
		{`{"type":"done","value":` + nested(20_000) + `}`, 32 << 10, Done{Size: 40_001}},
		{`{"type":"done","value":null}`, 3, Done{Size: 4}},
		{`{"type":"done"}`, 1, Done{}},
		{`{"type":"done","value":[1e400]}`, 3, Done{Size: 7, Fault: &lossless.Error{Err: lossless.ErrNumberRange}}},
	} {
		got, err := Decoder{ValueBytes: c.budget}.Child([]byte(c.line))
		if err != nil {
			t.Errorf("%.60s: %v", c.line, err)
			continue
		}
		equalFrames(t, got, &c.want)
	}
}

// A value over budget must not cost memory in proportion to it.
func TestOverBudgetIsNotCopied(t *testing.T) {
	line := []byte(`{"type":"done","value":"` + strings.Repeat("z", 1<<20) + `"}`)
	d := Decoder{ValueBytes: 64}
	const runs = 16
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		if _, err := d.Child(line); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / runs; n > 64<<10 {
		t.Errorf("decoding 1 MiB over budget allocates %d bytes", n)
	}
}

// Each string and value of a frame is copied once, and nothing else is.
func TestDecodeAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool allocate at random")
	}
	for _, c := range []struct {
		name string
		line string
		most float64
	}{
		{"log", `{"type":"log","text":"one line of a program"}`, 2},
		{"log with escapes", `{"type":"log","text":"one\tline"}`, 2},
		{"call", `{"type":"call","id":0,"global":"tools","name":"add","args":[1,2,3]}`, 5},
		{"done", `{"type":"done","value":[1,2,3]}`, 3},
	} {
		line := []byte(c.line)
		got := testing.AllocsPerRun(100, func() {
			if _, err := DecodeChild(line); err != nil {
				t.Fatal(err)
			}
		})
		if got > c.most {
			t.Errorf("%s: %v allocations, want at most %v", c.name, got, c.most)
		}
	}
}

func TestQuotePrefix(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, `""`},
		{`{"a":1}`, `"{\"a\":1}"`},
		{strings.Repeat("x", 24), `"` + strings.Repeat("x", 24) + `"`},
		{strings.Repeat("x", 25), `"` + strings.Repeat("x", 24) + `"...`},
		{strings.Repeat("x", 23) + "éé", `"` + strings.Repeat("x", 23) + `"...`},
		{"\xff\n\x1b", `"\xff\n\x1b"`},
		{strings.Repeat("\x80", 30), `"` + strings.Repeat(`\x80`, 20) + `"...`},
	} {
		if got := quotePrefix([]byte(c.text)); got != c.want {
			t.Errorf("quotePrefix(%q) = %s, want %s", c.text, got, c.want)
		}
	}
}

// A frame's optional members make no difference to what else is decoded.
func TestDecodeUndeclaredMembers(t *testing.T) {
	for _, d := range decoders {
		for _, c := range d.frames {
			with := bytes.Replace([]byte(c.line), []byte("{"), []byte(`{"__proto__":{"type":[null]},"constructor":"x","Type":1,"TEXT":2,`), 1)
			got, err := d.decode(Decoder{Numbers: c.numbers}, with)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			equalFrames(t, got, c.want)
		}
	}
}

// Depth is no limit and no danger, in either direction.
func TestDecodeDeep(t *testing.T) {
	const levels = 1_000_000
	args := nested(levels)
	call, err := DecodeChild([]byte(`{"type":"call","id":0,"global":"g","name":"n","args":` + args + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := call.(*Call).Args.String(); got != args {
		t.Errorf("got %d bytes of args, want %d", len(got), len(args))
	}
	line := Append(nil, &ReplyValue{Value: call.(*Call).Args})
	reply, err := Decoder{}.Host(line)
	if err != nil {
		t.Fatal(err)
	}
	if got := reply.(*ReplyValue).Value.String(); got != args {
		t.Errorf("got %d bytes of value, want %d", len(got), len(args))
	}
	open := `{"type":"done","value":` + strings.Repeat(`{"a":[`, levels)
	if _, err := DecodeChild([]byte(open)); !errors.Is(err, lossless.ErrSyntax) {
		t.Errorf("got %v for an open line, want %v", err, lossless.ErrSyntax)
	} else {
		checkMessage(t, err, "")
	}
}

// TestArgsBytes bounds what arguments become, not what the frame has of them.
func TestArgsBytes(t *testing.T) {
	call := func(args string) []byte {
		return []byte(`{"type":"call","id":0,"global":"g","name":"n","args":` + args + `}`)
	}
	d := Decoder{Numbers: lossless.Double, ArgsBytes: 300}
	if _, err := d.Child(call("1e300")); !errors.Is(err, ErrMemberValue) {
		t.Errorf("301 digits: %v, want ErrMemberValue", err)
	}
	if _, err := d.Child(call("1e299")); err != nil {
		t.Errorf("300 digits: %v", err)
	}
	d.Numbers = lossless.Exact
	if _, err := d.Child(call("1e300")); err != nil {
		t.Errorf("as it is spelled: %v", err)
	}
}
