package codemode

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkDeclaredTools compares a run with 200 tools declared with one that has a
// single tool, by turns, and reports the ratio of their medians.
func BenchmarkDeclaredTools(b *testing.B) {
	rt := testRuntime(b)
	var tools []Tool
	for _, c := range readCorpus(b)["servers"] {
		for i := range 12 {
			one := c.tool(b)
			one.Name = fmt.Sprint(one.Name, i)
			tools = append(tools, one)
		}
	}
	program := "return await tools.fetch0(url='u')"
	one := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == "fetch0" })
	few, err := New(rt, tools[one])
	if err != nil {
		b.Fatal(err)
	}
	many, err := New(rt, tools[:200]...)
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
	for b.Loop() {
		manyTimes = append(manyTimes, run(many))
		fewTimes = append(fewTimes, run(few))
	}
	slices.Sort(fewTimes)
	slices.Sort(manyTimes)
	median, base := manyTimes[len(manyTimes)/2], fewTimes[len(fewTimes)/2]
	b.ReportMetric(float64(median)/float64(base), "ratio")
	b.ReportMetric(float64(base.Microseconds()), "one-tool-µs")
}

// BenchmarkSource makes the declarations of 1,000 tools.
func BenchmarkSource(b *testing.B) {
	var tools []Tool
	for _, c := range readCorpus(b)["servers"] {
		for i := range 56 {
			one := c.tool(b)
			one.Name = fmt.Sprint(one.Name, i)
			tools = append(tools, one)
		}
	}
	s := newSet(b, tools[:1000]...)
	for b.Loop() {
		s.Source()
	}
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
