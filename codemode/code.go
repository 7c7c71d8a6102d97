package codemode

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fenceLine matches a line that begins or ends a Markdown fence.
var fenceLine = regexp.MustCompile("^[ \t]*(```+|~~~+)[ \t]*[A-Za-z0-9_+.-]*[ \t]*\r?$")

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
		return "nothing can be installed; use the standard library and the packages that are listed, and leave the line out"
	case mark == "!":
		return "this is no shell; do it in Python, or call a tool"
	case word == "timeit" || word == "time":
		return "leave the line out, and measure with time.perf_counter()"
	}
	return "leave the line out"
}

// unfence takes one Markdown fence off, with the words around it. Outside a string
// no line of Python begins like a fence, so nothing else is mistaken for one.
func unfence(code string) string {
	lines := strings.Split(code, "\n")
	first := slices.IndexFunc(lines, fenceLine.MatchString)
	if first < 0 || isInString(lines[:first]) {
		return code
	}
	mark := strings.TrimSpace(lines[first])[:3]
	for last := len(lines) - 1; last > first; last-- {
		if strings.TrimLeft(strings.TrimSpace(lines[last]), mark[:1]) == "" && strings.Contains(lines[last], mark) {
			return strings.Join(append(lines[first+1:last:last], ""), "\n")
		}
	}
	return code
}

// isInString tells whether lines end inside a string.
func isInString(lines []string) bool {
	open, quoted := 0, ""
	for _, line := range lines {
		open, quoted = scanLine(line, open, quoted)
	}
	return quoted != ""
}
