package lossless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// mixedRecords is a document of records as tools return them: short ASCII
// strings, some text that isn't ASCII, integers, floats, flags and lists.
func mixedRecords(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("alpha beta gamma delta río señal 東京 データ status pending shipped 🙂 the quick brown fox jumps over a lazy dog")
	sentence := func(n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"%s","price":%.2f,"ratio":%v,"active":%t,"parent":null,`,
			i, sentence(3), r.Float64()*1000, r.Float64(), r.IntN(2) == 0)
		fmt.Fprintf(&b, `"created_at":"2024-03-%02dT%02d:%02d:00Z","tags":["%s","%s"],`,
			r.IntN(28)+1, r.IntN(24), r.IntN(60), sentence(1), sentence(1))
		fmt.Fprintf(&b, `"address":{"street":"%s","zip":"%05d","geo":[%.6f,%.6f]},"note":"%s \"quoted\"\n"}`,
			sentence(4), r.IntN(100000), r.Float64()*180-90, r.Float64()*360-180, sentence(r.IntN(20)))
	}
	b.WriteByte(']')
	return b.Bytes()
}

// timeOf returns the least time of several runs of f, the figure that other
// work on the machine disturbs least.
func timeOf(runs int, f func()) time.Duration {
	best := time.Duration(1 << 62)
	for range runs {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

// BenchmarkCheck compares Check, which also measures and applies the number
// rule, with two validators on the same document. The ratios are how many times
// as fast it is.
func BenchmarkCheck(b *testing.B) {
	doc := mixedRecords(9 << 20)
	for _, n := range []Numbers{Exact, Double} {
		b.Run(n.String(), func(b *testing.B) {
			if _, err := Check(doc, Options{Numbers: n}); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				Check(doc, Options{Numbers: n, MaxBytes: 1 << 30})
			}
			b.StopTimer()
			own := timeOf(8, func() { Check(doc, Options{Numbers: n, MaxBytes: 1 << 30}) })
			text := timeOf(8, func() {
				if !jsontext.Value(doc).IsValid() {
					b.Fatal("jsontext refuses the document")
				}
			})
			std := timeOf(4, func() {
				if !json.Valid(doc) {
					b.Fatal("encoding/json refuses the document")
				}
			})
			b.ReportMetric(float64(text)/float64(own), "x-jsontext")
			b.ReportMetric(float64(std)/float64(own), "x-encoding/json")
		})
	}
}
