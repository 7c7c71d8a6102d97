package wire

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// encodeCases are frames and the line that each becomes.
var encodeCases = []struct {
	frame Frame
	want  string
}{
	{&Boot{}, `{"type":"boot","cpuSeconds":0,"addressSpaceBytes":0,"maxLogBytes":0,"maxValueBytes":0,"namespaces":[]}`},
	{fullBoot, `{"type":"boot","cpuSeconds":1,"addressSpaceBytes":2,"maxLogBytes":3,"maxValueBytes":9007199254740991,` +
		`"namespaces":[{"global":"a","names":[]},{"global":"b","names":["x","","\"é😀"],"errorClass":{"name":"E","memberNameProperty":"p"},"splitArguments":true,"handles":"h"}],` +
		`"numbers":"exact","openLogs":true,"confinement":{"k":[1]}}`},
	{&Run{}, `{"type":"run","program":""}`},
	{fullRun, `{"type":"run","program":"print(\"\\n\")\n","fileName":"a.py","data":[1.50],"lastExpression":true}`},
	{&ReplyValue{}, `{"type":"reply","id":0,"ok":true,"value":null}`},
	{&ReplyValue{ID: MaxInteger, Value: value(`{"a":"\ud800"}`)}, `{"type":"reply","id":9007199254740991,"ok":true,"value":{"a":"\ud800"}}`},
	{&ReplyError{ID: 1}, `{"type":"reply","id":1,"ok":false,"message":""}`},
	{&ReplyError{ID: 1, Message: "a\xffb\xed\xa0\x80\x00"}, `{"type":"reply","id":1,"ok":false,"message":"a` + "\uFFFDb\uFFFD\uFFFD\uFFFD" + `\u0000"}`},
	{&BootAck{}, `{"type":"boot-ack"}`},
	{fullBootAck, `{"type":"boot-ack","proof":{}}`},
	{&Call{}, `{"type":"call","id":0,"global":"","name":"","args":null}`},
	{&Call{ID: 2, Global: "g", Name: "n", Args: value(`[ 1, {"a" : 2} ]`)}, `{"type":"call","id":2,"global":"g","name":"n","args":[1,{"a":2}]}`},
	{&Log{}, `{"type":"log","text":""}`},
	{fullLog, `{"type":"log","text":"<&>` + "\u2028\u2029\x7f" + `\b\t\n\f\r\u000b\u001f\"\\/","truncated":true,"open":true}`},
	{&Done{}, `{"type":"done"}`},
	{&Done{Size: 5, Fault: &lossless.Error{}}, `{"type":"done"}`},
	{fullDone, `{"type":"done","value":0,"error":{"kind":"exception","message":"m"}}`},
}

// One of each frame with all its fields set.
var (
	fullBoot = &Boot{CPUSeconds: 1, AddressSpaceBytes: 2, MaxLogBytes: 3, MaxValueBytes: MaxInteger,
		Namespaces: []Namespace{{Global: "a"}, {Global: "b", Names: []string{"x", "", "\"é😀"}, ErrorClass: &ErrorClass{"E", "p"}, SplitArguments: true, Handles: "h"}},
		Numbers:    NumbersExact, OpenLogs: true, Confinement: value(`{"k":[1]}`)}
	fullRun     = &Run{Program: "print(\"\\n\")\n", FileName: "a.py", Data: value("[1.50]"), LastExpression: true}
	fullBootAck = &BootAck{Proof: value("{}")}
	fullLog     = &Log{Text: "<&>\u2028\u2029\x7f\b\t\n\f\r\v\x1f\"\\/", Truncated: true, Open: true}
	fullDone    = &Done{Value: value("0"), Error: &DoneError{KindException, "m"}}
)

func TestAppend(t *testing.T) {
	for _, c := range encodeCases {
		got := string(Append([]byte("before"), c.frame))
		if diff := cmp.Diff("before"+c.want+"\n", got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", c.frame, diff)
		}
	}
}

// TestAppendFollowsTheStructs keeps the encoders and the structs' declarations
// together: what is sent is what is declared, in the same order.
func TestAppendFollowsTheStructs(t *testing.T) {
	for _, f := range []Frame{fullBoot, fullRun, &ReplyValue{}, &ReplyError{}, fullBootAck, &Call{}, fullLog, fullDone} {
		declared, required := map[string]bool{}, map[string]bool{}
		for field := range declaredFields(reflect.TypeOf(f).Elem()) {
			declared[field.name] = true
			if field.required {
				required[field.name] = true
			}
		}
		zero := reflect.New(reflect.TypeOf(f).Elem()).Interface().(Frame)
		if diff := cmp.Diff(declared, memberNames(t, f)); diff != "" {
			t.Errorf("%T with all fields (-declared +sent):\n%s", f, diff)
		}
		if diff := cmp.Diff(required, memberNames(t, zero)); diff != "" {
			t.Errorf("%T with no fields (-required +sent):\n%s", f, diff)
		}
	}
}

func memberNames(t *testing.T, f Frame) map[string]bool {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(Append(nil, f), &members); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name := range members {
		names[name] = true
	}
	return names
}

// TestDecodersKnowTheDeclaredNames keeps the decoders' lists and the structs'
// declarations together.
func TestDecodersKnowTheDeclaredNames(t *testing.T) {
	names := func(types ...reflect.Type) []string {
		found := map[string]bool{}
		for _, typ := range types {
			for field := range declaredFields(typ) {
				found[field.name] = true
			}
		}
		return slices.Sorted(maps.Keys(found))
	}
	frameNames := func(frames []Frame) []string {
		var types []reflect.Type
		for _, f := range frames {
			types = append(types, reflect.TypeOf(f).Elem())
		}
		return names(types...)
	}
	for _, c := range []struct {
		name      string
		want, got []string
	}{
		{"host frames", frameNames(hostFrames), hostMembers},
		{"child frames", frameNames(childFrames), childMembers},
		{"done.error", names(reflect.TypeFor[DoneError]()), doneErrorMembers},
		{"namespace", names(reflect.TypeFor[Namespace]()), namespaceMembers},
		{"errorClass", names(reflect.TypeFor[ErrorClass]()), errorClassMembers},
	} {
		if diff := cmp.Diff(c.want, slices.Sorted(slices.Values(c.got))); diff != "" {
			t.Errorf("%s (-declared +decoded):\n%s", c.name, diff)
		}
		if len(c.got) > len(fields{}.list) {
			t.Errorf("%s: %d names do not fit the decoder's %d places", c.name, len(c.got), len(fields{}.list))
		}
	}
}

func TestLogTruncationMarker(t *testing.T) {
	for n, want := range map[int64]string{
		0:       "[thirdrail] log capture truncated at 0 bytes",
		1 << 18: "[thirdrail] log capture truncated at 262144 bytes",
	} {
		if got := LogTruncationMarker(n); got != want {
			t.Errorf("LogTruncationMarker(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestNumbersProfile(t *testing.T) {
	for n, want := range map[Numbers]lossless.Numbers{"": lossless.Double, NumbersDouble: lossless.Double, NumbersExact: lossless.Exact} {
		if got := n.Profile(); got != want {
			t.Errorf("Numbers(%q).Profile() = %v, want %v", n, got, want)
		}
		if n != "" && NumbersOf(want) != n {
			t.Errorf("NumbersOf(%v) = %q, want %q", want, NumbersOf(want), n)
		}
		if n != "" && want.String() != string(n) {
			t.Errorf("package lossless calls the profile %q, the wire %q", want, n)
		}
	}
}

// jsonTexts generates JSON of any shape, not canonical.
func jsonTexts(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		space := rapid.SampledFrom([]string{"", "", "", " ", "\t\r\n "}).Draw(t, "space")
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case kind == 0 && depth > 0:
			list := rapid.SliceOfN(jsonTexts(depth-1), 0, 4).Draw(t, "array")
			return "[" + space + strings.Join(list, space+","+space) + "]"
		case kind == 1 && depth > 0:
			var members []string
			for _, name := range rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID).Draw(t, "names") {
				members = append(members, jsonString(name)+space+":"+jsonTexts(depth-1).Draw(t, "member"))
			}
			return "{" + strings.Join(members, ",") + space + "}"
		case kind <= 3:
			text := jsonString(rapid.String().Draw(t, "string"))
			return strings.Replace(text, `"`, `"`+rapid.SampledFrom([]string{"", `\ud800`, `\/`, `\u0041`, `\udfff\ud800`}).Draw(t, "escape"), 1)
		}
		return rapid.SampledFrom([]string{
			"0", "-0", "-0.0", "1", "3.0", "1e2", "9007199254740993", "1e-400", "1.7976931348623157e308",
			"123456789012345678901234567890", "null", "true", "false",
		}).Draw(t, "scalar")
	})
}

func jsonString(s string) string { return string(appendQuoted(nil, s)) }

func values() *rapid.Generator[lossless.Value] {
	return rapid.Map(jsonTexts(3), value)
}

func objects() *rapid.Generator[lossless.Value] {
	return rapid.Map(jsonTexts(2), func(text string) lossless.Value { return value(`{"x":` + text + `}`) })
}

// maybe generates an absent value as well.
func maybe(g *rapid.Generator[lossless.Value]) *rapid.Generator[lossless.Value] {
	return rapid.OneOf(rapid.Just(lossless.Value{}), g)
}

func integers() *rapid.Generator[int64] { return rapid.Int64Range(0, MaxInteger) }

func namespaces() *rapid.Generator[Namespace] {
	return rapid.Custom(func(t *rapid.T) Namespace {
		n := Namespace{
			Global: rapid.String().Draw(t, "global"),
			Names:  rapid.SliceOf(rapid.String()).Draw(t, "names"),

			SplitArguments: rapid.Bool().Draw(t, "split"),
			Handles:        rapid.String().Draw(t, "handles"),
		}
		if rapid.Bool().Draw(t, "has error class") {
			n.ErrorClass = &ErrorClass{rapid.String().Draw(t, "class"), rapid.String().Draw(t, "property")}
		}
		return n
	})
}

func hostFrameGenerator() *rapid.Generator[Frame] {
	return rapid.Custom(func(t *rapid.T) Frame {
		switch rapid.IntRange(0, 3).Draw(t, "frame") {
		case 0:
			return &Boot{
				CPUSeconds:        integers().Draw(t, "cpu"),
				AddressSpaceBytes: integers().Draw(t, "memory"),
				MaxLogBytes:       integers().Draw(t, "log"),
				MaxValueBytes:     integers().Draw(t, "value"),
				Namespaces:        rapid.SliceOf(namespaces()).Draw(t, "namespaces"),
				Numbers:           rapid.SampledFrom([]Numbers{"", NumbersExact, NumbersDouble}).Draw(t, "numbers"),
				OpenLogs:          rapid.Bool().Draw(t, "open"),
				Confinement:       maybe(objects()).Draw(t, "confinement"),
			}
		case 1:
			return &Run{
				Program:  rapid.String().Draw(t, "program"),
				FileName: rapid.String().Draw(t, "file"),
				Data:     maybe(values()).Draw(t, "data"),

				LastExpression: rapid.Bool().Draw(t, "last"),
			}
		case 2:
			return &ReplyValue{ID: integers().Draw(t, "id"), Value: values().Draw(t, "value")}
		}
		return &ReplyError{ID: integers().Draw(t, "id"), Message: rapid.String().Draw(t, "message")}
	})
}

func childFrameGenerator() *rapid.Generator[Frame] {
	return rapid.Custom(func(t *rapid.T) Frame {
		switch rapid.IntRange(0, 3).Draw(t, "frame") {
		case 0:
			return &BootAck{Proof: maybe(objects()).Draw(t, "proof")}
		case 1:
			return &Call{
				ID:     integers().Draw(t, "id"),
				Global: rapid.String().Draw(t, "global"),
				Name:   rapid.String().Draw(t, "name"),
				Args:   values().Draw(t, "args"),
			}
		case 2:
			text := rapid.String().Draw(t, "text")
			return &Log{
				Text:      text,
				Truncated: rapid.Bool().Draw(t, "truncated"),
				Open:      rapid.Bool().Draw(t, "open"),
				Size:      int64(len(jsonString(text))),
			}
		}
		if rapid.Bool().Draw(t, "failed") {
			kind := rapid.SampledFrom(ErrorKind("").literals()).Draw(t, "kind")
			return &Done{Error: &DoneError{ErrorKind(kind), rapid.String().Draw(t, "message")}}
		}
		v := maybe(values()).Draw(t, "value")
		return &Done{Value: v, Size: int64(len(v.Bytes()))}
	})
}

// Every frame comes back from its line as it was, and the line is plain JSON.
func TestRoundTrip(t *testing.T) {
	generators := map[string]*rapid.Generator[Frame]{"child": childFrameGenerator(), "host": hostFrameGenerator()}
	for _, d := range decoders {
		t.Run(d.name, rapid.MakeCheck(func(t *rapid.T) {
			want := generators[d.name].Draw(t, "frame")
			line := Append(nil, want)
			if !json.Valid(line) || !utf8.Valid(line) || strings.Count(string(line), "\n") != 1 {
				t.Fatalf("not a line of JSON: %q", line)
			}
			got, err := d.decode(Decoder{}, line[:len(line)-1])
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if diff := cmp.Diff(want, got, sameFrame); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", line, diff)
			}
			if again := Append(nil, got); string(again) != string(line) {
				t.Fatalf("encoded again: %s, want %s", again, line)
			}
		}))
	}
}

// Strings of any bytes make a valid line, which decodes to the same text with
// U+FFFD for what is not UTF-8.
func TestAnyTextIsALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		line := Append(nil, &ReplyError{Message: raw})
		got, err := Decoder{}.Host(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if want := string([]rune(raw)); got.(*ReplyError).Message != want {
			t.Fatalf("got %q, want %q", got.(*ReplyError).Message, want)
		}
	})
}

func TestAppendDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 1<<10)
	for _, c := range encodeCases {
		if n := testing.AllocsPerRun(10, func() { dst = Append(dst[:0], c.frame) }); n > 0 {
			t.Errorf("%T: %v allocations", c.frame, n)
		}
	}
}
