package codemode

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// defaultNamespace is that of tools that name none.
const defaultNamespace = "tools"

// tool is a Tool with all that is known of it once it is accepted.
type tool struct {
	Tool
	namespace string // its identifier in the program
	alias     string // its name as an attribute
	path      string // namespace.alias, as the program writes it

	input     *document
	arguments arguments
	output    *document // nil without an output schema
	wrapper   bool

	checkInput, checkOutput *validator

	reading sync.Mutex // of input and output, which are read where they are needed
}

// group are the tools of one namespace, in the order of their names.
type group struct {
	name, global string
	about        string // what is said of it as a whole
	tools        []*tool
}

// catalogue is a checked set of tools.
type catalogue struct {
	groups  []*group
	aliases map[string]bool // of namespaces and tools
	byPath  map[string]*tool
	count   int
}

// newCatalogue checks tools, and gives each its names. The order of the tools given
// makes no difference.
func newCatalogue(tools []Tool) (*catalogue, error) {
	c := &catalogue{aliases: map[string]bool{}, byPath: map[string]*tool{}}
	byName := map[string]*group{}
	checked, err := newTools(tools)
	if err != nil {
		return nil, err
	}
	for _, t := range checked {
		g := byName[t.Namespace]
		if g == nil {
			g = &group{name: t.Namespace}
			byName[t.Namespace] = g
			c.groups = append(c.groups, g)
		}
		g.tools = append(g.tools, t)
		c.count++
	}
	slices.SortFunc(c.groups, func(a, b *group) int { return strings.Compare(a.name, b.name) })
	var names []string
	for _, g := range c.groups {
		names = append(names, g.name)
	}
	globals := aliases(names, asciiIdentifier, reservedGlobal)
	for _, g := range c.groups {
		g.global = globals[g.name]
		c.aliases[g.global] = true
		if err := c.nameTools(g); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// newTools checks each tool by itself, several at once since schemas take a while.
// The error is that of the first that is refused.
func newTools(tools []Tool) ([]*tool, error) {
	checked, errs := make([]*tool, len(tools)), make([]error, len(tools))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(goruntime.GOMAXPROCS(0), len(tools)) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(tools) {
					return
				}
				checked[i], errs[i] = newTool(tools[i])
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return checked, nil
}

// newTool checks one tool by itself.
func newTool(given Tool) (*tool, error) {
	t := &tool{Tool: given}
	if t.Namespace == "" {
		t.Namespace = defaultNamespace
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: %s", ErrTool, t.label(), fmt.Sprintf(format, args...))
	}
	switch {
	case t.Name == "":
		return nil, refuse("it has no name; give each tool a name")
	case !utf8.ValidString(t.Name) || !utf8.ValidString(t.Namespace):
		return nil, refuse("its name is not valid UTF-8")
	case t.Handler == nil:
		return nil, refuse("it has no handler")
	}
	var err error
	if t.checkInput, err = newValidator(t.InputSchema); err != nil {
		return nil, refuse("its input schema isn't one: %v", err)
	}
	if kind := text(t.InputSchema.Get("type")); kind != "" && kind != "object" {
		return nil, refuse("its input schema has the type %q; arguments are an object", kind)
	}
	t.input = newDocument(t.InputSchema)
	plain := &typer{document: t.input}
	t.arguments = plain.readArguments(t.input.at(""))
	if t.OutputSchema.Exists() {
		if t.checkOutput, err = newValidator(t.OutputSchema); err != nil {
			return nil, refuse("its output schema isn't one: %v", err)
		}
		t.output, t.wrapper = newDocument(t.OutputSchema), isWrapper(t.OutputSchema)
	}
	return t, nil
}

// label names a tool in an error, by its true names.
func (t *tool) label() string {
	if t.Namespace == "" || t.Namespace == defaultNamespace {
		return fmt.Sprintf("tool %q", t.Name)
	}
	return fmt.Sprintf("tool %q of %q", t.Name, t.Namespace)
}

// nameTools gives the tools of a namespace their aliases.
func (c *catalogue) nameTools(g *group) error {
	slices.SortFunc(g.tools, func(a, b *tool) int { return strings.Compare(a.Name, b.Name) })
	var names []string
	for i, t := range g.tools {
		if i > 0 && t.Name == g.tools[i-1].Name {
			return fmt.Errorf("%w: %s is there twice; give each tool of a namespace its own name", ErrTool, t.label())
		}
		names = append(names, t.Name)
	}
	given := aliases(names, identifier, reservedFunction)
	for _, t := range g.tools {
		t.namespace, t.alias = g.global, given[t.Name]
		t.path = g.global + "." + t.alias
		c.aliases[t.alias] = true
		c.byPath[t.path] = t
	}
	for _, t := range g.tools {
		if path := g.global + "." + t.Name; c.byPath[path] == nil {
			c.byPath[path] = t
		}
	}
	return nil
}

// The globals that a Set adds to a program beside the namespaces.
const (
	errorClass   = "ToolError"
	searchName   = "tools_search"
	describeName = "tools_describe"
)

// ecmaWords are reserved where namespaces are concerned, see thirdrail.Namespace.
var ecmaWords = words(`arguments catch const debugger default delete do enum eval export extends false function
	implements instanceof interface let new null package private protected public static super switch this throw
	true typeof var void match case type _ console __thirdrail__ data`)

func reservedGlobal(name string) bool {
	return hardWords[name] || builtins[name] || ecmaWords[name] || typeWords[name] || modules[name] ||
		name == errorClass || name == searchName || name == describeName
}

func reservedFunction(name string) bool { return hardWords[name] || builtins[name] || typeWords[name] }

// find returns the tool of a name, in any of the ways to write it.
func (c *catalogue) find(path string) *tool {
	if t := c.byPath[path]; t != nil {
		return t
	}
	for _, g := range c.groups {
		for _, t := range g.tools {
			if path == g.name+"."+t.Name || path == g.global+"["+quote(t.Name)+"]" {
				return t
			}
		}
	}
	return nil
}

// source returns the declarations of tools as one Python source.
func (c *catalogue) source(b *stubber, groups []*group, seen func(*tool) string) string {
	var out strings.Builder
	for _, g := range groups {
		out.WriteString(c.classSource(b, g, seen))
	}
	return out.String()
}

func (c *catalogue) classSource(b *stubber, g *group, seen func(*tool) string) string {
	var types, functions []string
	if lines := b.documentNamespace(g); len(lines) > 0 {
		functions = docstring("    ", lines)
	}
	for _, t := range g.tools {
		made := b.tool(t, seen(t))
		types = append(types, separate(made.types)...)
		if len(functions) > 0 {
			functions = append(functions, "")
		}
		functions = append(functions, made.function...)
	}
	lines := append(types, "", "class "+g.global+":")
	return strings.Join(append(lines, functions...), "\n") + "\n\n"
}

// separate puts an empty line before each declaration.
func separate(lines []string) []string {
	var out []string
	for i, line := range lines {
		top := line != "" && line[0] != ' ' && line[0] != ')'
		afterComment := i > 0 && strings.HasPrefix(lines[i-1], "#")
		if top && !afterComment {
			out = append(out, "")
		}
		out = append(out, line)
	}
	return out
}
