package codemode

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Session is one run of a Set, for those who call a Runtime's Run themselves. It
// has the content that tools gave, and the warnings.
type Session struct {
	set *Set
	// marker is the member name of handles. No server can know it, so no result of
	// a tool can pass for a handle.
	marker string

	mu       sync.Mutex
	content  []Content
	warnings []string
	calls    int64 // that reached a handler
}

// Session returns a Session for one run.
func (s *Set) Session() *Session { return &Session{set: s, marker: "content-" + rand.Text()} }

// Namespaces returns what the program can call, for Request.Namespaces.
func (s *Session) Namespaces() []thirdrail.Namespace {
	class := &thirdrail.ErrorClass{Name: errorClass, MemberNameProperty: "tool"}
	var list []thirdrail.Namespace
	for _, g := range s.set.catalogue.groups {
		funcs := thirdrail.Funcs{s.marker: s.read}
		for _, t := range g.tools {
			f := s.function(t)
			funcs[t.Name], funcs[t.alias] = f, f
		}
		list = append(list, thirdrail.Namespace{
			Global: g.global, Funcs: funcs, ErrorClass: class, SplitArguments: true, Handles: s.marker,
		})
	}
	if len(list) == 0 {
		return nil
	}
	for _, t := range []*tool{s.set.search, s.set.describe} {
		funcs := thirdrail.Funcs{"__call__": s.set.finder(t)}
		list = append(list, thirdrail.Namespace{Global: t.path, Funcs: funcs, ErrorClass: class, SplitArguments: true})
	}
	slices.SortFunc(list, func(a, b thirdrail.Namespace) int { return strings.Compare(a.Global, b.Global) })
	return list
}

// function returns a tool as the program calls it.
func (s *Session) function(t *tool) thirdrail.Func {
	return func(ctx context.Context, args lossless.Value) (lossless.Value, error) {
		bound, err := t.bind(args)
		if err != nil {
			return lossless.Value{}, s.set.withSignature(t, err)
		}
		s.count()
		result, err := t.Handler(ctx, bound)
		if err != nil {
			return lossless.Value{}, err
		}
		return s.value(t, result)
	}
}

func (s *Session) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
}

// keep takes content that isn't text, and returns what stands for it in a value.
func (s *Session) keep(c Content) lossless.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = append(s.content, c)
	members := []member{
		{s.marker, number(len(s.content) - 1)},
		{"mime", str(c.MIME)},
		{"size", number(len(c.Data))},
	}
	if c.Name != "" {
		members = append(members, member{"name", str(c.Name)})
	}
	return object(members)
}

// read is the function that handles read their bytes by.
func (s *Session) read(_ context.Context, args lossless.Value) (lossless.Value, error) {
	c, _, ok := s.find(args)
	if !ok {
		return lossless.Value{}, fmt.Errorf("there is no such content")
	}
	return lossless.Of(base64.StdEncoding.EncodeToString(c.Data))
}

func (s *Session) find(number lossless.Value) (Content, int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := number.Int64()
	if err != nil || i < 0 || i >= int64(len(s.content)) {
		return Content{}, 0, false
	}
	return s.content[i], int(i), true
}

func (s *Session) warn(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := prose(fmt.Sprintf(format, args...), 400)
	if len(s.warnings) < 20 && !slices.Contains(s.warnings, text) {
		s.warnings = append(s.warnings, text)
	}
}

// Outcome returns what became of the run, from its result.
func (s *Session) Outcome(result *thirdrail.Result) *Outcome {
	out := &Outcome{Logs: result.Logs, Failure: result.Failure, Stats: result.Stats}
	s.mu.Lock()
	out.Calls = s.calls
	out.Warnings = slices.Clone(s.warnings)
	kept := len(s.content)
	s.mu.Unlock()
	out.Value = result.Value
	if kept > 0 && out.Value.Exists() {
		shown := map[int]int{}
		out.Value = s.replace(out.Value, out, shown, 0)
	}
	return out
}

// replace puts what the client can read in the place of the handles in a value.
func (s *Session) replace(v lossless.Value, out *Outcome, shown map[int]int, depth int) lossless.Value {
	if depth > maxValueDepth {
		return v
	}
	switch v.Kind() {
	case lossless.KindArray:
		var list []lossless.Value
		for _, element := range v.Elements() {
			list = append(list, s.replace(element, out, shown, depth+1))
		}
		return array(list)
	case lossless.KindObject:
		if number := v.Get(s.marker); number.Exists() && v.Len() == 1 {
			return s.forward(number, out, shown)
		}
		var members []member
		for name, m := range v.Members() {
			members = append(members, member{name, s.replace(m, out, shown, depth+1)})
		}
		return object(members)
	}
	return v
}

// forward hands content over to the client, once.
func (s *Session) forward(handle lossless.Value, out *Outcome, shown map[int]int) lossless.Value {
	c, i, ok := s.find(handle)
	if !ok {
		return lossless.Null
	}
	at, seen := shown[i]
	if !seen {
		at = len(out.Content)
		shown[i] = at
		out.Content = append(out.Content, c)
	}
	return object([]member{{"content", number(at)}, {"mime", str(c.MIME)}, {"size", number(len(c.Data))}})
}
