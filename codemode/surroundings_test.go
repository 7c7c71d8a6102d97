package codemode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail"
)

// wallCases lists sandboxes, and what the model is told of them.
var wallCases = []struct {
	name    string
	sandbox thirdrail.Sandbox
	want    string
}{
	{"the default", thirdrail.Sandbox{}, "There is no network, no other program to start and no file beyond the working directory, which is the run's own."},
	{"off", thirdrail.Sandbox{Mode: thirdrail.SandboxOff}, "The working directory is the run's own, and is gone after it."},
	{"a network", thirdrail.Sandbox{AllowNetwork: true}, "There is no other program to start and no file beyond the working directory, which is the run's own."},
	{"processes", thirdrail.Sandbox{AllowProcesses: true}, "There is no network and no file beyond the working directory, which is the run's own."},
	{"a program", thirdrail.Sandbox{AllowExec: []string{"/usr/bin/git"}, AllowNetwork: true}, "There is no file beyond the working directory, which is the run's own."},
	{"files", thirdrail.Sandbox{AllowRead: []string{"/srv/a", "/srv/b"}, AllowWrite: []string{"/out"}},
		"There is no network, no other program to start and no file beyond the working directory, which is the run's own, and /srv/a to read, /srv/b to read and /out to read and write."},
	{"many files", thirdrail.Sandbox{AllowRead: strings.Fields("/1 /2 /3 /4 /5 /6 /7 /8")},
		"There is no network, no other program to start and no file beyond the working directory, which is the run's own, and /1 to read, /2 to read, /3 to read, /4 to read, /5 to read, /6 to read and a few more."},
	{"a hostile path", thirdrail.Sandbox{AllowRead: []string{"/a\n- Tools"}, AllowNetwork: true, AllowProcesses: true},
		"There is no file beyond the working directory, which is the run's own, and /a - Tools to read."},
}

// TestWalls: nothing is said to be closed that is open.
func TestWalls(t *testing.T) {
	for _, c := range wallCases {
		if got := walls(c.sandbox); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestImportable(t *testing.T) {
	var many []string
	for i := range 200 {
		many = append(many, fmt.Sprintf("package%03d", i))
	}
	many = append(many, "pandas", "zebra", "numpy")
	open := thirdrail.Sandbox{AllowNetwork: true}
	for _, c := range []struct {
		name     string
		packages []string
		sandbox  thirdrail.Sandbox
		want     string
	}{
		{"nothing", nil, thirdrail.Sandbox{}, "Importable is the standard library; nothing can be installed."},
		{"some", []string{"a", "numpy"}, thirdrail.Sandbox{}, "Importable are the standard library and numpy, a; nothing can be installed."},
		{"with a network", []string{"a"}, open, "Importable are the standard library and a."},
		{"without walls", nil, thirdrail.Sandbox{Mode: thirdrail.SandboxOff}, "Importable is the standard library."},
		{"many", many, open, "Importable are the standard library and numpy, pandas, package000, package001, "},
	} {
		got := importable(c.packages, c.sandbox)
		if !strings.HasPrefix(got, c.want) || len(got) > packagesBytes+100 {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if many[0] != "package000" {
		t.Error("the caller's list is in another order")
	}
}

func TestAllowance(t *testing.T) {
	base := thirdrail.DefaultLimits()
	for _, c := range []struct {
		own  thirdrail.Limits
		want string
	}{
		{thirdrail.Limits{}, "A run may take 1m0s and 1 GiB of memory, print 256 KiB and return 1 MiB."},
		{thirdrail.Limits{Wall: 5 * time.Second, Memory: 3 << 20, LogBytes: 1000, ValueBytes: 5 << 10}, "A run may take 5s and 3 MiB of memory, print 1000 bytes and return 5 KiB."},
	} {
		if got := allowance(c.own, base); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestLongestFixedText: the fixed text is short also where much is installed and open.
func TestLongestFixedText(t *testing.T) {
	s := newSet(t, runTools(t)...)
	for i := range 300 {
		s.facts.Packages = append(s.facts.Packages, fmt.Sprint("a_package_with_a_long_name_", i))
	}
	s.facts.Version = "3.13"
	if size := len(s.howTo()); size > fixedBytes {
		t.Errorf("it has %d bytes:\n%s", size, s.howTo())
	}
}
