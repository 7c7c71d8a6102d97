package transcript

import (
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/thirdrail-dev/thirdrail/wire"
)

func loadAll(t *testing.T) []*Transcript {
	t.Helper()
	all, err := Load(os.DirFS("../testdata/transcripts"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pair returns two ends of a socket pair, which buffers as the real one does.
func pair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var conns [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		if conns[i], err = net.FileConn(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
		t.Cleanup(func() { conns[i].Close() })
	}
	return conns[0], conns[1]
}

// playBoth lets host play the host against child as the child, and returns what
// each has to say.
func playBoth(t *testing.T, host, child *Transcript) (hostErr, childErr error) {
	t.Helper()
	a, b := pair(t)
	done := make(chan error)
	go func() {
		err := child.PlayChild(b)
		b.Close()
		done <- err
	}()
	hostErr = host.PlayHost(a)
	a.Close()
	return hostErr, <-done
}

func TestTranscripts(t *testing.T) {
	sides := map[string]int{}
	for _, tr := range loadAll(t) {
		t.Run(tr.Name, func(t *testing.T) {
			got, err := tr.Settle()
			if err != nil {
				t.Fatal(err)
			}
			if err := tr.Check(got); err != nil {
				t.Errorf("the outcome is not what the frames make: %v", err)
			}
			if tr.Run() == nil {
				t.Error("there is no run frame")
			}
			if tr.Child {
				hostErr, childErr := playBoth(t, tr, tr)
				if hostErr != nil || childErr != nil {
					t.Errorf("played against itself: host: %v, child: %v", hostErr, childErr)
				}
			}
		})
		if tr.Host {
			sides["host"]++
		}
		if tr.Child {
			sides["child"]++
		}
	}
	if sides["host"] < 10 || sides["child"] < 10 {
		t.Errorf("too few transcripts: %v", sides)
	}
}

const conversation = `plays: host child
> {"type":"boot","cpuSeconds":1,"addressSpaceBytes":2,"maxLogBytes":100,"maxValueBytes":4,"namespaces":[{"global":"g","names":["n"]}],"numbers":"exact","openLogs":true}
< {"type":"boot-ack"}
> {"type":"run","program":"p","data":1}
< {"type":"log","text":"a","open":true}
< {"type":"log","text":"b"}
< {"type":"call","id":0,"global":"g","name":"n","args":{"a":1}}
< {"type":"call","id":1,"global":"g","name":"n","args":2}
> {"type":"reply","id":0,"ok":true,"value":1}
> {"type":"reply","id":1,"ok":false,"message":"no"}
< {"type":"log","text":"c"}
< {"type":"done","value":1}
`

func parse(t *testing.T, text string) *Transcript {
	t.Helper()
	tr, err := Parse("test.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// edits are changes to the conversation that one side speaks, and which player
// must notice, if any.
var edits = []struct {
	name, old, new string
	speaks         Side // the side that speaks the changed conversation
	noticed        bool
}{
	{"nothing", "", "", Child, false},
	{"log text", `"text":"b"`, `"text":"B"`, Child, true},
	{"log cut elsewhere", `"text":"a","open":true}` + "\n" + `< {"type":"log","text":"b"`, `"text":"ab"`, Child, false},
	{"log missing", `< {"type":"log","text":"c"}` + "\n", "", Child, true},
	{"log left open", `"text":"c"`, `"text":"c","open":true`, Child, false},
	{"log truncated", `"text":"c"`, `"text":"c","truncated":true`, Child, true},
	{"proof added", `"boot-ack"`, `"boot-ack","proof":{}`, Child, false},
	{"args", `{"a":1}`, `{"a":2}`, Child, true},
	{"function", `"name":"n","args":2`, `"name":"m","args":2`, Child, true},
	{"calls in another order", `< {"type":"call","id":0,"global":"g","name":"n","args":{"a":1}}
< {"type":"call","id":1,"global":"g","name":"n","args":2}
`, `< {"type":"call","id":1,"global":"g","name":"n","args":2}
< {"type":"call","id":0,"global":"g","name":"n","args":{"a":1}}
`, Child, false},
	{"value", `"done","value":1`, `"done","value":2`, Child, true},
	{"value missing", `"done","value":1`, `"done"`, Child, true},
	{"error", `"done","value":1`, `"done","error":{"kind":"exception","message":"m"}`, Child, true},

	{"memory", `"addressSpaceBytes":2`, `"addressSpaceBytes":3`, Host, false},
	{"confinement added", `"openLogs":true`, `"openLogs":true,"confinement":{"a":1}`, Host, false},
	{"time", `"cpuSeconds":1`, `"cpuSeconds":2`, Host, true},
	{"namespace", `"names":["n"]`, `"names":["n","o"]`, Host, true},
	{"profile", `"exact"`, `"double"`, Host, true},
	{"open logs", `,"openLogs":true`, ``, Host, true},
	{"program", `"program":"p"`, `"program":"q"`, Host, true},
	{"file name", `"program":"p"`, `"program":"p","fileName":"q.py"`, Host, true},
	{"default file name", `"program":"p"`, `"program":"p","fileName":"program.py"`, Host, false},
	{"data", `"data":1`, `"data":2`, Host, true},
	{"reply value", `"ok":true,"value":1`, `"ok":true,"value":3`, Host, true},
	{"reply message", `"no"`, `"no!"`, Host, true},
	{"replies in another order", `> {"type":"reply","id":0,"ok":true,"value":1}
> {"type":"reply","id":1,"ok":false,"message":"no"}
`, `> {"type":"reply","id":1,"ok":false,"message":"no"}
> {"type":"reply","id":0,"ok":true,"value":1}
`, Host, false},
	{"reply twice", `"reply","id":1`, `"reply","id":0`, Host, true},
}

func TestPlayNoticesDifferences(t *testing.T) {
	for _, e := range edits {
		t.Run(e.speaks.String()+"/"+e.name, func(t *testing.T) {
			if e.old != "" && strings.Count(conversation, e.old) != 1 {
				t.Fatalf("the conversation holds %q %d times, want once", e.old, strings.Count(conversation, e.old))
			}
			written, changed := parse(t, conversation), parse(t, strings.Replace(conversation, e.old, e.new, 1))
			host, child := written, changed
			if e.speaks == Host {
				host, child = changed, written
			}
			hostErr, childErr := playBoth(t, host, child)
			noticed := hostErr
			if e.speaks == Host {
				noticed = childErr
			}
			if (noticed != nil) != e.noticed {
				t.Errorf("got %v, want a difference noticed: %v", noticed, e.noticed)
			}
		})
	}
}

func TestPlayMatchesPartOfAMessage(t *testing.T) {
	file := func(kind, message string) *Transcript {
		return parse(t, strings.Replace(conversation, `"done","value":1`, `"done","error":{"kind":"`+kind+`","message":"`+message+`"}`, 1))
	}
	want := file("exception", "KeyError")
	for _, c := range []struct {
		child *Transcript
		same  bool
	}{
		{file("exception", "line 3: KeyError: 1"), true},
		{file("exception", "ValueError"), false},
		{file("output-limit", "KeyError"), false},
	} {
		if err, _ := playBoth(t, want, c.child); (err == nil) != c.same {
			t.Errorf("got %v, want the same: %v", err, c.same)
		}
	}
}

func TestParseErrors(t *testing.T) {
	_, rest, _ := strings.Cut(conversation, "\n")
	for _, c := range []struct{ text, want string }{
		{"", "no line says plays"},
		{"plays: host\n", "there is no conversation"},
		{"plays: both\n", `test.txt:1: plays: "both" is neither`},
		{rest, "no line says plays"},
		{"plays: host\n< {\"type\":\"boot-ack\"}\n> {\"type\":\"run\",\"program\":\"\"}\n", "must be boot and boot-ack"},
		{conversation + "> {\"type\":\"done\"}\n", "test.txt:13: wire: type: unknown frame type"},
		{conversation + "< {}\n", "test.txt:13: wire: type: required"},
		{conversation + "<! {\"type\":\"done\"}\n", "needs the mark < alone"},
		{conversation + "<! junk\n", "line 13 is junk, which no real child sends"},
		{conversation + "values: 1\n", `not with "values:"`},
		{conversation + "value: {\n", "test.txt:13: "},
		{conversation + "logs: 1\n", "test.txt:13: "},
		{conversation + "message: x\n", "test.txt:13: "},
	} {
		if _, err := Parse("test.txt", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error that says %q", err, c.want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	if _, err := Load(fstest.MapFS{}); err == nil {
		t.Error("an empty folder is no error")
	}
	if _, err := Load(fstest.MapFS{"a.txt": {Data: []byte("x")}}); err == nil || !strings.Contains(err.Error(), "a.txt:1") {
		t.Errorf("got %v, want an error that names a.txt:1", err)
	}
}

func TestParts(t *testing.T) {
	tr := parse(t, conversation)
	if got := tr.Boot().Namespaces[0].Global; got != "g" {
		t.Errorf("Boot has namespace %q", got)
	}
	if got := tr.Run().Program; got != "p" {
		t.Errorf("Run has program %q", got)
	}
	var ids []int64
	for _, r := range tr.Replies() {
		ids = append(ids, r.CallID())
	}
	if !slices.Equal(ids, []int64{0, 1}) {
		t.Errorf("Replies answer %v", ids)
	}
}

func TestEntries(t *testing.T) {
	marker := wire.LogTruncationMarker(64)
	open := func(text string) *wire.Log { return &wire.Log{Text: text, Open: true} }
	closed := func(text string) *wire.Log { return &wire.Log{Text: text} }
	notice := &wire.Log{Text: "anything", Truncated: true}
	for _, c := range []struct {
		logs []*wire.Log
		want []string
	}{
		{nil, nil},
		{[]*wire.Log{closed("a"), closed("")}, []string{"a", ""}},
		{[]*wire.Log{open("a"), open("b"), closed("c"), closed("d")}, []string{"abc", "d"}},
		{[]*wire.Log{open(""), open(""), closed("a")}, []string{"a"}},
		{[]*wire.Log{open("a"), closed("")}, []string{"a"}},
		{[]*wire.Log{open("a")}, []string{"a"}},
		{[]*wire.Log{open("")}, nil},
		{[]*wire.Log{notice, closed("a"), notice}, []string{marker}},
		{[]*wire.Log{closed("a"), open("b"), notice}, []string{"a", "b", marker}},
	} {
		if got := Entries(c.logs, 64); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
