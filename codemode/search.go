package codemode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// The constants of BM25, at their usual values: how soon repeating a word stops to
// count, and how much a long text is held against it.
const (
	saturation = 1.2
	lengthBias = 0.75
)

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

// stem takes endings off a word, so that a verb's forms and a noun's meet.
func stem(word string) string {
	if len(word) > 4 && strings.HasSuffix(word, "ies") {
		return word[:len(word)-3] + "y"
	}
	if len(word) > 3 && !strings.HasSuffix(word, "ss") {
		word = strings.TrimSuffix(word, "s")
	}
	if len(word) > 5 {
		word = strings.TrimSuffix(word, "ing")
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

// find returns the tools that fit a query, best first.
func (x *index) find(query string, most int) []*tool {
	type hit struct {
		tool  *tool
		score float64
	}
	var hits []hit
	words := tokens(cut(query, 500))
	for i, t := range x.tools {
		score := 0.0
		for _, word := range words {
			score += x.score(word, i)
		}
		if score > 0 {
			hits = append(hits, hit{t, score})
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

const (
	defaultHits = 8
	maxHits     = 50
)

// Search returns the tools that fit a query, best first, as the declarations that a
// program can call as they stand. Limit zero means 8.
func (s *Set) Search(query string, limit int) []string {
	if limit <= 0 {
		limit = defaultHits
	}
	b := newStubber(s.catalogue, "", describedBytes)
	var lines []string
	for _, t := range s.index.find(query, min(limit, maxHits)) {
		line := cut(b.tool(t, "").head, 400)
		if words := firstText(t.Description, t.Title); words != "" {
			line += "  # " + prose(words, commentLimit)
		}
		lines = append(lines, line)
	}
	return lines
}

// Describe returns the full declarations of tools, by the names that a program
// calls them by, their true names, or the names of whole namespaces.
func (s *Set) Describe(names ...string) (string, error) {
	b := newStubber(s.catalogue, "", describedBytes)
	b.whole = true
	var chosen []*group
	for _, name := range names {
		found := s.groupsOf(name)
		if len(found) == 0 {
			return "", fmt.Errorf("there is no tool %s%s", quote(cut(name, 80)), s.suggest(name))
		}
		chosen = append(chosen, found...)
	}
	return strings.TrimSpace(s.catalogue.source(b, merged(chosen), s.shape)), nil
}

// groupsOf returns a tool, or a whole namespace, by name.
func (s *Set) groupsOf(name string) []*group {
	for _, g := range s.catalogue.groups {
		if name == g.global || name == g.name {
			return []*group{g}
		}
	}
	t := s.catalogue.find(name)
	if t == nil {
		return nil
	}
	return []*group{{name: t.Namespace, global: t.namespace, tools: []*tool{t}}} // without what is said of all
}

// merged joins groups of the same namespace.
func merged(groups []*group) (out []*group) {
	for _, g := range groups {
		i := slices.IndexFunc(out, func(h *group) bool { return h.global == g.global })
		if i < 0 {
			out = append(out, &group{name: g.name, global: g.global})
			i = len(out) - 1
		}
		out[i].about = cmp.Or(out[i].about, g.about)
		for _, t := range g.tools {
			if !slices.Contains(out[i].tools, t) {
				out[i].tools = append(out[i].tools, t)
			}
		}
	}
	return out
}

func (s *Set) suggest(name string) string {
	var names []string
	for _, t := range s.index.find(name, 3) {
		names = append(names, t.path)
	}
	if len(names) == 0 {
		return "; find one with await " + searchName + "(\"what it does\")"
	}
	return "; close ones are " + strings.Join(names, ", ")
}
