package codemode

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// DefaultInline is up to how many tools are declared in the description.
const DefaultInline = 40

// Options say how a Set works. The zero value works.
type Options struct {
	// Name is the name of the tool that the model sees. Empty means "run_code".
	Name string
	// Inline is up to how many tools the description declares them all. Beyond it
	// names the namespaces, and programs look for tools. Zero means DefaultInline.
	Inline int
	// NoLastExpression leaves it to return to give a value. Otherwise a bare
	// expression at the end of a program gives one too.
	NoLastExpression bool
	// Limits are those of each run; zeros inherit from the Runtime.
	Limits thirdrail.Limits
	// About is what is said of namespaces as a whole, by their names, such as the
	// instructions of a server. It is data, as all texts of tools are, and is cut
	// where it is long; what a program asks for by name shows more.
	About map[string]string
	// Packages are what programs can import beyond the standard library, for the
	// description. Nil means to ask the interpreter, once.
	Packages []string
}

// Definition is what a model is told of the one tool that runs programs.
type Definition struct {
	Name        string
	Description string
	// InputSchema is of an object with the member code.
	InputSchema lossless.Value
}

// Set is a set of tools for programs to call. It is safe for concurrent use.
type Set struct {
	runtime   *thirdrail.Runtime
	options   Options
	catalogue *catalogue
	index     *index
	facts     facts

	search, describe *tool // how a program looks for tools

	mu   sync.Mutex
	seen map[*tool]string // the shape of the first result of tools without a schema
}

// New returns a Set of tools whose programs run in rt. An error wraps ErrTool, and
// names the tool that can't be used and why. The order of the tools makes no
// difference.
func New(rt *thirdrail.Runtime, tools ...Tool) (*Set, error) { return Options{}.New(rt, tools...) }

// New returns a Set as the function New does, with options. Without a Runtime it
// can only show declarations.
func (o Options) New(rt *thirdrail.Runtime, tools ...Tool) (*Set, error) {
	if o.Name == "" {
		o.Name = "run_code"
	}
	if o.Inline == 0 {
		o.Inline = DefaultInline
	}
	c, err := newCatalogue(tools)
	if err != nil {
		return nil, err
	}
	for _, g := range c.groups {
		g.about = o.About[g.name]
	}
	s := &Set{runtime: rt, options: o, catalogue: c, index: newIndex(c), seen: map[*tool]string{}}
	if err := s.addFinders(); err != nil {
		return nil, err
	}
	if rt != nil {
		if s.facts, err = askFacts(rt, o.Packages); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// errNoRuntime is for a Set that was made to show declarations.
var errNoRuntime = errors.New("codemode: this Set has no Runtime; give New one")

// Outcome is what became of a program.
type Outcome struct {
	// Value is what it returned, absent if nothing. What it returned of other
	// content stands in it as {"content": i, "mime": …}, with i the index in Content.
	Value lossless.Value
	// Content is other content that it returned, such as images, each once.
	Content []Content
	// Logs are the lines that it printed.
	Logs []string
	// Warnings are about tools, such as a result that breaks its own schema.
	Warnings []string
	// Failure is why there is no value, nil if it succeeded.
	Failure *thirdrail.Failure
	// Calls is how many calls reached their tool.
	Calls int64
	// Stats are the run's.
	Stats thirdrail.Stats
}

// Run runs a program as a model sent it. The error is for misuse only: what goes
// wrong with the program is in the Outcome.
func (s *Set) Run(ctx context.Context, code string) (*Outcome, error) {
	if s.runtime == nil {
		return nil, errNoRuntime
	}
	program, refusal := Clean(code)
	if refusal != "" {
		return &Outcome{Failure: &thirdrail.Failure{Kind: thirdrail.Exception, Message: refusal}}, nil
	}
	one := s.Session()
	result, err := s.runtime.Run(ctx, thirdrail.Request{
		Program:        program,
		Namespaces:     one.Namespaces(),
		Limits:         s.options.Limits,
		LastExpression: !s.options.NoLastExpression,
	})
	if err != nil {
		return nil, err
	}
	return one.Outcome(result), nil
}

// Call is Run for the arguments of a tool call, {"code": "…"}. Arguments that
// don't fit are a Failure.
func (s *Set) Call(ctx context.Context, arguments []byte) (*Outcome, error) {
	value, err := lossless.Parse(arguments, lossless.Options{})
	if err == nil {
		if code, wrong := value.Get("code").Text(); wrong == nil {
			return s.Run(ctx, code)
		}
	}
	message := `the arguments of ` + s.options.Name + ` must be a JSON object with the program as its member "code", a string`
	if err != nil {
		message += fmt.Sprintf(" (%v)", err)
	}
	return &Outcome{Failure: &thirdrail.Failure{Kind: thirdrail.Exception, Message: message}}, nil
}

// Source returns the declarations of all tools as one Python source. It compiles,
// and type checkers accept it. A tool's is cut to some 4 KiB, and says so; Describe
// has more.
func (s *Set) Source() string {
	b := newStubber(s.catalogue, seeDescribe, stubBytes)
	return fmt.Sprintf(header, s.exampleCall()) + s.catalogue.source(b, s.catalogue.groups, s.shape)
}

func (s *Set) exampleCall() string {
	if t := s.exampleTool(); t != nil {
		return t.path + "(…)"
	}
	return "tools.name(…)"
}

// cutMark begins the line that stands for what was printed beyond the limit.
const cutMark = "[thirdrail] log capture truncated at "

// Text returns what to send the model: what was printed, the value or the error,
// and a word where there is neither.
func (o *Outcome) Text() string {
	var b strings.Builder
	for _, line := range o.Logs {
		b.WriteString(line + "\n")
	}
	if n := len(o.Logs); n > 0 && strings.HasPrefix(o.Logs[n-1], cutMark) {
		b.WriteString("[the output is longer and was cut; the program ran on, once: to see the rest, print less, and don't repeat what it did]\n")
	}
	for _, warning := range o.Warnings {
		b.WriteString("[warning] " + warning + "\n")
	}
	switch {
	case o.Failure != nil:
		fmt.Fprintf(&b, "[%s] %s", o.Failure.Kind, o.Failure.Message)
		if o.Calls > 0 {
			fmt.Fprintf(&b, "\n[before that %s reached a tool; what was done is done]", count(o.Calls, "call"))
		}
	case o.Value.Exists():
		if len(o.Logs)+len(o.Warnings) > 0 {
			b.WriteString("[value] ")
		}
		b.WriteString(o.Value.String())
	case len(o.Logs) == 0:
		fmt.Fprintf(&b, "[the program ran once, made %s, printed nothing and returned nothing; return a value to see one]", count(o.Calls, "call"))
	default:
		b.WriteString("[no value returned]")
	}
	return b.String()
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
