package codemode

import (
	"errors"
	"fmt"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// value returns what a program gets of a tool's result, by the rule in the
// package's documentation.
func (s *Session) value(t *tool, r Result) (lossless.Value, error) {
	if r.IsError {
		message := joined(r.Content)
		if message == "" && r.Structured.Exists() {
			message = r.Structured.String()
		}
		if message == "" {
			message = "the tool failed and did not say why"
		}
		return lossless.Value{}, errors.New(message)
	}
	v, err := s.success(t, r)
	if err != nil {
		return lossless.Value{}, err
	}
	if t.output == nil {
		s.set.note(t, v, s.marker)
	}
	return v, nil
}

func (s *Session) success(t *tool, r Result) (lossless.Value, error) {
	if r.Structured.Exists() {
		if t.checkOutput != nil {
			decoded := decode(r.Structured, 0)
			if violation := t.checkOutput.check(decoded); violation != nil {
				s.warn("%s: the result does not match its output schema: %s: %s", t.path,
					place("result", violation.InstanceLocation), expected(violation, decoded))
			}
		}
		if inner := r.Structured.Get("result"); (t.wrapper || r.Wrapped) && inner.Exists() && r.Structured.Len() == 1 {
			return inner, nil
		}
		return r.Structured, nil
	}
	if t.output != nil {
		s.warn("%s: it declares an output schema, and sent no structured result", t.path)
	}
	if isText(r.Content) {
		return textValue(joined(r.Content), len(r.Content) > 0, t.output == nil), nil
	}
	var parts []lossless.Value
	for _, c := range r.Content {
		if c.MIME == "" {
			parts = append(parts, str(c.Text))
		} else {
			parts = append(parts, s.keep(c))
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return array(parts), nil
}

func isText(content []Content) bool {
	for _, c := range content {
		if c.MIME != "" {
			return false
		}
	}
	return true
}

func joined(content []Content) string {
	var texts []string
	for _, c := range content {
		if c.MIME == "" {
			texts = append(texts, c.Text)
		} else {
			texts = append(texts, fmt.Sprintf("[%s, %d bytes]", c.MIME, len(c.Data)))
		}
	}
	return strings.Join(texts, "\n")
}

// textValue returns text as the program sees it: as JSON where that is allowed and
// it is an object or an array, which no number and no name is taken for.
func textValue(text string, exists, parse bool) lossless.Value {
	if !exists {
		return lossless.Null
	}
	if start := strings.TrimLeft(text, " \t\r\n"); parse && (strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")) {
		if v, err := lossless.Parse([]byte(text), lossless.Options{}); err == nil {
			return v
		}
	}
	return str(text)
}

// note remembers the shape of the first result of a tool without an output schema.
func (s *Set) note(t *tool, v lossless.Value, marker string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[t] == "" && v.Kind() != lossless.KindNull {
		s.seen[t] = prose(shapeOf(v, marker, 0), 300)
	}
}

// shape returns the remembered shape, or "".
func (s *Set) shape(t *tool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[t]
}

// shapeOf writes what a value is made of.
func shapeOf(v lossless.Value, marker string, depth int) string {
	switch v.Kind() {
	case lossless.KindObject:
		if v.Get(marker).Exists() {
			return "handle of " + text(v.Get("mime"))
		}
		if depth == 4 {
			return "dict"
		}
		var parts []string
		for name, m := range v.Members() {
			if len(parts) == 12 {
				parts = append(parts, "…")
				break
			}
			parts = append(parts, quote(name)+": "+shapeOf(m, marker, depth+1))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case lossless.KindArray:
		first := v.Index(0)
		if depth == 4 || !first.Exists() {
			return "list"
		}
		return "[" + shapeOf(first, marker, depth+1) + ", …]"
	}
	return pythonKind(kindOf(v))
}
