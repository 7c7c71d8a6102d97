package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// misuses lists command lines that are refused before anything runs. MARK in them
// stands for a program in a file that would leave a mark, and DIR for its folder.
var misuses = []struct {
	name string
	args []string
	want string // in stderr
}{
	{"no command", nil, "no command given; write thirdrail run FILE"},
	{"an unknown command", []string{"rnu", "MARK"}, `there is no command "rnu"; thirdrail --help lists them`},
	{"an unknown flag of the root", []string{"--quick", "run", "MARK"}, "unknown flag: --quick; thirdrail --help lists the flags"},

	{"no program", []string{"run"}, "no program given; write thirdrail run FILE"},
	{"two programs", []string{"run", "MARK", "b.py"}, "2 programs given"},
	{"an unquoted command", []string{"run", "MARK", "--tool", "db.page=cat", "x"}, "a COMMAND with spaces needs quotes"},
	{"a missing file", []string{"run", "none.py"}, `the program in "none.py" can't be read: no such file or directory; give the path of a readable file`},
	{"a folder", []string{"run", "DIR"}, "can't be read: is a directory"},
	{"an empty name", []string{"run", ""}, `the program in "" can't be read`},
	{"a program that is not UTF-8", []string{"run", "DIR/latin1.py"}, "the program is not valid UTF-8; convert it first"},

	{"an unknown flag", []string{"run", "MARK", "--wal", "1s"}, "unknown flag: --wal; thirdrail run --help lists the flags"},
	{"a flag without its value", []string{"run", "MARK", "--wall"}, "flag needs an argument: --wall; thirdrail run --help"},
	{"a duration without a unit", []string{"run", "MARK", "--wall", "10"}, `--wall: "10" has no unit: write 10s for seconds`},
	{"a negative duration", []string{"run", "MARK", "--wall=-5s"}, `--wall: "-5s" is negative`},
	{"no duration at all", []string{"run", "MARK", "--cpu", "abc"}, `--cpu: "abc" is not a duration`},
	{"a size of two meanings", []string{"run", "MARK", "--memory", "64MB"}, "--memory: \"64MB\" could mean two sizes"},
	{"a negative size", []string{"run", "MARK", "--memory=-1"}, `--memory: "-1" is negative`},
	{"too little memory to count", []string{"run", "MARK", "--memory", "0"}, `--memory: "0" is no size to work with`},
	{"a size beyond exact numbers", []string{"run", "MARK", "--memory", "7EiB"}, "--memory is 8070450532247928832; at most 9007199254740991"},
	{"fewer log bytes than the notice", []string{"run", "MARK", "--log-bytes", "3"}, "--log-bytes is 3; the notice that logs were cut needs 46"},
	{"a value beyond a frame", []string{"run", "MARK", "--value-bytes", "64MiB"}, "--value-bytes is 67108864; with a frame limit of 67108864 it can be at most 67104768"},
	{"an unknown number profile", []string{"run", "MARK", "--numbers", "float"}, `--numbers: "float" is none of its values; write exact or double`},
	{"an unknown start", []string{"run", "MARK", "--start", "warm"}, `--start: "warm" is none of its values; write auto or fork or spawn`},
	{"a preload without a fork", []string{"run", "MARK", "--start", "spawn", "--preload", "json"}, "--preload needs the start method fork; leave it out, and import in the program"},
	{"a preload that isn't there", []string{"run", "MARK", "--preload", "json,no_such_module"}, "no_such_module"},
	{"an unknown sandbox", []string{"run", "MARK", "--sandbox", "on"}, `--sandbox: "on" is none of its values; write strict or off`},
	{"nothing to open", []string{"run", "MARK", "--sandbox", "off", "--allow-read", "/etc"}, "--sandbox is off, so there is nothing to open; leave --allow-read and the like out, or write --sandbox strict"},
	{"a path to read that isn't there", []string{"run", "MARK", "--allow-read", "/none"}, `--allow-read "/none" can't be opened: no such file or directory; write a path that exists`},
	{"a path to write that isn't there", []string{"run", "MARK", "--allow-write", "none"}, `--allow-write "none" can't be opened`},
	{"a mechanism that isn't one", []string{"run", "MARK", "--allow", "luck"}, `--allow has "luck"; it can name landlock, seccomp, pid-namespace`},

	{"an empty wrapper", []string{"run", "MARK", "--wrapper", ""}, "it is empty; write a command, or leave it out"},
	{"a wrapper with an open quote", []string{"run", "MARK", "--wrapper", "bwrap 'x"}, "can't be split into words: a single quote is not closed"},
	{"a missing wrapper", []string{"run", "MARK", "--wrapper", "none-such --x"}, `--wrapper: the command "none-such" can't be used: executable file not found in $PATH; install it`},

	{"an empty interpreter", []string{"run", "MARK", "--python="}, "--python is empty; write the path of an interpreter"},
	{"a missing interpreter", []string{"run", "MARK", "--python", "/none/python3"}, "/none/python3: not an executable regular file: there is no such file; set --python to"},
	{"a missing interpreter beside", []string{"run", "MARK", "--python", "./python3"}, "there is no such file"},
	{"an interpreter that PATH hasn't", []string{"run", "MARK", "--python", "python-zzz"}, "not found on PATH"},
	{"a folder as interpreter", []string{"run", "MARK", "--python", "DIR"}, "it is a directory"},
	{"no interpreter at all", []string{"run", "MARK", "--python", "/bin/true"}, "python interpreter /bin/true: printed nothing"},

	{"a tool without a command", []string{"run", "MARK", "--tool", "db.page"}, `--tool "db.page" has no command; write --tool NS.NAME=COMMAND`},
	{"a tool without a namespace", []string{"run", "MARK", "--tool", "page=cat"}, `--tool "page=cat" has no namespace; write --tool NS.NAME=COMMAND`},
	{"a tool without a name", []string{"run", "MARK", "--tool", "db.=cat"}, "has no function name after the dot"},
	{"a tool with an empty command", []string{"run", "MARK", "--tool", "db.page= "}, "--tool db.page has an empty command"},
	{"a tool with an open quote", []string{"run", "MARK", "--tool", "db.page=sh -c 'x"}, "can't be split into words: a single quote is not closed"},
	{"a tool with an open double quote", []string{"run", "MARK", "--tool", `db.page=sh -c "x`}, "a double quote is not closed"},
	{"a tool with a last backslash", []string{"run", "MARK", "--tool", `db.page=cat \`}, "it ends with a backslash"},
	{"a tool twice", []string{"run", "MARK", "--tool", "db.page=cat", "--tool", "db.page=cat"}, "--tool db.page is given twice"},
	{"a tool's command that doesn't exist", []string{"run", "MARK", "--tool", "db.page=no-such-command --x"}, `--tool db.page: the command "no-such-command" can't be used: executable file not found in $PATH; give the name`},
	{"a tool's path that doesn't exist", []string{"run", "MARK", "--tool", "db.page=./none"}, `the command "./none" can't be used: no such file or directory`},
	{"a tool's command that can't be executed", []string{"run", "MARK", "--tool", "db.page=MARK"}, "can't be used: permission denied"},
	{"a folder as a tool's command", []string{"run", "MARK", "--tool", "db.page=DIR"}, "can't be used: is a directory"},
	{"a namespace that is no identifier", []string{"run", "MARK", "--tool", "a-b.page=cat"}, `--tool namespace "a-b" is not a usable Python identifier`},
	{"a namespace that is reserved", []string{"run", "MARK", "--tool", "lambda.page=cat"}, `--tool namespace "lambda" is a reserved word`},
	{"a namespace of the runtime", []string{"run", "MARK", "--tool", "__name__.page=cat"}, `--tool namespace "__name__" belongs to the runtime`},
	{"a namespace beside data", []string{"run", "MARK", "--tool", "data.page=cat", "--data", "DIR/data.json"}, "stands beside --data"},

	{"empty data", []string{"run", "MARK", "--data="}, "--data is empty"},
	{"missing data", []string{"run", "MARK", "--data", "none.json"}, `the data in "none.json" can't be read: no such file`},
	{"data that is not JSON", []string{"run", "MARK", "--data", "MARK"}, "is not JSON that crosses without loss"},
	{"no data", []string{"run", "MARK", "--data", "-"}, `the data in "-" is not JSON`},
	{"data that isn't exact", []string{"run", "MARK", "--data", "DIR/data.json", "--numbers", "double"}, "is not JSON that crosses without loss"},
	{"one input for two", []string{"run", "-", "--data", "-"}, "the program and --data can't both come from standard input"},

	{"arguments for a child", []string{"child", "MARK"}, "child takes no arguments"},
	{"an unknown flag of a child", []string{"child", "--wall", "1s"}, "unknown flag: --wall; thirdrail child --help lists the flags"},
	{"an empty interpreter of a child", []string{"child", "--python="}, "--python is empty"},
	{"a child without a descriptor", []string{"child"}, "descriptor 3 is not a Unix stream socket; start thirdrail child from a host that gives it one end"},
}

func TestMisuse(t *testing.T) {
	for _, test := range misuses {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			mark, program := filepath.Join(directory, "mark"), filepath.Join(directory, "program.py")
			for name, text := range map[string]string{
				"program.py": "open(" + `"` + mark + `"` + ", 'w')",
				"latin1.py":  "x = '\xe9'",
				"data.json":  "9007199254740993",
			} {
				if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := make([]string, len(test.args))
			for i, arg := range test.args {
				args[i] = strings.NewReplacer("MARK", program, "DIR", directory).Replace(arg)
			}
			s := invoke(t, "", args...)
			s.check(exitMisuse, "", test.want)
			checkOneLine(t, s.stderr.String())
			if _, err := os.Stat(mark); err == nil {
				t.Error("the program ran")
			}
		})
	}
}

// checkOneLine fails unless text is one line for a user of the command.
func checkOneLine(t *testing.T, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "thirdrail: ") || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		t.Errorf("stderr is not one line of ours: %q", text)
	}
	for _, word := range []string{"Config.", "Limits.", "Request.", "misuse", "FrameBytes", "%!"} {
		if strings.Contains(text, word) {
			t.Errorf("stderr has %q, which is no word for a user: %q", word, text)
		}
	}
}

func TestMisuseWithLineBreaks(t *testing.T) {
	for _, args := range [][]string{
		{"run", "no\nsuch.py"},
		{"run", "-", "--tool", "db.page\n=none"},
		{"run", "-", "--tool", "d\nb.page=cat"},
		{"r\nun"},
		{"run", "-", "--wall", "1\n"},
	} {
		s := invoke(t, "", args...)
		s.check(exitMisuse, "", "thirdrail: ")
		checkOneLine(t, s.stderr.String())
	}
}

func TestInputOverItsLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/zero is read without end only where it is sure to be there")
	}
	for _, args := range [][]string{{"run", "/dev/zero"}, {"run", "-", "--data", "/dev/zero"}} {
		s := invoke(t, "", args...)
		s.check(exitMisuse, "", `in "/dev/zero" has more than 32 MiB; give it less`)
		checkOneLine(t, s.stderr.String())
	}
}

func TestHelp(t *testing.T) {
	for _, test := range []struct {
		args  []string
		words []string
	}{
		{[]string{"--help"}, []string{"thirdrail [command]", "run ", "child "}},
		{[]string{"run", "--help"}, []string{"thirdrail run FILE|-", "--tool NS.NAME=COMMAND", "--numbers exact|double",
			"(default 1m0s)", "(default 1 GiB)", "Exit status 0", "| thirdrail run -"}},
		{[]string{"child", "--help"}, []string{"wire/wire.md", "spawn(", "--python PATH"}},
	} {
		s := invoke(t, "", test.args...)
		if s.ProcessState.ExitCode() != exitSuccess || s.stderr.Len() > 0 {
			t.Errorf("%q: %v, stderr %q", test.args, s.ProcessState, s.stderr.String())
		}
		for _, word := range test.words {
			if !strings.Contains(s.stdout.String(), word) {
				t.Errorf("%q: %q is missing in\n%s", test.args, word, s.stdout.String())
			}
		}
	}
}

func TestVersion(t *testing.T) {
	s := invoke(t, "", "--version")
	if text := s.stdout.String(); !strings.HasPrefix(text, "thirdrail ") || strings.Count(text, "\n") != 1 || len(text) < 12 {
		t.Errorf("version %q", text)
	}
	s.check(exitSuccess, s.stdout.String(), "")
}
