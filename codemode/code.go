package codemode

import (
	"fmt"
	"regexp"
	"strings"
)

// fence matches a program inside one Markdown fence, perhaps with words around it.
var fence = regexp.MustCompile("(?s)^[^\n]{0,200}?\n?[ \t]*(```+|~~~+)[ \t]*([A-Za-z0-9_+-]*)[^\n]*\n(.*?)\n?[ \t]*(```+|~~~+)[ \t]*\n?[^\n]{0,200}$")

// shellLine matches a line for a notebook that is no Python.
var shellLine = regexp.MustCompile(`^\s*([!%]{1,2})\s*([A-Za-z_][\w.-]*)(.*)$`)

// Clean returns a program as a model sent it, without the Markdown fence around it.
// Where it has lines that are for a notebook, it returns a refusal that says what
// to write instead.
func Clean(code string) (program, refusal string) {
	program = unfence(code)
	open, quoted, continued := 0, "", false
	for i, line := range strings.Split(program, "\n") {
		// Inside a string or brackets, % and ! have a meaning.
		if open == 0 && quoted == "" && !continued {
			if match := shellLine.FindStringSubmatch(line); match != nil {
				return "", fmt.Sprintf("line %d: %s is for a notebook, and this is a Python program: %s",
					i+1, quote(cut(strings.TrimSpace(line), 80)), instead(match[1], match[2]))
			}
		}
		open, quoted = scanLine(line, open, quoted)
		continued = strings.HasSuffix(line, `\`)
	}
	return program, ""
}

// scanLine follows brackets and long strings over one line.
func scanLine(line string, open int, quoted string) (int, string) {
	for i := 0; i < len(line); i++ {
		if quoted != "" {
			if line[i] == '\\' {
				i++
			} else if strings.HasPrefix(line[i:], quoted) {
				i += len(quoted) - 1
				quoted = ""
			}
			continue
		}
		switch c := line[i]; c {
		case '#':
			return open, ""
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(open-1, 0)
		case '"', '\'':
			quoted = string(c)
			if strings.HasPrefix(line[i:], strings.Repeat(quoted, 3)) {
				quoted = strings.Repeat(quoted, 3)
				i += 2
			}
		}
	}
	if len(quoted) == 1 {
		quoted = "" // it ends with the line, or is an error of Python's
	}
	return open, quoted
}

func instead(mark, word string) string {
	switch {
	case word == "pip" || word == "pip3" || word == "conda" || word == "uv" || word == "apt":
		return "nothing can be installed, there is no network; use the standard library and the packages that are listed, and leave the line out"
	case mark == "!":
		return "no other program can be started; do it in Python, or call a tool"
	case word == "timeit" || word == "time":
		return "leave the line out, and measure with time.perf_counter()"
	}
	return "leave the line out"
}

// unfence takes one Markdown fence off.
func unfence(code string) string {
	trimmed := strings.TrimSpace(code)
	match := fence.FindStringSubmatch(trimmed)
	if match == nil || match[1][0] != match[4][0] || strings.Contains(match[3], "\n"+match[1]) {
		return code
	}
	if before := trimmed[:strings.Index(trimmed, match[1])]; strings.ContainsAny(before, "\"'=(#") {
		return code // the fence is inside the program, in a string or a comment
	}
	return match[3] + "\n"
}
