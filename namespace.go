package thirdrail

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// Func is a function that a program can call. Its context ends with the run and
// has the values of the context that Run got. Args is the one argument of the
// call: an object for keyword arguments, or any single value. An absent result
// reaches the program as None. An error, or a panic, rejects the call: the
// program sees the error's text in an exception.
type Func func(ctx context.Context, args lossless.Value) (lossless.Value, error)

// Funcs are the functions of a namespace by name. A name may be any string: the
// program writes tools.name(…) for identifiers and tools["any name"](…) always.
type Funcs map[string]Func

// Namespace is an object of functions among the program's globals.
type Namespace struct {
	// Global is the object's name in the program: [A-Za-z_][A-Za-z0-9_]*, and no
	// reserved word of Python or ECMAScript.
	Global string
	// Funcs are the functions. None is fine.
	Funcs Funcs
	// ErrorClass is raised by rejected calls. Nil means RuntimeError. Namespaces
	// that have the same pointer share one class; classes that merely look alike
	// collide.
	ErrorClass *ErrorClass
	// SplitArguments gives the functions [[positional…],{keywords}] as their args,
	// for them to bind. Otherwise a call has keywords or one positional value.
	SplitArguments bool
	// Handles, if not empty, is a member name that marks content that stays with
	// the host. A result of a function that is an object with this member, or an
	// array with such elements, reaches the program as handles, which have the
	// object's mime, size and name. The function of this name, which the program
	// doesn't see, is called with the member's value when a handle is read, and
	// returns the bytes as base64. A returned handle is an object with the member
	// alone.
	Handles string
}

// ErrorClass is an exception class that a program finds among its globals.
type ErrorClass struct {
	// Name is the name of the class, under the rules of Namespace.Global.
	Name string
	// MemberNameProperty is the attribute that holds the name of the function
	// that failed.
	MemberNameProperty string
}

// Bind makes a Func of a typed Go function. Arguments are decoded into In and the
// result is encoded from Out, both without loss or not at all.
func Bind[In, Out any](f func(context.Context, In) (Out, error)) Func {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, args lossless.Value) (lossless.Value, error) {
		var in In
		if err := args.Decode(&in); err != nil {
			return lossless.Value{}, fmt.Errorf("the arguments don't fit: %w", err)
		}
		out, err := f(ctx, in)
		if err != nil {
			return lossless.Value{}, err
		}
		value, err := lossless.Of(out)
		if err != nil {
			return lossless.Value{}, fmt.Errorf("the result is not lossless JSON: %w", err)
		}
		return value, nil
	}
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reservedWords are the reserved words of Python, soft ones included, and those of
// ECMAScript, so that one set of names fits programs in both languages.
var reservedWords = strings.Fields(`
	False None True and as assert async await break class continue def del elif else except finally for from
	global if import in is lambda nonlocal not or pass raise return try while with yield match case type _
	arguments catch const debugger default delete do enum eval export extends false function implements
	instanceof interface let new null package private protected public static super switch this throw true
	typeof var void`)

// ownedNames are globals that belong to the runtime or the interpreter.
var ownedNames = []string{"console", "__thirdrail__", "__builtins__", "__name__", "__debug__"}

// seededNames are globals that every module has. A namespace of such a name would
// change what the program is.
var seededNames = []string{"__file__", "__doc__", "__loader__", "__spec__", "__package__", "__annotations__"}

// errorMembers are attributes that exceptions have already.
var errorMembers = []string{"name", "message", "stack", "args", "with_traceback", "add_note"}

// checkGlobal refuses a name that can't be a program's global.
func checkGlobal(what, name string) error {
	switch {
	case !identifier.MatchString(name):
		return misuse("%s %q is not a usable Python identifier; use letters, digits and _, not a digit first", what, name)
	case slices.Contains(reservedWords, name):
		return misuse("%s %q is a reserved word of Python or ECMAScript; use another name", what, name)
	case slices.Contains(ownedNames, name), slices.Contains(seededNames, name):
		return misuse("%s %q belongs to the runtime; use another name", what, name)
	}
	return nil
}

// boundNamespaces are namespaces that were checked: a copy, so that what the
// caller changes later changes nothing.
type boundNamespaces struct {
	frames []wire.Namespace
	funcs  map[string]Funcs // by global
}

// checkNamespaces refuses names that can't stand beside each other.
func checkNamespaces(namespaces []Namespace, hasData bool) (*boundNamespaces, error) {
	bound := &boundNamespaces{funcs: make(map[string]Funcs, len(namespaces))}
	taken := map[string]bool{}
	for _, n := range namespaces {
		if err := checkGlobal("namespace global", n.Global); err != nil {
			return nil, err
		}
		if taken[n.Global] {
			return nil, misuse("duplicate binding global %q; give each namespace its own name", n.Global)
		}
		if hasData && n.Global == dataGlobal {
			return nil, misuse("a namespace global %q stands beside Request.Data, which has that name; use another name", n.Global)
		}
		taken[n.Global] = true
		if err := bound.add(n); err != nil {
			return nil, err
		}
	}
	if err := checkErrorClasses(namespaces, taken, hasData); err != nil {
		return nil, err
	}
	return bound, nil
}

// dataGlobal is the global that Request.Data becomes.
const dataGlobal = "data"

func (b *boundNamespaces) add(n Namespace) error {
	frame := wire.Namespace{Global: n.Global, SplitArguments: n.SplitArguments, Handles: n.Handles}
	if strings.ToValidUTF8(n.Handles, "") != n.Handles {
		return misuse("the Handles of namespace %s are not valid UTF-8", n.Global)
	}
	funcs := make(Funcs, len(n.Funcs))
	for name, f := range n.Funcs {
		if f == nil {
			return misuse("function %s[%q] is nil", n.Global, name)
		}
		if valid := strings.ToValidUTF8(name, ""); valid != name {
			return misuse("function name %q of %s is not valid UTF-8", name, n.Global)
		}
		frame.Names = append(frame.Names, name)
		funcs[name] = f
	}
	slices.Sort(frame.Names)
	if n.ErrorClass != nil {
		frame.ErrorClass = &wire.ErrorClass{Name: n.ErrorClass.Name, MemberNameProperty: n.ErrorClass.MemberNameProperty}
	}
	b.frames = append(b.frames, frame)
	b.funcs[n.Global] = funcs
	return nil
}

func checkErrorClasses(namespaces []Namespace, taken map[string]bool, hasData bool) error {
	seen := map[*ErrorClass]bool{}
	for _, n := range namespaces {
		if n.ErrorClass == nil || seen[n.ErrorClass] {
			continue
		}
		seen[n.ErrorClass] = true
		name := n.ErrorClass.Name
		if err := checkGlobal("error class", name); err != nil {
			return err
		}
		if taken[name] || hasData && name == dataGlobal {
			return misuse("error class %q collides with another injected global; use another name", name)
		}
		taken[name] = true
		if err := checkMember(n.ErrorClass.MemberNameProperty); err != nil {
			return err
		}
	}
	return nil
}

// checkMember refuses an attribute that exceptions have a use for. Dunders, which
// need something between their underscores, all count as such.
func checkMember(member string) error {
	switch {
	case member == "" || strings.ToValidUTF8(member, "") != member:
		return misuse("error member %q is not a usable name; use something like \"toolName\"", member)
	case slices.Contains(errorMembers, member),
		len(member) > 4 && strings.HasPrefix(member, "__") && strings.HasSuffix(member, "__"):
		return misuse("%q is a reserved error member; use something like \"toolName\"", member)
	}
	return nil
}
