package jobs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/cmd/thirdrail/internal/report"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// result returns a line of results, with its newline.
func result(t *testing.T, id, value, failure string) string {
	t.Helper()
	parse := func(text string) lossless.Value {
		if text == "" {
			return lossless.Value{}
		}
		v, err := lossless.Parse([]byte(text), lossless.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	ran := &thirdrail.Result{Value: parse(value), Logs: []string{"a\n\"b\""}}
	if failure != "" {
		ran.Failure = &thirdrail.Failure{Kind: thirdrail.Exception, Message: failure}
	}
	line, err := Result{ID: parse(id), Report: report.Of(ran)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// invalidLine returns the result of a bad line.
func invalidLine(t *testing.T, number int64) string {
	t.Helper()
	line, err := Invalid(Job{Line: number}, ErrNoJobs).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// results returns lines of each kind.
func results(t *testing.T) []string {
	t.Helper()
	return []string{
		result(t, "1", `{"deep":[9007199254740993,-0.0]}`, ""),
		result(t, `"a\\\"é"`, "", ""),
		result(t, "-1.5e+3", "", "no"),
		invalidLine(t, 12),
	}
}

// TestEncode: the members, and their order.
func TestEncode(t *testing.T) {
	const stats = `"stats":{"wallMs":0.0,"cpuMs":0.0,"startMs":0.0,"peakMemoryBytes":0,"calls":0,"droppedFrames":0,"logBytes":0,"start":"","isolation":""}}` + "\n"
	for _, c := range []struct{ got, want string }{
		{result(t, "1", "null", ""), `{"id":1,"value":null,"logs":["a\n\"b\""],` + stats},
		{result(t, "1.0", "", "no"), `{"id":1.0,"logs":["a\n\"b\""],"error":{"kind":"exception","message":"no"},` + stats},
		{invalidLine(t, 7), `{"id":null,"line":7,"logs":[],"error":{"kind":"invalid-job","message":"line 7: these are no jobs"},` + stats},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

// resume opens a file that has text in it, begins, writes one more line, and returns
// what is in it then.
func resume(t *testing.T, text string, options OutputOptions) (string, *IDs) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	o, err := OpenOutput(path, options)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for _, step := range []error{o.Begin(), o.Write([]byte("new\n")), o.Close()} {
		if step != nil {
			t.Fatalf("%q: %v", text, step)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("there are other files: %v", entries)
	}
	return string(got), o.IDs()
}

// TestMend cuts a file at each byte: what is whole stays, a half is removed, and the
// ids of what is whole are done.
func TestMend(t *testing.T) {
	for _, last := range results(t) {
		before := result(t, `"before"`, "1", "")
		all := before + last
		for cut := range len(all) + 1 {
			want, known := "", 0
			if cut >= len(before)-1 {
				want, known = before, 1
			}
			if cut >= len(all)-1 { // also where just the newline is missing
				want, known = all, 2
			}
			got, ids := resume(t, all[:cut], OutputOptions{Resume: true})
			if got != want+"new\n" || len(ids.known) != known {
				t.Fatalf("cut at %d of %q: %q, %d ids", cut, all, got, len(ids.known))
			}
		}
	}
}

// TestRetryFailed: results that are errors are dropped, and the others stay byte for
// byte, also in another spelling.
func TestRetryFailed(t *testing.T) {
	lines := results(t)
	spelled := `{"stats": {}, "logs": [], "value": 1.50, "id": 5}` + "\n"
	want := lines[0] + spelled + lines[1] + "new\n"
	for _, end := range []string{"", `{"id":3`, lines[2][:len(lines[2])-1]} {
		got, ids := resume(t, lines[2]+lines[0]+spelled+lines[3]+lines[1]+end, OutputOptions{Resume: true, RetryFailed: true})
		if got != want || len(ids.known) != 3 {
			t.Errorf("%q, want %q; %d ids", got, want, len(ids.known))
		}
	}
}

// foreign lists texts that no batch wrote, or that were changed since.
var foreign = []struct{ name, text, says string }{
	{"prose", "hello\n", `has a line 1 that is no result: not JSON`},
	{"prose without a newline", "hello", "line 1 that is no result"},
	{"a blank line", "\n", "line 1"},
	{"a job", job("1"), `it has a member "program"; a result is an object with "id", "logs", "stats"`},
	{"a job without a newline", strings.TrimSpace(job("1")), "line 1 that is no result"},
	{"a half job", `{"id":1,"program":"ret`, "line 1 that is no result"},
	{"a half object with spaces", `{"id": 1`, "line 1"},
	{"a half with another id", `{"id":[1`, "line 1"},
	{"a half with words for an id", `{"id":nothing`, "line 1"},
	{"a short half", `{"ie`, "line 1"},
	{"no id", `{"logs":[],"stats":{}}` + "\n", "line 1"},
	{"null and no line", `{"id":null,"logs":[],"stats":{}}` + "\n", "line 1"},
	{"a line that is none", `{"id":null,"line":"x","logs":[],"stats":{}}` + "\n", "wrong type"},
	{"no logs", `{"id":1,"stats":{}}` + "\n", "line 1"},
	{"no stats", `{"id":1,"logs":[]}` + "\n", "line 1"},
	{"logs of another kind", `{"id":1,"logs":{},"stats":{}}` + "\n", "line 1"},
	{"an id twice", `{"id":1,"id":2,"logs":[],"stats":{}}` + "\n", "duplicate object name"},
	{"zeros", "\x00\x00\x00", "line 1"},
	{"a list", "[]\n", "line 1"},
}

func TestForeignOutput(t *testing.T) {
	for _, c := range foreign {
		for _, before := range []string{"", result(t, "0", "1", "")} {
			path := filepath.Join(t.TempDir(), "out")
			text := before + c.text
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, options := range []OutputOptions{{Resume: true}, {Resume: true, RetryFailed: true}, {}} {
				o, err := OpenOutput(path, options)
				says := strings.ReplaceAll(c.says, "line 1", fmt.Sprintf("line %d", 1+strings.Count(before, "\n")))
				if !options.Resume {
					says = "isn't empty; write --resume to go on where it ends"
				}
				if o != nil || err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%s: %v, want %q", c.name, err, says)
				}
			}
			if got, _ := os.ReadFile(path); string(got) != text {
				t.Errorf("%s: it was changed to %q", c.name, got)
			}
		}
	}
}

// TestUnusedOutput: without Begin, what was there is there as it was, and what wasn't
// there isn't.
func TestUnusedOutput(t *testing.T) {
	folder := t.TempDir()
	old, fresh := filepath.Join(folder, "old"), filepath.Join(folder, "fresh")
	if err := os.WriteFile(old, []byte(`{"id":`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, fresh} {
		o, err := OpenOutput(path, OutputOptions{Resume: true, RetryFailed: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(old); string(text) != `{"id":` {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(fresh); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

func TestOutputRefuses(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		path    string
		options OutputOptions
		says    string
	}{
		{folder, OutputOptions{}, "can't be opened: is a directory; give the path of a file"},
		{filepath.Join(folder, "none", "out"), OutputOptions{}, "can't be opened: no such file or directory"},
		{os.DevNull, OutputOptions{Resume: true}, "is no regular file, so there is nothing to resume"},
	} {
		if o, err := OpenOutput(c.path, c.options); o != nil || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	o, err := OpenOutput(os.DevNull, OutputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{o.Begin(), o.Write([]byte("x\n")), o.Close()} {
		if step != nil {
			t.Error(step)
		}
	}
}

// TestOutputOfTwo: a file is for one batch at a time, also by way of a link, and also
// once it was rewritten.
func TestOutputOfTwo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows is not supported, and has other locks")
	}
	folder := t.TempDir()
	path, link := filepath.Join(folder, "out"), filepath.Join(folder, "link")
	if err := os.WriteFile(path, []byte(result(t, "1", "", "no")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	o, err := OpenOutput(link, OutputOptions{Resume: true, RetryFailed: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := OpenOutput(path, OutputOptions{Resume: true}); err == nil || !strings.Contains(err.Error(), "another batch may be writing it") {
			t.Errorf("%v", err)
		}
		if err := o.Begin(); err != nil {
			t.Error(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if target, err := os.Readlink(link); target != path {
		t.Errorf("the link is %q, %v", target, err)
	}
}

// TestWriteIsOneCall: a line goes out in one piece.
func TestWriteIsOneCall(t *testing.T) {
	var calls writes
	o := NewOutput(&calls)
	for _, line := range []string{"a\n", strings.Repeat("b", 1<<20) + "\n"} {
		if err := o.Write([]byte(line)); err != nil {
			t.Error(err)
		}
	}
	if err := o.Close(); err != nil || !slices.Equal(calls, []int{2, 1<<20 + 1}) {
		t.Errorf("%v, %v", calls, err)
	}
}

type writes []int

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, len(p))
	return len(p), nil
}

// TestHalf: each beginning of a line of ours is a half.
func TestHalf(t *testing.T) {
	for _, line := range results(t) {
		for cut := range len(line) - 1 {
			if !half(line[:cut]) {
				t.Errorf("%q is none", line[:cut])
			}
		}
		if w, err := parseResult(bytes.TrimSpace([]byte(line))); err != nil {
			t.Errorf("%s: %+v, %v", line, w, err)
		}
	}
}
