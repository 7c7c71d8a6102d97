package thirdrail

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// suiteCase is one text of JSONTestSuite.
type suiteCase struct {
	Name   string `json:"name"`
	Base64 []byte `json:"base64"`
	Repeat int    `json:"repeat"`
	Tail   []byte `json:"tail"`
}

func (c suiteCase) text() []byte {
	return append(bytes.Repeat(c.Base64, max(c.Repeat, 1)), c.Tail...)
}

func loadSuite(t *testing.T) []suiteCase {
	t.Helper()
	file, err := os.Open("lossless/testdata/jsontestsuite.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var cases []suiteCase
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var c suiteCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 300 {
		t.Fatalf("only %d cases", len(cases))
	}
	return cases
}

// suiteRefused are the texts that the suite accepts and lossless doesn't, since
// one of the two members would be lost.
var suiteRefused = []string{"y_object_duplicated_key", "y_object_duplicated_key_and_value"}

// suiteAccepted are those on which the suite leaves it open, and lossless accepts.
var suiteAccepted = []string{
	"i_number_double_huge_neg_exp", "i_number_real_underflow",
	"i_number_too_big_neg_int", "i_number_too_big_pos_int", "i_number_very_big_negative_int",
	"i_object_key_lone_2nd_surrogate",
	"i_string_1st_surrogate_but_2nd_missing", "i_string_1st_valid_surrogate_2nd_invalid",
	"i_string_incomplete_surrogate_and_escape_valid", "i_string_incomplete_surrogate_pair",
	"i_string_incomplete_surrogates_escape_valid", "i_string_invalid_lonely_surrogate", "i_string_invalid_surrogate",
	"i_string_inverted_surrogates_U+1D11E", "i_string_lone_second_surrogate",
	"i_structure_500_nested_arrays",
}

// suiteEchoed is what comes back where Python spells a number in another way than
// the text does: it is the same double, or the same integer.
var suiteEchoed = map[string]string{
	"i_number_double_huge_neg_exp":    `[0.0]`,
	"i_number_real_underflow":         `[0.0]`,
	"y_number":                        `[1.23e+67]`,
	"y_number_0e+1":                   `[0.0]`,
	"y_number_0e1":                    `[0.0]`,
	"y_number_double_close_to_zero":   `[-1e-78]`,
	"y_number_int_with_exp":           `[200.0]`,
	"y_number_minus_zero":             `[0]`,
	"y_number_negative_zero":          `[0]`,
	"y_number_real_capital_e":         `[1e+22]`,
	"y_number_real_capital_e_neg_exp": `[0.01]`,
	"y_number_real_capital_e_pos_exp": `[100.0]`,
	"y_number_real_exponent":          `[1.23e+47]`,
	"y_number_real_fraction_exponent": `[1.23456e+80]`,
	"y_number_real_neg_exp":           `[0.01]`,
	"y_number_real_pos_exponent":      `[100.0]`,
	"y_object_extreme_numbers":        `{"min":-1e+28,"max":1e+28}`,
}

func accepted(name string) bool {
	switch name[0] {
	case 'y':
		return name != suiteRefused[0] && name != suiteRefused[1]
	case 'n':
		return false
	}
	for _, known := range suiteAccepted {
		if name == known {
			return true
		}
	}
	return false
}

// suiteProgram asks for every text, compares what arrives with what Python's own
// json module makes of the text, and sends it back.
const suiteProgram = `import json
def same(a, b):
    return type(a) is type(b) and repr(a) == repr(b)
got = 0
for name in data:
    try:
        value = await suite.text(name)
    except RuntimeError as error:
        assert "lossless" in str(error), error
        await suite.back({"name": name, "rejected": True})
        continue
    assert same(value, json.loads(await suite.source(name))), [name, value]
    await suite.back({"name": name, "value": value})
    got += 1
return got`

// TestJSONSuite gives each text of JSONTestSuite to a program as a reply, and
// has it sent back.
func TestJSONSuite(t *testing.T) {
	cases := loadSuite(t)
	for _, python := range pythons.All(t) {
		t.Run(pythonName(python), func(t *testing.T) {
			t.Parallel()
			rt := newRuntime(t, Config{Python: python})
			suite := &suiteHost{t: t, cases: map[string]suiteCase{}}
			var names []string
			want := 0
			for _, c := range cases {
				suite.cases[c.Name] = c
				names = append(names, c.Name)
				if accepted(c.Name) {
					want++
				}
			}
			data, err := lossless.Of(names)
			if err != nil {
				t.Fatal(err)
			}
			result, err := rt.Run(t.Context(), Request{Program: suiteProgram, Data: data, Namespaces: suite.namespaces()})
			if err != nil || result.Err() != nil {
				t.Fatal(err, result.Err())
			}
			if result.Value.String() != fmt.Sprint(want) || suite.seen.Load() != int64(len(cases)) {
				t.Errorf("%s texts were accepted and %d came back, want %d and %d", result.Value, suite.seen.Load(), want, len(cases))
			}
		})
	}
}

// suiteHost is the host's side of one run.
type suiteHost struct {
	t     *testing.T
	cases map[string]suiteCase
	seen  atomic.Int64
}

func (s *suiteHost) namespaces() []Namespace {
	return []Namespace{{Global: "suite", Funcs: Funcs{
		"text": Bind(func(_ context.Context, name string) (lossless.Value, error) {
			return lossless.Parse(s.cases[name].text(), lossless.Options{})
		}),
		// The text as a string; those that are accepted are UTF-8.
		"source": Bind(func(_ context.Context, name string) (string, error) {
			return string(s.cases[name].text()), nil
		}),
		"back": Bind(s.back),
	}}}
}

func (s *suiteHost) back(_ context.Context, in struct {
	Name     string         `json:"name"`
	Rejected bool           `json:"rejected"`
	Value    lossless.Value `json:"value"`
}) (any, error) {
	s.seen.Add(1)
	if in.Rejected == accepted(in.Name) {
		s.t.Errorf("%s: rejected is %v", in.Name, in.Rejected)
	}
	if in.Rejected {
		return nil, nil
	}
	want, ok := suiteEchoed[in.Name]
	if !ok {
		value, err := lossless.Parse(s.cases[in.Name].text(), lossless.Options{})
		if err != nil {
			return nil, err
		}
		want = value.String()
	}
	if got := in.Value.String(); got != want {
		s.t.Errorf("%s: %s came back, want %s", in.Name, short(got), short(want))
	}
	return nil, nil
}

// TestJSONSuiteForged has a program write each text of the suite as the argument of
// a call: what a line on descriptor 3 holds is judged as strictly. The program reads
// the replies itself, since calls that are unanswered when it returns may never start.
func TestJSONSuiteForged(t *testing.T) {
	var program strings.Builder
	program.WriteString("import os\nbefore, after = b'{\"type\":\"call\",\"id\":%d,\"global\":\"tools\",\"name\":\"null\",\"args\":', b'}\\n'\n")
	program.WriteString("def send(id, text):\n    line = before % id + text + after\n    while line:\n        line = line[os.write(3, line):]\n")
	calls, dropped := 0, 0
	for _, c := range loadSuite(t) {
		text := c.text()
		if bytes.Contains(text, []byte("\n")) || len(text) > 1<<20 || closesEarly(text) {
			continue // it would be several lines, or another frame
		}
		fmt.Fprintf(&program, "send(%d, bytes.fromhex(\"%x\"))\n", calls, text)
		if accepted(c.Name) {
			calls++
		} else {
			dropped++
		}
	}
	if calls < 80 || dropped < 150 {
		t.Fatalf("only %d calls and %d others", calls, dropped)
	}
	runCases(t, []programCase{{
		Name:    "all",
		Limits:  Limits{Wall: 20 * time.Second},
		Program: program.String() + fmt.Sprintf("replies = 0\nwhile replies < %d:\n    replies += os.read(3, 65536).count(b'\\n')\nreturn \"end\"", calls),
		Value:   `"end"`,
		Check: func(t *testing.T, result *Result) {
			if result.Stats.Calls != int64(calls) || result.Stats.DroppedFrames != int64(dropped) {
				t.Errorf("%d calls and %d dropped frames, want %d and %d", result.Stats.Calls, result.Stats.DroppedFrames, calls, dropped)
			}
		},
	}})
}

// closesEarly tells whether a text that is no JSON makes JSON of what stands
// around it, as `1,"x":2` would.
func closesEarly(text []byte) bool {
	line := append([]byte(`{"args":`), text...)
	return json.Valid(append(line, '}')) && !json.Valid(text)
}
