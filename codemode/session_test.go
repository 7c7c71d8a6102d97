package codemode

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// outcomeCases lists values as a program returns them, with # for the name of
// handles, where two images and a text are kept, and what the client gets of them.
var outcomeCases = []struct {
	name, value, want string
	content           []string
}{
	{"no handle", `{"z":[1.0,null],"a":{"mime":"x"}}`, `{"z":[1.0,null],"a":{"mime":"x"}}`, nil},
	{"a handle", `{"#":1}`, `{"content":0,"mime":"image/gif","size":3}`, []string{"two"}},
	{"handles, in the order of the value", `[{"#":2},{"a":{"#":0}}]`, `[{"content":0,"mime":"text/csv","size":5},{"a":{"content":1,"mime":"image/png","size":3}}]`, []string{"three", "one"}},
	{"one handle twice", `[{"#":0},{"#":0}]`, `[{"content":0,"mime":"image/png","size":3},{"content":0,"mime":"image/png","size":3}]`, []string{"one"}},
	{"a number that isn't there", `[{"#":3},{"#":-1},{"#":1e30}]`, `[null,null,null]`, nil},
	{"no number", `[{"#":"0"},{"#":null},{"#":[0]},{"#":0.5}]`, `[null,null,null,null]`, nil},
	{"more members", `{"#":0,"x":1}`, `{"#":0,"x":1}`, nil},
	{"the name as a text", `["#"]`, `["#"]`, nil},
	{"null", `null`, `null`, nil},
}

func TestOutcome(t *testing.T) {
	for _, c := range outcomeCases {
		s := newSet(t, simple(t, "", "f", echo)).Session()
		for _, kept := range []Content{{MIME: "image/png", Data: []byte("one")}, {MIME: "image/gif", Data: []byte("two")}, {MIME: "text/csv", Data: []byte("three")}} {
			s.keep(kept)
		}
		named := func(text string) string { return strings.ReplaceAll(text, `"#"`, `"`+s.marker+`"`) }
		out := s.Outcome(&thirdrail.Result{Value: parse(t, named(c.value)), Logs: []string{"line"}})
		if got := out.Value.String(); got != named(c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, named(c.want))
		}
		var content []string
		for _, part := range out.Content {
			content = append(content, string(part.Data))
		}
		if !slices.Equal(content, c.content) || len(out.Logs) != 1 {
			t.Errorf("%s: content %q, want %q; logs %q", c.name, content, c.content, out.Logs)
		}
	}
}

// TestDeepOutcome: a value far deeper than anything is looked for in crosses as it is.
func TestDeepOutcome(t *testing.T) {
	s := newSet(t, simple(t, "", "f", echo)).Session()
	s.keep(Content{MIME: "image/png"})
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	if out := s.Outcome(&thirdrail.Result{Value: parse(t, deep)}); out.Value.String() != deep || len(out.Content) > 0 {
		t.Error("the value is another")
	}
	if out := s.Outcome(&thirdrail.Result{}); out.Value.Exists() {
		t.Errorf("there is a value: %s", out.Value)
	}
}

// TestHandleIsRead: handles are read by their number, and by nothing else.
func TestHandleIsRead(t *testing.T) {
	s := newSet(t).Session()
	handle := s.keep(Content{MIME: "image/png", Data: pixel})
	read, err := s.read(t.Context(), handle.Get(s.marker))
	if text, wrong := read.Text(); err != nil || wrong != nil || text != base64.StdEncoding.EncodeToString(pixel) {
		t.Errorf("%s, %v", read, err)
	}
	for _, number := range []string{"1", "-1", `"0"`, "null", "{}", "0.5", "1e300"} {
		if read, err := s.read(t.Context(), parse(t, number)); err == nil || read.Exists() {
			t.Errorf("%s reads %s", number, read)
		}
	}
}

// TestNamespaces: each Session has the same functions, and a name of its own for
// handles, which no tool can know.
func TestNamespaces(t *testing.T) {
	set := newSet(t, runTools(t)...)
	first, second := set.Session(), set.Session()
	if first.marker == second.marker || len(first.marker) < 26 {
		t.Errorf("handles are named %q and %q", first.marker, second.marker)
	}
	names := func(s *Session) string {
		var all []string
		for _, n := range s.Namespaces() {
			for name := range n.Funcs {
				if name != s.marker {
					all = append(all, n.Global+"."+name)
				} else if n.Handles != s.marker {
					t.Errorf("%s: a program sees %s", n.Global, name)
				}
			}
			if !n.SplitArguments || n.ErrorClass == nil || n.ErrorClass != s.Namespaces()[0].ErrorClass && n.ErrorClass.Name != errorClass {
				t.Errorf("%s: %+v", n.Global, n)
			}
		}
		slices.Sort(all)
		return fmt.Sprint(all)
	}
	if names(first) != names(second) || !strings.Contains(names(first), "web.send-email web.send_email") {
		t.Errorf("the functions are %s", names(first))
	}
	if list := newSet(t).Session().Namespaces(); list != nil {
		t.Errorf("without tools there are %v", list)
	}
}

// TestFunction: a call is bound, counted where it reached its tool, and answered.
func TestFunction(t *testing.T) {
	var seen recorder
	set := newSet(t, Tool{Name: "f", Handler: seen.handle, InputSchema: parse(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)})
	s := set.Session()
	f := s.function(set.catalogue.groups[0].tools[0])
	for call, want := range map[string]string{
		`[[],{"n":9007199254740993}]`: `{"n":9007199254740993}`,
		`[[1],{}]`:                    `{"n":1}`,
		`[[],{}]`:                     "missing 1 required keyword-only argument: 'n'\nThe signature is: tools.f(*, n: int) -> Any",
		`[[],{"n":"x"}]`:              "argument n: expected int, got str\nThe signature is: ",
		`null`:                        "missing 1 required", // a forged call
		`[1,2]`:                       "missing 1 required",
		`"x"`:                         "missing 1 required",
	} {
		value, err := f(t.Context(), parse(t, call))
		got := value.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
	if out := s.Outcome(&thirdrail.Result{}); out.Calls != 2 || len(seen.args) != 2 {
		t.Errorf("%d calls, the handler saw %v", out.Calls, seen.args)
	}
}

// TestWarnings: each is told once, and not without end.
func TestWarnings(t *testing.T) {
	s := newSet(t).Session()
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			s.warn("w%d %s", i%30, strings.Repeat("x\n", 1000))
			s.keep(Content{MIME: "a/b"})
		})
	}
	group.Wait()
	out := s.Outcome(&thirdrail.Result{Value: lossless.Null})
	if len(out.Warnings) != 20 || len(slices.Compact(slices.Sorted(slices.Values(out.Warnings)))) != 20 {
		t.Errorf("%d warnings", len(out.Warnings))
	}
	for _, warning := range out.Warnings {
		if strings.Contains(warning, "\n") || len(warning) > 450 {
			t.Errorf("a warning of %d bytes: %.100q", len(warning), warning)
		}
	}
}
