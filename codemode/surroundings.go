package codemode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/units"
)

// around returns what holds the Set's runs: of its Runtime, or the defaults.
func (s *Set) around() (thirdrail.Sandbox, thirdrail.Limits) {
	if s.runtime == nil {
		return thirdrail.Sandbox{}, thirdrail.DefaultLimits()
	}
	return s.runtime.Sandbox(), s.runtime.Limits()
}

// walls says what a program can't reach, and nothing of what is open to it.
func walls(sandbox thirdrail.Sandbox) string {
	if sandbox.Mode == thirdrail.SandboxOff {
		return "The working directory is the run's own, and is gone after it."
	}
	var closed []string
	if !sandbox.AllowNetwork {
		closed = append(closed, "no network")
	}
	if !sandbox.AllowProcesses && len(sandbox.AllowExec) == 0 {
		closed = append(closed, "no other program to start")
	}
	files := "no file beyond the working directory, which is the run's own"
	if opened := openedPaths(sandbox); opened != "" {
		files += ", and " + opened
	}
	closed = append(closed, files)
	return "There is " + joinedBy(closed, " and ") + "."
}

// openedPaths names the files that the host opened.
func openedPaths(sandbox thirdrail.Sandbox) string {
	var shown []string
	for _, path := range sandbox.AllowRead {
		shown = append(shown, prose(path, 80)+" to read")
	}
	for _, path := range sandbox.AllowWrite {
		shown = append(shown, prose(path, 80)+" to read and write")
	}
	const most = 6
	if len(shown) > most {
		shown = append(shown[:most], "a few more")
	}
	return joinedBy(shown, " and ")
}

// allowance says what a run may use, and what happens beyond it.
func allowance(own, base thirdrail.Limits) string {
	if own.Wall == 0 {
		own.Wall = base.Wall
	}
	pick := func(own, base int64) string {
		if own == 0 {
			own = base
		}
		return units.FormatSize(own)
	}
	return fmt.Sprintf("A run may take %s and %s of memory, print %s and return %s. What is printed beyond is cut, and a line says so; a larger result is refused, with its largest part named.",
		own.Wall, pick(own.Memory, base.Memory), pick(own.LogBytes, base.LogBytes), pick(own.ValueBytes, base.ValueBytes))
}

// wellKnown are packages that programs use most. They are named first.
var wellKnown = strings.Fields(`numpy pandas scipy matplotlib sklearn polars sympy networkx yaml lxml bs4 PIL dateutil
	openpyxl pyarrow jinja2 tabulate pydantic statsmodels seaborn plotly requests httpx`)

// packagesBytes bounds how long the list of packages is.
const packagesBytes = 300

// importable says what a program can import.
func importable(packages []string, sandbox thirdrail.Sandbox) string {
	end := "; nothing can be installed."
	if sandbox.Mode == thirdrail.SandboxOff || sandbox.AllowNetwork {
		end = "."
	}
	list := slices.Clone(packages)
	if len(list) == 0 {
		return "Importable is the standard library" + end
	}
	rank := func(name string) int {
		if i := slices.Index(wellKnown, name); i >= 0 {
			return i
		}
		return len(wellKnown)
	}
	slices.SortStableFunc(list, func(a, b string) int { return rank(a) - rank(b) })
	names, size := 0, 0
	for names < len(list) && size+len(list[names]) < packagesBytes {
		size += len(list[names]) + len(", ")
		names++
	}
	shown := strings.Join(list[:names], ", ")
	if names < len(list) {
		shown += ", …"
	}
	return "Importable are the standard library and " + shown + end
}

// joinedBy joins words with commas, and the last two by a word.
func joinedBy(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + last + words[len(words)-1]
}
