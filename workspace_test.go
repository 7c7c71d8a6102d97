//go:build linux

package thirdrail

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// leavings are what programs leave in their workspaces. Each returns "made", is
// killed, or is ended by the host.
var leavings = []struct {
	name, program string
	limits        Limits
}{
	{"without permission bits", "import os\nos.makedirs('a/b/c')\nopen('a/b/c/f', 'w').close()\nos.chmod('a/b/c/f', 0)\nfor d in ('a/b/c', 'a/b', 'a', 'tmp', '.'): os.chmod(d, 0)\nreturn 'made'", Limits{}},
	{"5000 levels", "import os\nfor i in range(5000):\n    os.mkdir('d')\n    os.chdir('d')\nreturn 'made'", Limits{}},
	{"5000 closed levels", "import os\nfor i in range(5000):\n    os.mkdir('d')\n    os.chdir('d')\n    os.chmod('.', 0o300)\nreturn 'made'", Limits{}},
	{"many files", "import os\nfor i in range(%[1]d): os.close(os.open('f%%d' %% i, os.O_CREAT, 0))\nreturn 'made'", Limits{DiskBytes: 1 << 30}},
	{"links out", "import os\nfor n in ('a', 'tmp/a', 'b'): os.symlink(%[2]q, n)\nos.symlink('/', 'root')\nos.symlink('.', 'loop')\nreturn 'made'", Limits{}},
	{"a link for tmp", "import os\nos.rmdir('tmp')\nos.symlink(%[2]q, 'tmp')\nreturn 'made'", Limits{}},
	{"special files", "import os\nos.mkfifo('p')\nos.link('p', 'p2')\nopen('sparse', 'w').truncate(1 << 24)\nreturn 'made'", Limits{}},
	{"names like ours", "import os\nfor n in ('lock', 'canary', 'pile-0', 'run-1', 'thirdrail-run-x'): os.makedirs(n + '/' + n)\nreturn 'made'", Limits{}},
	{"open and deleted", "import os\nf = open('f', 'w')\nos.unlink('f')\nf.write('x' * (1 << 20))\nos.kill(os.getpid(), 9)", Limits{}},
	{"a link race until the end", "import os\nprint('up')\nwhile True:\n    os.makedirs('d/e', exist_ok=True)\n    os.rename('d', 'd2')\n    os.symlink(%[2]q, 'd')\n    os.unlink('d')\n    os.rename('d2', 'd')", Limits{Wall: 300 * time.Millisecond}},
	{"files until the end", "i = 0\nwhile True:\n    i += 1\n    open('f%%d' %% i, 'w').close()", Limits{Wall: 300 * time.Millisecond}},
	{"mapped", "import mmap\nf = open('f', 'w+b')\nf.truncate(1 << 20)\nm = mmap.mmap(f.fileno(), 0)\nm[:4] = b'xxxx'\nreturn 'made'", Limits{}},
	{"bind tricks", "import ctypes, os\nlibc = ctypes.CDLL(None)\nos.mkdir('m')\nif libc.unshare(0x10020000): return 'made'\nlibc.mount(%[2]q.encode(), b'm', None, 4096, None)\nlibc.mount(b'.', b'm', None, 4096, None)\nlibc.mount(b'tmpfs', b'tmp', b'tmpfs', 0, None)\nreturn 'made'", Limits{}},
	{"deep files in open descriptors", "import os\nos.makedirs('a/b')\nfd = os.open('a/b', os.O_RDONLY)\nos.rename('a/b', 'c')\nos.fchdir(fd)\nopen('f', 'w').close()\nreturn 'made'", Limits{}},
}

// TestWorkspaceLeavings has programs leave their workspaces in any state. They are
// gone when the run is over, and what a link led to is as it was.
func TestWorkspaceLeavings(t *testing.T) {
	for _, sandbox := range []testSandbox{confined, unconfined} {
		t.Run(testSandboxes[sandbox].Mode.String(), func(t *testing.T) {
			files := 200_000
			if sandbox == unconfined || testing.Short() {
				files = 20_000 // on a disk: package child removes 200,000 of them
			}
			outside := t.TempDir()
			must(t, os.MkdirAll(filepath.Join(outside, "e"), 0o755))
			must(t, os.WriteFile(filepath.Join(outside, "precious"), []byte("x"), 0o600))
			leavesNothing(t)
			rt := newSpawning(t, Config{Sandbox: testSandboxes[sandbox]})
			for _, c := range leavings {
				before := treeOf(outside)
				result := run1(t, rt, fmt.Sprintf(c.program+"%[3]s", files, outside, ""), c.limits)
				ended := result.Value.String() == `"made"` || c.limits.Wall > 0 && kindOf(result) == Timeout || c.name == "open and deleted" && kindOf(result) == WorkerExit
				if !ended {
					t.Errorf("%s: %v", c.name, result.Err())
				}
				if after := treeOf(outside); !slices.Equal(after, before) {
					t.Errorf("%s: outside there is %q, before %q", c.name, after, before)
				}
				worksAgain(t, rt)
			}
		})
	}
}

// treeOf returns the paths and modes of all that is in a folder.
func treeOf(folder string) []string {
	var found []string
	_ = filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			found = append(found, fmt.Sprint(err))
			return nil
		}
		found = append(found, fmt.Sprint(path, info.Mode()))
		return nil
	})
	return found
}

// TestWorkspaceIsEmpty looks at what a run finds at its start, and beside its folder.
func TestWorkspaceIsEmpty(t *testing.T) {
	for _, start := range []StartMethod{StartFork, StartSpawn} {
		rt := newRuntime(t, Config{Start: start})
		result := run1(t, rt, `import os, pwd
home = os.getcwd()
found = [[path, folders, files] for path, folders, files in os.walk(home)]
beside = sorted(os.listdir(os.path.dirname(home)))
user = pwd.getpwuid(os.getuid())
return [found == [[home, ["tmp"], []], [home + "/tmp", [], []]], beside, user.pw_name, user.pw_dir == home]`, Limits{})
		if got := result.Value.String(); got != `[true,["group","passwd","workspace"],"sandbox",true]` {
			t.Errorf("%v: %s, %v", start, got, result.Err())
		}
	}
}
