package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// bigArgs is a table of about 1 MiB, as a program would send it.
var bigArgs = func() string {
	var b strings.Builder
	b.WriteString(`{"rows":[`)
	for i := 0; b.Len() < 1<<20; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"row %d","price":%d.25,"tags":["a","b\n"],"ok":true,"none":null}`, i, i, i)
	}
	b.WriteString("]}")
	return b.String()
}()

// plainFrame is what a plain host decodes a frame into, without a look at
// duplicate names, numbers or sizes.
type plainFrame struct {
	Type      string          `json:"type"`
	ID        json.RawMessage `json:"id"`
	Global    string          `json:"global"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Text      string          `json:"text"`
	Truncated any             `json:"truncated"`
	Value     json.RawMessage `json:"value"`
}

// ratio runs ours and theirs by turns and reports how many times as long theirs
// takes as "×json", beside the time and throughput of both together.
func ratio(b *testing.B, ours, theirs func()) {
	const turn = 20 // calls between looks at the clock
	var ourTime, theirTime time.Duration
	for b.Loop() {
		start := time.Now()
		for range turn {
			ours()
		}
		middle := time.Now()
		for range turn {
			theirs()
		}
		ourTime += middle.Sub(start)
		theirTime += time.Since(middle)
	}
	b.ReportMetric(float64(theirTime)/float64(ourTime), "×json")
	b.ReportMetric(float64(ourTime.Nanoseconds())/float64(b.N)/turn, "ours-ns")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"log", `{"type":"log","text":"row 17: 42 of 1000 done"}`},
		{"log-escapes", `{"type":"log","text":"\u001b[32mok\u001b[0m\t\"quoted\" text\\path and \u00e9 \ud83d\ude00"}`},
		{"call", `{"type":"call","id":7,"global":"db","name":"query","args":{"sql":"select * from t where id = 1","limit":10}}`},
		{"call-1MiB", `{"type":"call","id":0,"global":"db","name":"insert","args":` + bigArgs + `}`},
		{"call-1MiB-text", `{"type":"call","id":0,"global":"fs","name":"write","args":"` + strings.Repeat("plain text é ", 1<<16) + `"}`},
		{"done", `{"type":"done","value":{"v":42,"l":[1,2,3]}}`},
	} {
		for _, numbers := range []lossless.Numbers{lossless.Exact, lossless.Double} {
			b.Run(c.name+"/"+numbers.String(), func(b *testing.B) {
				line := []byte(c.line)
				d := Decoder{Numbers: numbers}
				ratio(b, func() {
					if _, err := d.Child(line); err != nil {
						b.Fatal(err)
					}
				}, func() {
					var f plainFrame
					if err := json.Unmarshal(line, &f); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name  string
		frame Frame
		plain any
	}{
		{"reply-1MiB", &ReplyValue{ID: 1, Value: value(bigArgs)},
			map[string]any{"type": "reply", "id": 1, "ok": true, "value": json.RawMessage(value(bigArgs).Bytes())}},
		{"run-64KiB", &Run{Program: strings.Repeat("print(\"x\")\n", 6000)},
			map[string]any{"type": "run", "program": strings.Repeat("print(\"x\")\n", 6000)}},
		{"rejection", &ReplyError{ID: 1, Message: "no such table"},
			map[string]any{"type": "reply", "id": 1, "ok": false, "message": "no such table"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var dst []byte
			ratio(b, func() { dst = Append(dst[:0], c.frame) }, func() {
				if _, err := json.Marshal(c.plain); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func BenchmarkReader(b *testing.B) {
	for _, c := range []struct {
		name string
		line string
	}{
		{"short lines", `{"type":"log","text":"row 17: 42 of 1000 done"}` + "\n"},
		{"1 MiB lines", strings.Repeat("x", 1<<20) + "\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := bytes.Repeat([]byte(c.line), 1+(4<<20)/len(c.line))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r := NewReader(bytes.NewReader(text), DefaultFrameBytes)
				for {
					if _, err := r.Next(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
