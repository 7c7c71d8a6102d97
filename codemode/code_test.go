package codemode

import (
	"strings"
	"testing"
)

const fenceMark = "```"

// cleanCases lists programs as models send them, and what is run, or a part of the
// refusal.
var cleanCases = []struct {
	name, code, program, refusal string
}{
	{"plain", "return 1", "return 1", ""},
	{"empty", "", "", ""},
	{"a fence", fenceMark + "python\nreturn 1\n" + fenceMark, "return 1\n", ""},
	{"a fence without a language", fenceMark + "\nreturn 1\n" + fenceMark + "\n", "return 1\n", ""},
	{"a fence of another sort", "~~~py\nreturn 1\n~~~", "return 1\n", ""},
	{"a fence with words around it", "Here is the program:\n\n" + fenceMark + "python\nx = 1\nreturn x\n" + fenceMark + "\nIt returns 1.", "x = 1\nreturn x\n", ""},
	{"spaces around a fence", "\n  " + fenceMark + "python\nreturn 1\n  " + fenceMark + "  \n", "return 1\n", ""},
	{"an empty fence", fenceMark + "\n" + fenceMark, "", ""},
	{"a fence in a string", "text = '''\n" + fenceMark + "\ncode\n" + fenceMark + "\n'''\nreturn text", "text = '''\n" + fenceMark + "\ncode\n" + fenceMark + "\n'''\nreturn text", ""},
	{"a fence around a fence in a string", fenceMark + "python\nreturn '" + fenceMark + "'\n" + fenceMark, "return '" + fenceMark + "'\n", ""},
	{"indentation is the program's", "  x=1", "  x=1", ""},

	{"pip", "!pip install requests", "", `line 1: "!pip install requests" is for a notebook, and this is a Python program: nothing can be installed; use the standard library`},
	{"pip as magic", "import os\n%pip install x", "", `line 2: "%pip install x" is for a notebook`},
	{"a shell command", "!ls -la", "", "this is no shell; do it in Python, or call a tool"},
	{"a cell", "%%time\nx = 1", "", "measure with time.perf_counter()"},
	{"magic", "  %matplotlib inline", "", "leave the line out"},
	{"inside a fence", fenceMark + "python\n!ls\n" + fenceMark, "", `line 1: "!ls"`},
	{"a remainder on a line of its own", "x = (7\n  %y)", "x = (7\n  %y)", ""},
	{"a format on a line of its own", "x = '%s' \\\n  %y", "x = '%s' \\\n  %y", ""},
	{"inside a long string", "x = '''\n!ls\n%time\n'''", "x = '''\n!ls\n%time\n'''", ""},
	{"inside another long string", "x = \"\"\"it's\n!ls\n\"\"\"\n", "x = \"\"\"it's\n!ls\n\"\"\"\n", ""},
	{"after a string with a bracket", "x = '('\n!ls", "", "line 2"},
	{"after a comment with a quote", "x = 1  # don't (\n!ls", "", "line 2"},
	{"after an escaped quote", "x = 'it\\'s ('\n!ls", "", "line 2"},
	{"not equal", "x != 1", "x != 1", ""},
}

func TestClean(t *testing.T) {
	for _, c := range cleanCases {
		program, refusal := Clean(c.code)
		if c.refusal == "" && (program != c.program || refusal != "") {
			t.Errorf("%s: %q, %q, want %q", c.name, program, refusal, c.program)
		}
		if c.refusal != "" && (program != "" || !strings.Contains(refusal, c.refusal)) {
			t.Errorf("%s: %q, %q, want the refusal %q", c.name, program, refusal, c.refusal)
		}
	}
}

// FuzzClean: no program makes it panic, and what has neither a fence nor a line for
// a notebook stays as it is.
func FuzzClean(f *testing.F) {
	for _, c := range cleanCases {
		f.Add(c.code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		program, _ := Clean(code)
		if !strings.Contains(code, program) {
			t.Errorf("%q became %q", code, program)
		}
		if !strings.ContainsAny(code, "`~!%") && program != code {
			t.Errorf("%q became %q", code, program)
		}
	})
}
