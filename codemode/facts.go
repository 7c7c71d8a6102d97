package codemode

import (
	"context"
	"fmt"

	"github.com/thirdrail-dev/thirdrail"
)

// facts are what the model is told of the interpreter.
type facts struct {
	Version  string   `json:"version"`
	Packages []string `json:"packages"`
}

// factsProgram asks the interpreter in the place where programs run.
const factsProgram = `
import sys, pkgutil, sysconfig
names = {m.name for m in pkgutil.iter_modules() if not m.name.startswith("_")}
known = set(getattr(sys, "stdlib_module_names", ()))
where = sysconfig.get_paths()
for finder, name, _ in pkgutil.iter_modules([where["stdlib"], where["platstdlib"], where["platstdlib"] + "/lib-dynload"]):
    known.add(name)
skip = {"pip", "setuptools", "wheel", "pkg_resources", "distutils", "_distutils_hack"}
names = {n for n in names - known - skip if n.isidentifier()}
return {"version": "%d.%d" % sys.version_info[:2], "packages": sorted(names)}
`

// askFacts runs a program to learn what programs will find.
func askFacts(rt *thirdrail.Runtime, packages []string) (facts, error) {
	result, err := rt.Run(context.Background(), thirdrail.Request{Program: factsProgram})
	if err != nil {
		return facts{}, err
	}
	var f facts
	if err := result.Decode(&f); err != nil {
		return facts{}, fmt.Errorf("codemode: the runtime runs no programs: %w", err)
	}
	if packages != nil {
		f.Packages = packages
	}
	return f, nil
}
