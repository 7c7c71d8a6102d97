package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// An order is a row of the document that is read and written.
type order struct {
	ID      int        `json:"id"`
	Name    string     `json:"name"`
	Price   float64    `json:"price"`
	Active  bool       `json:"active"`
	Parent  *int       `json:"parent"`
	Created string     `json:"created_at"`
	Tags    []string   `json:"tags"`
	At      [2]float64 `json:"at"`
	Note    string     `json:"note"`
}

const documentRows = 2000

func orders() []order {
	words := []string{"alpha", "río", "東京", "pending", "shipped", "a \"quoted\" word\n"}
	rows := make([]order, documentRows)
	for i := range rows {
		rows[i] = order{
			ID: i, Name: words[i%3] + " " + words[(i+1)%5], Price: float64(i) * 1.37, Active: i%2 == 0,
			Created: fmt.Sprintf("2024-03-%02dT10:00:00Z", i%28+1), Tags: []string{words[i%5], words[(i+3)%5]},
			At: [2]float64{float64(i) / 7, -float64(i) / 3}, Note: words[i%6],
		}
		if i > 0 && i%3 == 0 {
			rows[i].Parent = &rows[i-1].ID
		}
	}
	return rows
}

// mixedDocument is some hundred kilobytes of records as tools return them.
func mixedDocument() []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(orders()) // plain values and a buffer: nothing can fail
	return bytes.TrimSpace(b.Bytes())
}

// codecTimes is how often the document is read or written in a round.
const codecTimes = 3

// codec compares both sides with their standard libraries on one document. All of
// Thirdrail's refuse what isn't lossless, which the others let through.
func (s *session) codec(ctx context.Context) error {
	text := mixedDocument()
	value, err := lossless.Parse(text, lossless.Options{})
	if err != nil {
		return err
	}
	rows := orders()
	pairs := [][2]variant{
		{s.inGo("Go: checking (lossless.Parse)", func() error { _, err := lossless.Parse(text, lossless.Options{}); return err }),
			s.inGo("encoding/json.Valid", func() error { json.Valid(text); return nil })},
		{s.inGo("Go: into structs (Value.Decode)", func() error { return value.Decode(new([]order)) }),
			s.inGo("encoding/json.Unmarshal", func() error { return json.Unmarshal(text, new([]order)) })},
		{s.inGo("Go: from structs (lossless.Of)", func() error { _, err := lossless.Of(rows); return err }),
			s.inGo("encoding/json.Marshal", func() error { _, err := json.Marshal(rows); return err })},
		{s.inReference("Python: reading (codec.decode)", "decode", codecTimes, s.clock()), s.inReference("json.loads", "json.loads", codecTimes, s.clock())},
		{s.inReference("Python: writing (codec.encode)", "encode", codecTimes, s.clock()), s.inReference("json.dumps", "json.dumps", codecTimes, s.clock())},
	}
	var variants []variant
	for _, p := range pairs {
		variants = append(variants, p[0], p[1])
	}
	figures, err := s.alternate(ctx, s.options.Rounds, variants)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		s.add(p[0].name, figures[p[0].name], "`"+p[1].name+"`", figures[p[1].name], milliseconds)
	}
	return nil
}

// inGo is a variant: doing something once, of several times.
func (s *session) inGo(name string, f func() error) variant {
	once := s.timed(func(context.Context) error {
		for range codecTimes {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
	return variant{name, func(ctx context.Context) (float64, error) {
		seconds, err := once(ctx)
		return seconds / codecTimes, err
	}}
}
