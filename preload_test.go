//go:build linux

package thirdrail

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// withModules returns an interpreter like python that can import modules of the test
// too, each a name and its text.
func withModules(t *testing.T, python string, modules map[string]string) string {
	t.Helper()
	found := findPython(t, python)
	folder := openedFolder(t)
	site := fmt.Sprintf("%s/lib/python%d.%d/site-packages", folder, found.Version.Major, found.Version.Minor)
	for _, path := range []string{folder + "/bin", site} {
		must(t, os.MkdirAll(path, 0o755))
	}
	must(t, os.Symlink(found.Path, folder+"/bin/python3"))
	settings := "home = " + filepath.Dir(found.Path) + "\ninclude-system-site-packages = true\n"
	must(t, os.WriteFile(folder+"/pyvenv.cfg", []byte(settings), 0o644))
	for name, text := range modules {
		must(t, os.WriteFile(filepath.Join(site, name+".py"), []byte(text), 0o644))
	}
	return folder + "/bin/python3"
}

// refusedPreloads are modules that New refuses, with the reason and the module.
var refusedPreloads = []struct{ Name, Text, Says string }{
	{"thread", "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()", "left a thread running, 1 of them"},
	{"threads", "from concurrent.futures import ThreadPoolExecutor as P\npool = P(3)\nfor _ in range(3): pool.submit(__import__('time').sleep, 1)", "left a thread running, 3 of them"},
	{"descriptor", "kept = open('/dev/null')", "left descriptor "},
	{"pair", "import socket\nkept = socket.socketpair()", "left descriptor "},
	{"raises", "raise ValueError('not today')", "ValueError: not today"},
	{"wrong", "def f(:", "SyntaxError: "},
	{"leaves", "import sys\nsys.exit(3)", "SystemExit: 3"},
	{"ends", "import os\nos.write(2, b'I am off')\nos._exit(3)", "it ended: I am off"},
	{"killed", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "it ended"},
}

// TestRefusedPreloads has a preload that can't be had. What stands before it is fine.
func TestRefusedPreloads(t *testing.T) {
	newForking(t, Config{}) // or skip
	modules := map[string]string{"fine": ""}
	for _, c := range refusedPreloads {
		modules[c.Name] = c.Text
	}
	python := withModules(t, systemPython(t), modules)
	missing := struct{ Name, Text, Says string }{"no_such_module", "", "No module named 'no_such_module'"}
	for _, c := range append(slices.Clone(refusedPreloads), missing) {
		rt, err := newOn(t.Context(), Config{Preload: []string{"fine", c.Name}}, DefaultLimits(), findPython(t, python))
		if err == nil {
			t.Errorf("%s is taken", c.Name)
			must(t, rt.Close())
			continue
		}
		if !errors.Is(err, ErrMisuse) || !strings.Contains(err.Error(), "Config.Preload: child: preload: "+c.Name+": ") &&
			!strings.Contains(err.Error(), "Config.Preload: child: preload: "+c.Name+" ") || !strings.Contains(err.Error(), c.Says) {
			t.Errorf("%s: %v; want the module, and %q", c.Name, err, c.Says)
		}
	}
}

// TestPreloadHangs has a module whose import doesn't end.
func TestPreloadHangs(t *testing.T) {
	rt := newForking(t, Config{Python: withModules(t, systemPython(t), map[string]string{"hangs": "import time\ntime.sleep(600)"})})
	rt.startLimit = 1500 * time.Millisecond
	n, err := rt.newNursery(t.Context(), Config{Preload: []string{"hangs"}})
	if err == nil {
		t.Fatal("it is taken", n.close())
	}
	if !strings.Contains(err.Error(), "preload: hangs: it took longer than 3s") {
		t.Errorf("got %v", err)
	}
}

// TestPreload has modules that are imported once, and may write to their home then.
func TestPreload(t *testing.T) {
	python := withModules(t, systemPython(t), map[string]string{"writes": `
import os, pwd, tempfile
here = os.path.expanduser("~/.cache/writes")
os.makedirs(here)
with tempfile.NamedTemporaryFile("w", dir=here) as file:
    file.write("kept?")
with open(here + "/kept", "w") as file:
    file.write("kept")
times = 1
me = pwd.getpwuid(os.getuid()).pw_name
`})
	rt := newForking(t, Config{Python: python, Preload: []string{"statistics", "xml.etree.ElementTree", "writes"}})
	for range 2 {
		result := run1(t, rt, `
import os, sys
names = [name in sys.modules for name in ("statistics", "xml.etree.ElementTree", "writes")]
import writes
writes.times += 1
# What the import wrote is not the run's.
found = [os.path.exists(writes.here), os.listdir(os.path.expanduser("~")), os.path.exists("/tmp/kept")]
os.makedirs(writes.here)
return [names, writes.times, writes.me, found]`, Limits{})
		programCase{Value: `[[true,true,true],2,"sandbox",[false,["tmp"],false]]`}.compare(t, result)
	}
}

// TestPreloadedLibraries runs the programs of the big libraries where those are
// preloaded.
func TestPreloadedLibraries(t *testing.T) {
	python := systemPython(t)
	preload := []string{"numpy", "pandas", "matplotlib.pyplot"}
	spawning := newSpawning(t, Config{Python: python})
	for _, name := range []string{needsNumpy, needsPandas, needsMatplotlib} {
		if !importable(t, spawning, name) {
			t.Skipf("needs Debian's %s", name)
		}
	}
	rt := newForking(t, Config{Python: python, Preload: preload})
	for _, c := range dataCases {
		if c.Value == "" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if got := librarySuccess(t, rt, "import sys\nassert 'numpy' in sys.modules\n"+c.Program); got != c.Value {
				t.Errorf("got %s, want %s", short(got), short(c.Value))
			}
		})
	}
}
