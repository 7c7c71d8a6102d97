package codemode

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// aliases gives each true name an identifier that is its own. Names that are
// identifiers already, and not reserved, keep themselves. The others are numbered
// where they meet another, in the order given by names, and never take the true
// name of another.
func aliases(names []string, make func(string) string, reserved func(string) bool) map[string]string {
	given := map[string]string{}
	taken := map[string]bool{}
	for _, name := range names {
		taken[name] = true
		if make(name) == name && !reserved(name) {
			given[name] = name
		}
	}
	for _, name := range names {
		if given[name] != "" {
			continue
		}
		base := make(name)
		if reserved(base) {
			base += "_"
		}
		alias := base
		for n := 2; taken[alias] || reserved(alias); n++ {
			alias = fmt.Sprintf("%s_%d", strings.TrimSuffix(base, "_"), n)
		}
		taken[alias] = true
		given[name] = alias
	}
	return given
}

// identifier returns the identifier that is nearest to a name.
func identifier(name string) string {
	if isIdentifier(name) && !isPrivate(name) {
		return name
	}
	var b strings.Builder
	for _, r := range norm.NFKC.String(name) {
		if !isNameRune(r) {
			r = '_'
		}
		b.WriteRune(r)
	}
	id := b.String()
	if strings.Trim(id, "_") == "" {
		id = "_" + strings.Repeat("x", min(len(id), 1))
	}
	if isPrivate(id) {
		id = "_" + strings.Trim(id, "_")
	}
	if first := []rune(id)[0]; unicode.IsDigit(first) {
		id = "_" + id
	}
	if hardWords[id] {
		id += "_"
	}
	return id
}

// isPrivate tells whether Python changes the name inside a class, or has a meaning
// of its own for it.
func isPrivate(name string) bool { return strings.HasPrefix(name, "__") }

// asciiIdentifier returns the identifier for a namespace, in ASCII.
func asciiIdentifier(name string) string {
	id := identifier(strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '_'
		}
		return r
	}, norm.NFKD.String(withoutMarks(name))))
	return id
}

// withoutMarks returns a name without accents, so that "café" becomes cafe.
func withoutMarks(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(name))
}

// typeName returns words as the name of a type: createOrder and "line-items" become
// CreateOrderLineItems.
func typeName(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		start := true
		for _, r := range norm.NFKC.String(part) {
			if !isNameRune(r) || r == '_' {
				start = true
				continue
			}
			if start {
				r = unicode.ToUpper(r)
			}
			start = false
			b.WriteRune(r)
		}
	}
	name := b.String()
	switch {
	case name == "":
		return "Type"
	case unicode.IsDigit([]rune(name)[0]):
		return "T" + name
	}
	return cutName(name)
}

// cutName bounds the length of a type's name, keeping its end, which tells most.
func cutName(name string) string {
	const most = 60
	runes := []rune(name)
	if len(runes) <= most {
		return name
	}
	return string(slices.Concat(runes[:most/3], []rune("_"), runes[len(runes)-most*2/3+1:]))
}
