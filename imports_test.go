package thirdrail_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const ownModule = "github.com/thirdrail-dev/thirdrail"

// modulesOf lists what the packages that a program imports bring along: these modules
// and no others, so that whoever imports them gets neither the MCP SDK nor the
// command's libraries.
var modulesOf = map[string][]string{
	"lossless": nil,
	"wire":     nil,
	"":         {"golang.org/x/net", "golang.org/x/sys"},
	"codemode": {
		"github.com/google/jsonschema-go", "github.com/kljensen/snowball", "github.com/santhosh-tekuri/jsonschema/v6",
		"golang.org/x/net", "golang.org/x/sys", "golang.org/x/text",
	},
}

// testHelpers are packages that only tests import.
var testHelpers = []string{"internal/errorpage", "internal/pythons", "internal/rawserver", "internal/sharedruntime", "wire/transcript"}

// A listed package is what go list tells of a package of this module.
type listed struct {
	ImportPath, Name                         string
	Imports, Deps, TestImports, XTestImports []string
}

// path is the package's folder, "" for the root.
func (p listed) path() string { return ownPath(p.ImportPath) }

func ownPath(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, ownModule), "/")
}

func isOwn(importPath string) bool {
	return importPath == ownModule || strings.HasPrefix(importPath, ownModule+"/")
}

var listPackages = sync.OnceValues(func() ([]listed, error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Imports,Deps,TestImports,XTestImports", "./...").Output()
	if err != nil {
		return nil, err
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
})

func ownPackages(t *testing.T) []listed {
	t.Helper()
	packages, err := listPackages()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return packages
}

// modules returns the modules of imports that are neither ours nor the standard
// library's, by the names in go.mod.
func modules(t *testing.T, imports []string) []string {
	t.Helper()
	required := regexp.MustCompile(`(?m)^\t(\S+) v`).FindAllStringSubmatch(readFile(t, "go.mod"), -1)
	var found []string
	for _, path := range imports {
		first, _, _ := strings.Cut(path, "/")
		if isOwn(path) || !strings.Contains(first, ".") {
			continue
		}
		i := slices.IndexFunc(required, func(m []string) bool { return path == m[1] || strings.HasPrefix(path, m[1]+"/") })
		if i < 0 {
			t.Errorf("%s is of no module that go.mod requires", path)
		} else if !slices.Contains(found, required[i][1]) {
			found = append(found, required[i][1])
		}
	}
	slices.Sort(found)
	return found
}

// TestCoreIsLight: the packages that programs import bring along only what modulesOf says.
func TestCoreIsLight(t *testing.T) {
	for _, p := range ownPackages(t) {
		want, core := modulesOf[p.path()]
		if !core {
			continue
		}
		if diff := cmp.Diff(want, modules(t, p.Deps)); diff != "" {
			t.Errorf("%s brings along (-want +got):\n%s", p.ImportPath, diff)
		}
	}
}

// contributingPackages returns the packages in the order of CONTRIBUTING.md's table.
func contributingPackages(t *testing.T) []string {
	t.Helper()
	_, table, _ := strings.Cut(readFile(t, "CONTRIBUTING.md"), "| package | one idea |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var paths []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(table, -1) {
		paths = append(paths, strings.TrimSuffix(row[1], "thirdrail (root)"))
	}
	return paths
}

// TestImportsPointUp: CONTRIBUTING.md lists every package, and each imports only those
// above it, and none that is for tests.
func TestImportsPointUp(t *testing.T) {
	order := contributingPackages(t)
	for _, p := range ownPackages(t) {
		if strings.HasPrefix(p.path(), "examples") {
			continue
		}
		place := slices.Index(order, p.path())
		if place < 0 {
			t.Errorf("CONTRIBUTING.md doesn't list %q", p.path())
		}
		for _, path := range p.Imports {
			if !isOwn(path) {
				continue
			}
			if slices.Index(order, ownPath(path)) >= place {
				t.Errorf("%s imports %s, which stands below it in CONTRIBUTING.md", p.path(), ownPath(path))
			}
			if slices.Contains(testHelpers, ownPath(path)) && !slices.Contains(testHelpers, p.path()) {
				t.Errorf("%s imports %s, which is for tests", p.path(), ownPath(path))
			}
		}
	}
}

// TestDependenciesPage: the page names each module that go.mod requires for ourselves,
// and the packages that use it.
func TestDependenciesPage(t *testing.T) {
	users := map[string][]string{} // by module: packages, or "tests"
	for _, p := range ownPackages(t) {
		name := p.path()
		if name == "" {
			name = "root"
		}
		if slices.Contains(testHelpers, name) {
			name = "tests"
		}
		for _, module := range modules(t, p.Imports) {
			users[module] = append(users[module], name)
		}
	}
	for _, p := range ownPackages(t) {
		for _, module := range modules(t, slices.Concat(p.TestImports, p.XTestImports)) {
			if users[module] == nil {
				users[module] = []string{"tests"}
			}
		}
	}
	told := map[string][]string{}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*?) \\|").FindAllStringSubmatch(readFile(t, "docs/dependencies.md"), -1)
	for _, row := range rows {
		for name := range strings.SplitSeq(row[2], ", ") {
			told[row[1]] = append(told[row[1]], strings.Trim(name, "`"))
		}
		slices.Sort(told[row[1]])
	}
	for module, names := range users {
		slices.Sort(names)
		if i := slices.Index(names, "tests"); i >= 0 && len(names) > 1 {
			users[module] = slices.Delete(names, i, i+1)
		}
	}
	if diff := cmp.Diff(users, told); diff != "" {
		t.Errorf("who uses what (-imports +docs/dependencies.md):\n%s", diff)
	}
}
