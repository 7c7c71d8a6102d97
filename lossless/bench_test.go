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

// flatTexts are texts of one flat array, one string and one object.
var flatTexts = []struct {
	name string
	make func(size int) []byte
}{
	{"array", func(size int) []byte {
		return append(append([]byte("["), bytes.Repeat([]byte("1234,"), size/5)...), "0]"...)
	}},
	{"string", func(size int) []byte {
		return append(append([]byte(`"`), bytes.Repeat([]byte("plain text, "), size/12)...), '"')
	}},
	{"object", func(size int) []byte {
		text := append(make([]byte, 0, size+32), '{')
		for i := 0; len(text) < size; i++ {
			text = fmt.Appendf(text, `"name-%d":%d,`, i, i)
		}
		text[len(text)-1] = '}'
		return text
	}},
}

// BenchmarkFlat parses canonical texts of 100 MB. x-linear is the time by byte
// at 100 MB over that at 10 MB: 1 is linear. Nothing is copied, so the bytes by
// operation are those of the names alone.
func BenchmarkFlat(b *testing.B) {
	for _, flat := range flatTexts {
		b.Run(flat.name, func(b *testing.B) {
			small, large := flat.make(10<<20), flat.make(100<<20)
			parse := func(text []byte) {
				v, err := Parse(text, Options{})
				if err != nil || &v.Bytes()[0] != &text[0] {
					b.Fatal("the text was copied or refused", err)
				}
			}
			b.SetBytes(int64(len(large)))
			b.ReportAllocs()
			for b.Loop() {
				parse(large)
			}
			b.StopTimer()
			tenth := timeOf(5, func() { parse(small) })
			whole := timeOf(3, func() { parse(large) })
			text := timeOf(2, func() { jsontext.Value(large).IsValid() })
			b.ReportMetric(float64(whole)/float64(len(large))/(float64(tenth)/float64(len(small))), "x-linear")
			b.ReportMetric(float64(text)/float64(whole), "x-jsontext")
		})
	}
}

// BenchmarkMembers takes a frame apart, against encoding/json into a struct of
// raw messages.
func BenchmarkMembers(b *testing.B) {
	frame := []byte(`{"type":"call","id":12,"global":"tools","name":"search","args":` + string(mixedRecords(4000)) + `}`)
	own := func() {
		size := int64(0)
		if err := Members(frame, Exact, func(m Member) error { size += m.Size; return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		own()
	}
	b.StopTimer()
	standard := timeOf(2000, func() {
		var f struct{ Type, ID, Global, Name, Args json.RawMessage }
		if err := json.Unmarshal(frame, &f); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportMetric(float64(standard)/float64(timeOf(2000, own)), "x-encoding/json")
}

// BenchmarkAppendCanonical respells a document that is indented and escaped.
func BenchmarkAppendCanonical(b *testing.B) {
	var doc, compact bytes.Buffer
	if err := json.Indent(&doc, mixedRecords(1<<20), "", "  "); err != nil {
		b.Fatal(err)
	}
	for _, n := range []Numbers{Exact, Double} {
		b.Run(n.String(), func(b *testing.B) {
			dst := make([]byte, 0, doc.Len())
			own := func() {
				if _, err := AppendCanonical(dst, doc.Bytes(), Options{Numbers: n}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(doc.Len()))
			b.ReportAllocs()
			for b.Loop() {
				own()
			}
			b.StopTimer()
			standard := timeOf(20, func() { compact.Reset(); json.Compact(&compact, doc.Bytes()) })
			b.ReportMetric(float64(standard)/float64(timeOf(20, own)), "x-json.Compact")
		})
	}
}

func BenchmarkStringSize(b *testing.B) {
	for name, s := range map[string]string{"ascii": strings.Repeat("plain text, ", 1000), "mixed": strings.Repeat("text é\n日本 \"q\" ", 1000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				StringSize(s, 1<<30)
			}
			b.StopTimer()
			quoted := timeOf(50, func() { jsontext.AppendQuote(nil, s) })
			b.ReportMetric(float64(quoted)/float64(timeOf(50, func() { StringSize(s, 1<<30) })), "x-AppendQuote")
		})
	}
}

// record is a row of mixedRecords.
type record struct {
	ID      int       `json:"id"`
	Name    string    `json:"name"`
	Price   float64   `json:"price"`
	Ratio   float64   `json:"ratio"`
	Active  bool      `json:"active"`
	Parent  *int      `json:"parent"`
	Created time.Time `json:"created_at"`
	Tags    []string  `json:"tags"`
	Address struct {
		Street string     `json:"street"`
		Zip    string     `json:"zip"`
		Geo    [2]float64 `json:"geo"`
	} `json:"address"`
	Note string `json:"note"`
}

// BenchmarkGo decodes and encodes Go values, against encoding/json.
func BenchmarkGo(b *testing.B) {
	text := mixedRecords(1 << 18)
	v, err := Parse(text, Options{})
	if err != nil {
		b.Fatal(err)
	}
	var rows []record
	if err := v.Decode(&rows); err != nil {
		b.Fatal(err)
	}
	var tree any
	if err := v.Decode(&tree); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		own, standard func() error
	}{
		{"DecodeStruct", func() error { return v.Decode(new([]record)) }, func() error { return json.Unmarshal(text, new([]record)) }},
		{"DecodeAny", func() error { return v.Decode(new(any)) }, func() error { return json.Unmarshal(text, new(any)) }},
		{"OfStruct", func() error { _, err := Of(rows); return err }, func() error { _, err := json.Marshal(rows); return err }},
		{"OfAny", func() error { _, err := Of(tree); return err }, func() error { _, err := json.Marshal(tree); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.own(); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			standard := timeOf(30, func() {
				if err := c.standard(); err != nil {
					b.Fatal(err)
				}
			})
			b.ReportMetric(float64(standard)/float64(timeOf(30, func() { c.own() })), "x-encoding/json")
		})
	}
}
