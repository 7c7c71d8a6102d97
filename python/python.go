// Package python holds the child's side: the Python modules of the folder
// thirdrail_child, embedded so that the program is one file and a child needs
// nothing from disk but its interpreter.
//
// The modules run inside the process that also runs the model's program. The
// host compiles them once per interpreter (package interpreter) and starts each
// child with the compiled form.
package python

import "embed"

// Package is the name of the Python package that all modules belong to.
const Package = "thirdrail_child"

var (
	//go:embed thirdrail_child/*.py
	folder embed.FS
	//go:embed bootstrap.py
	bootstrap string
)

// order lists the files in the order in which they are executed. A module may
// import only the ones above it. Those named hints wait until a program has
// failed, and the others get them from later.py.
var order = []string{
	"start.py",
	"__init__.py",
	"later.py",
	"constants.py",
	"signals.py",
	"channel.py",
	"codec_strings.py",
	"codec_numbers.py",
	"codec_refusal.py",
	"codec_survey.py",
	"codec_fast.py",
	"codec_walk.py",
	"codec_read.py",
	"codec.py",
	"cutting.py",
	"logs.py",
	"surroundings.py",
	"handles.py",
	"bindings.py",
	"driver.py",
	"forgotten.py",
	"compiling.py",
	"imports.py",
	"toplevel.py",
	"program.py",
	"inspection.py",
	"frames.py",
	"overlimit.py",
	"failure.py",
	"hints_size.py",
	"hints_closest.py",
	"hints_scene.py",
	"hints_names.py",
	"hints_imports.py",
	"hints_refused.py",
	"hints.py",
	"native.py",
	"confine.py",
	"proof.py",
	"refusals.py",
	"boot.py",
	"forked.py",
	"text.py",
	"nursery.py",
}

// excluded names the files of the folder that a child never runs, and why.
var excluded = map[string]string{
	"protocol.py": "declares the frames as types; only type checkers and the mirror test read it",
}

// A Module is one Python module of the child.
type Module struct {
	// Name is the dotted name, such as "thirdrail_child.codec". The package
	// itself is "thirdrail_child".
	Name string
	// File is the name in the folder, such as "codec.py".
	File string
	// Source is the text, in UTF-8.
	Source string
}

// Modules returns the modules of the child in load order: start, which loads the
// others, then the package itself.
func Modules() []Module {
	modules := make([]Module, 0, len(order))
	for _, file := range order {
		source, err := folder.ReadFile(Package + "/" + file)
		if err != nil {
			// The folder is part of this binary and a test compares it with
			// order, so this can't depend on anything outside.
			panic("python: " + err.Error())
		}
		modules = append(modules, Module{Name: moduleName(file), File: file, Source: string(source)})
	}
	return modules
}

// Bootstrap returns the code that an interpreter gets with -c to become a child.
// Its arguments are explained at its top.
func Bootstrap() string { return bootstrap }

// moduleName returns the dotted name of the module in file.
func moduleName(file string) string {
	if file == "__init__.py" {
		return Package
	}
	return Package + "." + file[:len(file)-len(".py")]
}
