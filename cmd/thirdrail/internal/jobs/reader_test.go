package jobs

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// told returns what a Reader makes of a stream, one short text a job.
func told(t *testing.T, r *Reader) (list []string, err error) {
	t.Helper()
	for {
		job, err := r.Next()
		if err != nil {
			return list, err
		}
		text := fmt.Sprintf("%d:%s", job.Line, job.ID)
		if job.Fault != nil {
			text += "!"
		}
		if job.Done {
			text += " done"
		}
		list = append(list, text)
	}
}

// job returns a line with an id.
func job(id string) string { return `{"id":` + id + `,"program":"x"}` + "\n" }

// streams lists streams with the jobs in them: line and id, a mark for a fault, and
// whether it is done.
var streams = []struct {
	name, text string
	done       []string // ids, or line numbers as "line 3"
	want       string
}{
	{"nothing", "", nil, ""},
	{"blank lines only", "\n \t\r\n\n", nil, ""},
	{"lines", job("1") + job(`"a"`), nil, `1:1, 2:"a"`},
	{"blank lines between", "\n\n" + job("1") + "  \r\n" + job("2"), nil, "3:1, 5:2"},
	{"no newline at the end", job("1") + strings.TrimSpace(job("2")), nil, "1:1, 2:2"},
	{"a half line at the end", job("1") + job("2")[:12], nil, "1:1, 2:!"},
	{"a byte order mark", byteOrderMark + job("1"), nil, "1:1"},
	{"bad lines between", job("1") + "x\n" + `{"id":3}` + "\n" + job("4"), nil, "1:1, 2:!, 3:3!, 4:4"},
	{"bad lines before", "x\n[]\n" + job("4"), nil, "1:!, 2:!, 3:4"},
	{"an id twice", job("1") + job("1") + job("2"), nil, "1:1, 2:!, 3:2"},
	{"ids that are not the same", job("1") + job("1.0") + job(`"1"`) + job("1e0"), nil, `1:1, 2:1.0, 3:"1", 4:1e0`},
	{"an id in two spellings", job(`"a"`) + job(`"\u0061"`), nil, `1:"a", 2:!`},
	{"an id twice, once with a fault", `{"id":1}` + "\n" + job("1"), nil, "1:1!, 2:!"},
	{"some are done", job("1") + job("2") + job(`"1"`), []string{"1"}, `1:1 done, 2:2, 3:"1"`},
	{"one that is done, twice", job("1") + job("1"), []string{"1"}, "1:1 done, 2:!"},
	{"all is done", job("1") + "x\n" + job("1"), []string{"1", "line 2", "line 3"}, "1:1 done, 2:! done, 3:! done"},
	{"an id that looks like a line", job(`"line 2"`) + "x\n", []string{`"line 2"`}, `1:"line 2" done, 2:!`},
}

func TestReader(t *testing.T) {
	for _, c := range streams {
		for _, peek := range []bool{false, true} {
			r := NewReader(iotest.OneByteReader(strings.NewReader(c.text)), lossless.Exact, doneIDs(t, c.done))
			if peek {
				if err := r.Begin(); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			}
			list, err := told(t, r)
			if got := strings.Join(list, ", "); got != c.want || err != io.EOF {
				t.Errorf("%s: %s (%v), want %s", c.name, got, err, c.want)
			}
		}
	}
}

func doneIDs(t *testing.T, texts []string) *IDs {
	t.Helper()
	var ids IDs
	for _, text := range texts {
		var number int64
		id, err := lossless.Parse([]byte(text), lossless.Options{})
		if _, wrong := fmt.Sscanf(text, "line %d", &number); wrong != nil && err != nil {
			t.Fatal(err)
		}
		if err := ids.done(key(id, number)); err != nil {
			t.Fatal(err)
		}
	}
	return &ids
}

// TestReaderCountsBytes: all of the input is accounted for by its jobs, but for blank
// lines at the end.
func TestReaderCountsBytes(t *testing.T) {
	text := "\n\n" + job("1") + " \n" + "x\n" + job("1") + job("2")
	r := NewReader(strings.NewReader(text), lossless.Exact, &IDs{})
	sum := int64(0)
	for {
		job, err := r.Next()
		if err != nil {
			break
		}
		sum += job.Bytes
	}
	if sum != int64(len(text)) {
		t.Errorf("%d bytes of %d", sum, len(text))
	}
}

func TestBeginRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"one line that is none", "import os", "line 1: the line is not a JSON object"},
		{"a list over lines", "\n[\n" + strings.Repeat(`"x",`+"\n", 20) + "]\n", "line 2: "},
		{"a hundred lines before", strings.Repeat("x\n", 100) + job("1"), "line 1: "},
	} {
		err := NewReader(strings.NewReader(c.text), lossless.Exact, &IDs{}).Begin()
		if !errors.Is(err, ErrNoJobs) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := NewReader(strings.NewReader(strings.Repeat("x\n", 99)+job("1")), lossless.Exact, &IDs{}).Begin(); err != nil {
		t.Errorf("99 lines before: %v", err)
	}
}

// TestReaderErrors: what was read before an error of the stream comes first.
func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader(job("1")+job("2")[:5]), iotest.ErrReader(broken)), lossless.Exact, &IDs{})
	if err := r.Begin(); err != nil {
		t.Error(err)
	}
	if list, err := told(t, r); strings.Join(list, "") != "1:1" || err != broken {
		t.Errorf("%v, %v", list, err)
	}
	if err := NewReader(iotest.ErrReader(broken), lossless.Exact, &IDs{}).Begin(); err != broken {
		t.Errorf("at once: %v", err)
	}
}

// TestLongLines: a line far beyond the limit is read past in bounded memory, and those
// around it are jobs. At the limit it is one.
func TestLongLines(t *testing.T) {
	const most = 1 << 20 // in the place of MaxLineBytes, which takes its time
	fitting := `{"id":2,"program":"` + strings.Repeat("x", most-len(`{"id":2,"program":""}`)) + `"}`
	for _, c := range []struct {
		name string
		line io.Reader
		want string
	}{
		{"at the limit", strings.NewReader(fitting), "1:1, 2:2, 3:3"},
		{"one more", strings.NewReader(fitting + " "), "1:1, 2:!, 3:3"},
		{"far more", io.LimitReader(zeros{}, 64*most), "1:1, 2:!, 3:3"},
	} {
		r := NewReader(io.MultiReader(strings.NewReader(job("1")), c.line, strings.NewReader("\n"+job("3"))), lossless.Exact, &IDs{})
		r.lines.max = most
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		list, err := told(t, r)
		runtime.ReadMemStats(&after)
		if got := strings.Join(list, ", "); got != c.want || err != io.EOF {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 10*most {
			t.Errorf("%s: it took %d bytes", c.name, took)
		}
	}
	r := NewReader(io.LimitReader(zeros{}, MaxLineBytes+1), lossless.Exact, &IDs{})
	if job, err := r.Next(); err != nil || job.Fault == nil || !strings.Contains(job.Fault.Error(), "the line has more than 32 MiB; give the program less") {
		t.Errorf("%v, %v", job.Fault, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestIDsAreBounded: beyond the bound new ids are forgotten, those before are not,
// and an output with more can't be resumed.
func TestIDsAreBounded(t *testing.T) {
	ids := &IDs{most: 2}
	r := NewReader(strings.NewReader(job("1")+job("2")+job("3")+job("3")+job("1")), lossless.Exact, ids)
	if list, _ := told(t, r); strings.Join(list, ", ") != "1:1, 2:2, 3:3, 4:3, 5:!" || !ids.Full() {
		t.Errorf("%v, full %v", list, ids.Full())
	}
	ids = &IDs{most: 1}
	if err := errors.Join(ids.done(key(lossless.True, 0)), ids.done(key(lossless.False, 0))); !errors.Is(err, errTooMany) {
		t.Errorf("%v", err)
	}
}
