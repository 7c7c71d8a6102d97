package codemode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// BenchmarkDeclaredTools compares a run with 200 tools declared with one that has a
// single tool, by turns, and reports the ratio of their medians.
func BenchmarkDeclaredTools(b *testing.B) {
	rt := testRuntime(b)
	tools := numbered(b, 200)
	program := "return await tools.fetch0(url='u')"
	one := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == "fetch0" })
	few, err := New(rt, tools[one])
	if err != nil {
		b.Fatal(err)
	}
	many, err := New(rt, tools...)
	if err != nil {
		b.Fatal(err)
	}
	run := func(s *Set) time.Duration {
		start := time.Now()
		out, err := s.Run(b.Context(), program)
		if err != nil || out.Failure != nil {
			b.Fatal(err, out)
		}
		return time.Since(start)
	}
	run(few)
	run(many)
	var fewTimes, manyTimes []time.Duration
	for i := 0; b.Loop(); i++ {
		// The first of a pair has the child that was made ahead, so they take turns.
		if i%2 == 0 {
			manyTimes = append(manyTimes, run(many))
		}
		fewTimes = append(fewTimes, run(few))
		if i%2 == 1 {
			manyTimes = append(manyTimes, run(many))
		}
	}
	base := median(fewTimes)
	b.ReportMetric(float64(median(manyTimes))/float64(base), "ratio")
	b.ReportMetric(float64(base.Microseconds()), "one-tool-µs")
}

// BenchmarkThousandTools takes in 1,000 tools, and makes their declarations. The ratio
// is to encoding/json reading their schemas, by turns.
func BenchmarkThousandTools(b *testing.B) {
	tools := numbered(b, 1000)
	s := newSet(b, tools...)
	read := func() {
		for _, one := range tools {
			for _, schema := range []lossless.Value{one.InputSchema, one.OutputSchema} {
				var decoded any
				if err := json.Unmarshal(schema.Bytes(), &decoded); err != nil && schema.Exists() {
					b.Fatal(err)
				}
			}
		}
	}
	for _, c := range []struct {
		name string
		work func()
	}{{"set-up", func() { newSet(b, tools...) }}, {"declarations", func() { s.Source() }}} {
		b.Run(c.name, func(b *testing.B) {
			var ours, theirs []time.Duration
			for b.Loop() {
				ours = append(ours, timed(c.work))
				theirs = append(theirs, timed(read))
			}
			b.ReportMetric(float64(median(ours).Microseconds())/1000, "ms")
			b.ReportMetric(float64(median(ours))/float64(median(theirs)), "ratio")
		})
	}
}

func timed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkBind checks the arguments of a call.
func BenchmarkBind(b *testing.B) {
	for _, c := range readCorpus(b)["servers"] {
		if c.Name != "send_email" {
			continue
		}
		one := newSet(b, c.tool(b)).catalogue.groups[0].tools[0]
		call := parse(b, `[[],{"to":["a@example.com","b@example.com"],"subject":"s","attachments":[{"filename":"f","data":"AAAA"}]}]`)
		for b.Loop() {
			if _, err := one.bind(call); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkSearch looks among 1,000 tools for what a model asks, and for as many
// beginnings of words as a query can hold.
func BenchmarkSearch(b *testing.B) {
	s := newSet(b, numbered(b, 1000)...)
	var beginnings strings.Builder
	for a := 'a'; a <= 'z'; a++ {
		for e := 'a'; e <= 'z'; e++ {
			fmt.Fprintf(&beginnings, "%c%c%c ", a, "eior"[e%4], e)
		}
	}
	for name, query := range map[string]string{"question": "search for issues in a repo", "beginnings": beginnings.String()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Search(query, 8)
			}
		})
	}
}
