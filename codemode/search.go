package codemode

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
