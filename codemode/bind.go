package codemode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// bind returns the arguments of a call, [[positional…],{keywords}], as the object
// that the tool's schema speaks of, or an error in Python's words.
func (t *tool) bind(call lossless.Value) (lossless.Value, error) {
	var positional []lossless.Value
	for _, v := range call.Index(0).Elements() {
		positional = append(positional, v)
	}
	keywords := call.Index(1)
	if len(positional) == 1 && keywords.Len() == 0 && t.isWhole(positional[0]) {
		keywords, positional = positional[0], nil
	}
	given, err := t.assign(positional, keywords)
	if err != nil {
		return lossless.Value{}, err
	}
	given = t.withoutNulls(given)
	if err := t.missing(given); err != nil {
		return lossless.Value{}, err
	}
	args := object(given)
	decoded := decode(args, 0)
	if violation := t.checkInput.check(decoded); violation != nil {
		steps := violation.InstanceLocation
		if len(steps) == 0 {
			return lossless.Value{}, fmt.Errorf("%s(): %s", t.path, expected(violation, decoded))
		}
		return lossless.Value{}, fmt.Errorf("%s(): argument %s: %s", t.path, place(t.aliasOf(steps[0]), steps[1:]), expected(violation, decoded))
	}
	return args, nil
}

// isWhole tells whether a single positional value is the object of all arguments,
// and not the first of them.
func (t *tool) isWhole(v lossless.Value) bool {
	if v.Kind() != lossless.KindObject {
		return false
	}
	decoded := decode(v, 0)
	if t.checkInput.check(decoded) == nil && t.knowsAll(v) {
		return true
	}
	if len(t.arguments.list) == 0 {
		return true
	}
	first := t.checkInput.schema.Properties[t.arguments.list[0].name]
	return first == nil || first.Validate(decoded) != nil
}

func (t *tool) knowsAll(v lossless.Value) bool {
	for name := range v.Members() {
		if _, ok := t.parameter(name); !ok && !t.takesMore() {
			return false
		}
	}
	return true
}

func (t *tool) takesMore() bool { return t.arguments.any || t.arguments.extra != nil }

// parameter finds a parameter by its true name, or else by its alias.
func (t *tool) parameter(name string) (parameter, bool) {
	for _, p := range t.arguments.list {
		if p.name == name {
			return p, true
		}
	}
	for _, p := range t.arguments.list {
		if p.alias == name {
			return p, true
		}
	}
	return parameter{}, false
}

func (t *tool) aliasOf(name string) string {
	if p, ok := t.parameter(name); ok {
		return p.alias
	}
	return prose(name, 60)
}

// assign gives each value its parameter.
func (t *tool) assign(positional []lossless.Value, keywords lossless.Value) (given []member, err error) {
	if most := len(t.arguments.list); len(positional) > most {
		return nil, fmt.Errorf("%s() takes %s but %d %s given", t.path,
			countArguments(most), len(positional), plural(len(positional), "was", "were"))
	}
	seen := map[string]bool{}
	for i, v := range positional {
		name := t.arguments.list[i].name
		seen[name] = true
		given = append(given, member{name, v})
	}
	for keyword, v := range keywords.Members() {
		name := keyword
		p, ok := t.parameter(keyword)
		switch {
		case ok:
			name = p.name
		case !t.takesMore():
			return nil, fmt.Errorf("%s() got an unexpected keyword argument '%s'%s", t.path, prose(keyword, 60), t.closest(keyword))
		}
		if seen[name] {
			return nil, fmt.Errorf("%s() got multiple values for argument '%s'", t.path, prose(keyword, 60))
		}
		seen[name] = true
		given = append(given, member{name, v})
	}
	return given, nil
}

func countArguments(n int) string {
	return fmt.Sprintf("%d positional %s", n, plural(n, "argument", "arguments"))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// withoutNulls leaves out arguments that are null where they may be left out and
// may not be null: that is how models write "not given".
func (t *tool) withoutNulls(given []member) []member {
	return slices.DeleteFunc(given, func(m member) bool {
		if m.value.Kind() != lossless.KindNull {
			return false
		}
		p, ok := t.parameter(m.name)
		schema := t.checkInput.schema.Properties[m.name]
		return ok && !p.required && schema != nil && schema.Validate(nil) != nil
	})
}

// missing tells of required arguments that aren't there, as Python does.
func (t *tool) missing(given []member) error {
	var names []string
	for _, p := range t.arguments.list {
		if p.required && !slices.ContainsFunc(given, func(m member) bool { return m.name == p.name }) {
			names = append(names, "'"+p.alias+"'")
		}
	}
	if len(names) == 0 {
		return nil
	}
	listed := names[0]
	switch n := len(names); {
	case n == 2:
		listed = names[0] + " and " + names[1]
	case n > 2:
		listed = strings.Join(names[:n-1], ", ") + ", and " + names[n-1]
	}
	return fmt.Errorf("%s() missing %d required keyword-only %s: %s", t.path, len(names), plural(len(names), "argument", "arguments"), listed)
}

// closest suggests the parameter that an unknown keyword may mean.
func (t *tool) closest(keyword string) string {
	var names []string
	for _, p := range t.arguments.list {
		names = append(names, p.alias)
	}
	if name := nearest(keyword, names); name != "" {
		return ". Did you mean '" + name + "'?"
	}
	return ""
}

// nearest returns the name that is most like a word, or "".
func nearest(word string, names []string) string {
	word = cut(word, 60)
	best, least := "", len(word)/2+1
	for _, name := range names {
		d := distance(strings.ToLower(word), strings.ToLower(name))
		if word != "" && strings.HasPrefix(name, word) || len(name) > 2 && strings.HasPrefix(word, name) {
			d = 0
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is Levenshtein's, for names of up to 60 characters.
func distance(a, b string) int {
	x, y := []rune(cut(a, 60)), []rune(cut(b, 60))
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		last := row[0]
		row[0] = i + 1
		for j := range y {
			cost := last
			if x[i] != y[j] {
				cost = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], cost
		}
	}
	return row[len(y)]
}

// withSignature adds to an error how the tool is called.
func (s *Set) withSignature(t *tool, err error) error {
	b := newStubber(s.catalogue, " (see await "+describeName+"(\"%s\"))", describedBytes)
	return errors.New(err.Error() + "\nThe signature is: " + cut(b.tool(t, "").head, 1500))
}
