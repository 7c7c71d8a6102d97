package codemode

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// The constants of BM25, at their usual values: how soon repeating a word stops to
// count, and how much a long text is held against it.
const (
	saturation = 1.2
	lengthBias = 0.75
)

// beginning is how much a word counts that a word of the query only begins, and shortest
// how many letters such a beginning has.
const (
	beginning = 0.5
	shortest  = 3
)

// longest is how many letters a word has at most whose ending is looked at.
const longest = 40

// index ranks tools for a query by BM25 over their names, titles, descriptions and
// parameters.
type index struct {
	tools   []*tool
	words   []map[string]float64 // how often each word is in a tool's text
	lengths []float64
	average float64
	holders map[string]int // how many tools have a word
}

func newIndex(c *catalogue) *index {
	x := &index{holders: map[string]int{}}
	for _, g := range c.groups {
		for _, t := range g.tools {
			x.add(t)
		}
	}
	for _, length := range x.lengths {
		x.average += length / float64(len(x.lengths))
	}
	return x
}

// add indexes a tool. A word of its name counts as much as several of its text.
func (x *index) add(t *tool) {
	counts := map[string]float64{}
	length := 0.0
	count := func(text string, weight float64) {
		for _, word := range tokens(text) {
			counts[word] += weight
			length += weight
		}
	}
	count(t.Name, 4)
	count(t.Namespace, 2)
	count(t.Title, 2)
	count(cut(t.Description, 4000), 1)
	for _, p := range t.arguments.list {
		count(p.name, 1)
		count(cut(p.schema.description, 500), 0.3)
	}
	for word := range counts {
		x.holders[word]++
	}
	x.tools = append(x.tools, t)
	x.words = append(x.words, counts)
	x.lengths = append(x.lengths, length)
}

// tokens splits text into lower-case words, also where case or digits change inside
// a name, without the endings of plurals.
func tokens(text string) []string {
	var list []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			list = append(list, stem(strings.ToLower(string(word))))
			word = word[:0]
		}
	}
	var last rune
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.IsUpper(r) && unicode.IsLower(last), unicode.IsDigit(r) != unicode.IsDigit(last) && len(word) > 0:
			end()
			word = append(word, r)
		default:
			word = append(word, r)
		}
		last = r
	}
	end()
	return list
}

// stem takes the ending off a word, where it may be an English one.
func stem(word string) string {
	if len(word) > longest || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return word
	}
	return english.Stem(word, true)
}

// A term is a word to look for, and how much it counts.
type term struct {
	word   string
	weight float64
}

// terms returns what a word of a query may stand for: itself, and for less the longer
// words that it begins, as models write repo and dir.
func (x *index) terms(word string) []term {
	list := []term{{word, 1}}
	if utf8.RuneCountInString(word) < shortest {
		return list
	}
	for longer := range x.holders {
		if longer != word && strings.HasPrefix(longer, word) {
			list = append(list, term{longer, beginning})
		}
	}
	return list
}

// find returns the tools that fit a query, best first. Those that fit alike stay in the
// order of their names.
func (x *index) find(query string, most int) []*tool {
	type hit struct {
		tool  *tool
		score float64
	}
	scores := make([]float64, len(x.tools))
	var seen []string
	for _, word := range tokens(cut(query, 500)) {
		if slices.Contains(seen, word) { // saying it again tells nothing, and costs
			continue
		}
		seen = append(seen, word)
		terms := x.terms(word)
		for i := range x.tools {
			best := 0.0
			for _, one := range terms {
				best = max(best, one.weight*x.score(one.word, i))
			}
			scores[i] += best
		}
	}
	var hits []hit
	for i, score := range scores {
		if score > 0 {
			hits = append(hits, hit{x.tools[i], score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var tools []*tool
	for _, h := range hits[:min(len(hits), most)] {
		tools = append(tools, h.tool)
	}
	return tools
}

func (x *index) score(word string, i int) float64 {
	frequency := x.words[i][word]
	if frequency == 0 {
		return 0
	}
	holders := float64(x.holders[word])
	rarity := math.Log(1 + (float64(len(x.tools))-holders+0.5)/(holders+0.5))
	length := 1 - lengthBias + lengthBias*x.lengths[i]/x.average
	return rarity * frequency * (saturation + 1) / (frequency + saturation*length)
}
