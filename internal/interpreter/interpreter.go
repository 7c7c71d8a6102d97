// Package interpreter finds the Python that children run on: the real
// executable behind shims and wrappers, its version and paths, and the child's
// modules compiled by it.
//
// An interpreter is found once, when a runtime is made. What is found then stays:
// a later change of PATH or of the working directory changes nothing.
package interpreter

import (
	"context"
	"fmt"
	"time"
)

// Limits of one probe: an honest one ends within a tenth of a second and
// answers with less than a megabyte.
const (
	probeTimeout  = 5 * time.Second
	maxProbeBytes = 8 << 20
)

// A Version is a release of Python, such as 3.12.1.
type Version struct {
	Major, Minor, Micro int
}

// String returns the version as Python writes it, such as "3.12.1".
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Micro)
}

// AtLeast reports whether v is the release major.minor or a newer one.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// An Interpreter is a CPython 3.9 or newer that has been started once and can
// run the child.
type Interpreter struct {
	// Path is the absolute path of the executable itself, never of a shim or a
	// wrapper. The python of a virtual environment keeps its path there, since
	// that path is what makes Python use the environment.
	Path string
	// Version is the release.
	Version Version
	// Prefix, BasePrefix and ExecPrefix are sys.prefix, sys.base_prefix and
	// sys.exec_prefix. Prefix and BasePrefix differ in a virtual environment.
	Prefix, BasePrefix, ExecPrefix string
	// SysPath is sys.path of an isolated start: where modules are imported from.
	// Not every entry needs to exist.
	SysPath []string
	// Bits is the size of a pointer, 32 or 64.
	Bits int
	// Ctypes tells whether the module _ctypes can be imported, with which a
	// child can make system calls that Python has no function for.
	Ctypes bool
	// BareBytes is the virtual memory of a process that has loaded the child's
	// modules and done nothing else. It is 0 where there is no /proc.
	BareBytes int64
	// Code is the compiled child: the marshalled list of (name, is package, code
	// object) in load order. Only this interpreter can read it. It is not to be
	// modified.
	Code []byte
}

// Find returns the interpreter that python names. A name without a slash is
// looked up on PATH; a path with one is taken from the working directory; the
// empty string stands for python3 on PATH or, where there is none, python. What
// is named and unusable is an error: another interpreter is never taken for it.
//
// The interpreter is started to see what it is, twice when the first start shows
// that it was a shim. Errors of the interpreter are an *Error; when ctx ends
// first, the error is ctx's. No process is left in either case.
func Find(ctx context.Context, python string) (*Interpreter, error) {
	return finder{timeout: probeTimeout, maxBytes: maxProbeBytes}.find(ctx, python)
}

// A finder holds the limits of a probe, which tests set lower.
type finder struct {
	timeout  time.Duration // for one start
	maxBytes int           // of standard output
}

func (f finder) find(ctx context.Context, python string) (*Interpreter, error) {
	path, err := locate(python)
	if err != nil {
		return nil, err
	}
	found, err := f.probe(ctx, path, shimEnvironment())
	if err != nil || found.Path == path {
		return found, err
	}
	return f.behind(ctx, path, found)
}

// behind returns the interpreter that a start of shim turned out to be, started
// directly and without the shim's environment, as children are.
func (f finder) behind(ctx context.Context, shim string, reported *Interpreter) (*Interpreter, error) {
	if err := checkExecutable(reported.Path); err != nil {
		return nil, fail(shim, ErrNotPython, "it says that its executable is %s, which can't be used: %w; %s", display(reported.Path), err, nameTheReal)
	}
	direct, err := f.probe(ctx, reported.Path, cleanEnvironment())
	if err != nil {
		return nil, err
	}
	if direct.Path != reported.Path || direct.Version != reported.Version || direct.Prefix != reported.Prefix ||
		direct.BasePrefix != reported.BasePrefix || direct.ExecPrefix != reported.ExecPrefix {
		return nil, fail(shim, ErrNotPython, "it starts Python %s of %s, but %s, which it gives as its executable, is Python %s of %s when started directly; %s",
			reported.Version, display(reported.Prefix), display(reported.Path), direct.Version, display(direct.Prefix), nameTheReal)
	}
	return direct, nil
}
