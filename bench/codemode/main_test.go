package main

import (
	"os"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

func TestMain(m *testing.M) {
	serve() // where this binary is to be one of the servers
	os.Exit(m.Run())
}

// TestMeasure measures everything in a tiny size: that it works, never how fast.
func TestMeasure(t *testing.T) {
	b := bench{rounds: 1, calls: 3, clients: 4, runs: 1}
	r, err := b.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.ways) != 4 || len(r.overheads) == 0 || r.crowd == nil {
		t.Fatalf("%+v", r)
	}
	alone, together, program, looks := r.ways[0].cost, r.ways[1].cost, r.ways[2].cost, r.ways[3].cost
	trips := []int{alone.trips, together.trips, program.trips, looks.trips}
	for i, want := range []int{21, 4, 2, 3} {
		if trips[i] != want {
			t.Errorf("%s: %d requests to the model, want %d", r.ways[i].name, trips[i], want)
		}
	}
	if alone.distinct != together.distinct || alone.written != together.written || alone.tools != together.tools {
		t.Errorf("single calls differ in more than turns: %+v, %+v", alone, together)
	}
	if program.read >= alone.read || program.distinct >= alone.distinct || looks.read >= alone.read {
		t.Errorf("a program costs more than single calls: %+v", r.ways)
	}
	for _, o := range r.overheads {
		if len(o.direct) != 1 || len(o.through) != 1 || len(o.gathered) != 1 || len(o.answered) != 1 || o.direct[0] <= 0 || o.through[0] <= 0 {
			t.Errorf("%+v", o)
		}
	}
	if len(r.crowd.latencies) != 4 {
		t.Errorf("%+v", r.crowd)
	}
	text := r.markdown()
	for _, part := range []string{"### A task of 20 steps", "| one program | 2 |", "| a server in Go that answers at once |", "### 4 clients at once"} {
		if !strings.Contains(text, part) {
			t.Errorf("the report lacks %q:\n%s", part, text)
		}
	}
	if _, err := os.Stat(b.folder); !os.IsNotExist(err) {
		t.Errorf("the folder is left behind: %v", err)
	}
}

func TestMeasureRefuses(t *testing.T) {
	b := bench{rounds: 1, calls: 1, clients: 0, runs: 1}
	if r, err := b.measure(t.Context()); r != nil || err == nil || !strings.Contains(err.Error(), "0 clients") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestCount counts a talk of two turns by hand. "hello world" has two tokens.
func TestCount(t *testing.T) {
	tokens, err := tokenizer.Get(vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) int {
		n, err := tokens.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := number("hello world"); n != 2 {
		t.Fatalf("hello world has %d tokens", n)
	}
	talk := newTranscript([]definition{}, "hello world")
	talk.turn([]toolCall{{"f", map[string]any{"a": "<b>"}}}, []string{"hello world"})
	talk.end("hello")
	got, err := talk.count(tokens)
	if err != nil {
		t.Fatal(err)
	}
	made, tools := number(`{"name":"f","input":{"a":"<b>"}}`), number("[]")
	want := cost{trips: 2, calls: 1, tools: tools, written: made + 1,
		read: 2*(tools+2) + made + 2, distinct: tools + 2 + made + 2}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSameEnd: a way that ends elsewhere is a fault.
func TestSameEnd(t *testing.T) {
	good := ending{2, "msg_1"}
	ways := []way{{"a", cost{calls: steps}}, {"b", cost{calls: 1}}}
	for _, c := range []struct {
		ends []ending
		ok   bool
	}{
		{[]ending{good, good}, true},
		{[]ending{good, {3, "msg_1"}}, false},
		{[]ending{good, {2, "msg_2"}}, false},
		{[]ending{{}, {}}, false},
	} {
		if err := sameEnd(c.ends, ways); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.ends, err)
		}
	}
	ways[0].cost.calls--
	if sameEnd([]ending{good, good}, ways) == nil {
		t.Error("a task of 19 calls is none of 20")
	}
}

// TestTracker: the lists are what the task stands on.
func TestTracker(t *testing.T) {
	for _, c := range []struct {
		query        listQuery
		total, shown int
	}{
		{listQuery{Repo: repository, Label: "bug"}, 18, 18},
		{listQuery{Repo: repository}, 24, 24},
		{listQuery{Repo: repository, Page: 3, PerPage: 10}, 24, 4},
		{listQuery{Repo: repository, Page: 9}, 24, 0},
		{listQuery{Repo: repository, State: "closed"}, 0, 0},
		{listQuery{Repo: "other/one"}, 0, 0},
	} {
		if got := list(issues(), c.query); got.Total != c.total || len(got.Issues) != c.shown {
			t.Errorf("%+v: %d of %d, want %d of %d", c.query, len(got.Issues), got.Total, c.shown, c.total)
		}
	}
}
