package python

import (
	"context"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// TestOrderIsTheFolder fails when a file is added or removed and nobody said
// when a child loads it.
func TestOrderIsTheFolder(t *testing.T) {
	entries, err := fs.ReadDir(folder, Package)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		files = append(files, entry.Name())
	}
	listed := slices.Clone(order)
	for file, why := range excluded {
		if why == "" {
			t.Errorf("%s is excluded without a reason", file)
		}
		listed = append(listed, file)
	}
	slices.Sort(listed)
	if compact := slices.Compact(slices.Clone(listed)); len(compact) != len(listed) {
		t.Errorf("a file is listed twice: %q", listed)
	}
	for _, file := range files {
		if !slices.Contains(listed, file) {
			t.Errorf("%s is in the folder, but neither in order nor excluded", file)
		}
	}
	for _, file := range listed {
		if !slices.Contains(files, file) {
			t.Errorf("%s is listed, but not in the folder", file)
		}
	}
}

func TestModules(t *testing.T) {
	modules := Modules()
	if len(modules) != len(order) {
		t.Fatalf("%d modules, want %d", len(modules), len(order))
	}
	if modules[0].File != "start.py" || modules[1].Name != Package {
		t.Errorf("the first modules are %s and %s, want start.py, which loads the others, and the package itself",
			modules[0].Name, modules[1].Name)
	}
	for i, module := range modules {
		if module.Source == "" {
			t.Errorf("%s has no source", module.Name)
		}
		if strings.ContainsRune(module.Source, 0) {
			t.Errorf("%s holds a NUL, which separates the sources on their way to the probe", module.Name)
		}
		if i != 1 && module.Name != Package+"."+strings.TrimSuffix(module.File, ".py") {
			t.Errorf("module %d is %s of %s", i, module.Name, module.File)
		}
	}
}

// siblingImport matches an import of one of our own modules. Those of a
// TYPE_CHECKING block are indented, and a child never executes them.
var siblingImport = regexp.MustCompile(`(?m)^from (?:\.|thirdrail_child\.)(\w+) import`)

// TestImportsPointUp keeps the order a real load order: a module imports only
// what is loaded before it.
func TestImportsPointUp(t *testing.T) {
	loaded := map[string]bool{}
	for _, module := range Modules() {
		for _, match := range siblingImport.FindAllStringSubmatch(module.Source, -1) {
			if !loaded[match[1]] {
				t.Errorf("%s imports %s, which is not loaded before it", module.File, match[1])
			}
		}
		loaded[strings.TrimSuffix(module.File, ".py")] = true
	}
}

// ranTests matches the count that unittest prints at its end.
var ranTests = regexp.MustCompile(`(?m)^Ran [1-9]\d* tests?`)

// TestPython runs each file of tests/ with unittest on the interpreters of the
// machine.
func TestPython(t *testing.T) {
	files, err := filepath.Glob("tests/test_*.py")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no tests/test_*.py here")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			pythons.Each(t, func(t *testing.T, python string) { runUnittest(t, python, file) })
		})
	}
}

// runUnittest runs one file and fails with all that it printed.
func runUnittest(t *testing.T, python, file string) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // for one that hangs
	defer cancel()
	command := exec.CommandContext(ctx, python, "-B", "-m", "unittest", file)
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s -m unittest %s: %v\n%s", python, file, err, output)
	}
	// Before 3.12 unittest is content with a file that has no tests.
	if !ranTests.Match(output) {
		t.Fatalf("%s -m unittest %s ran no tests\n%s", python, file, output)
	}
}
