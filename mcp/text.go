package mcp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutMiddle cuts the middle out of a text that is over budget, and says what is
// shown. A model that isn't told runs the program again, with all that it does.
func cutMiddle(text string, budget int, what string) string {
	if len(text) <= budget {
		return text
	}
	head := headOf(text, budget/2)
	tail := tailOf(text[len(head):], budget-budget/2)
	return fmt.Sprintf("%s\n[… %d of %d bytes %s are shown. The program ran once; don't run it again for the rest: print or return less of it …]\n%s",
		head, len(head)+len(tail), len(text), what, tail)
}

// headOf returns the beginning of a text, in whole characters, and in whole lines
// where that leaves most of it.
func headOf(text string, n int) string {
	n = min(n, len(text))
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	if i := strings.LastIndexByte(text[:n], '\n'); i > n/2 {
		n = i
	}
	return text[:n]
}

// tailOf is headOf for the end of a text.
func tailOf(text string, n int) string {
	start := len(text) - min(n, len(text))
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 && i < (len(text)-start)/2 {
		start += i + 1
	}
	return text[start:]
}

// cutLines leaves lines in the middle out where all are over budget.
func cutLines(lines []string, budget int) ([]string, *Cut) {
	total := 0
	whole := lines
	lines = nil
	for _, line := range whole {
		total += len(line) + 1
		lines = append(lines, cutLine(line, budget/4))
	}
	if total <= budget {
		return append([]string{}, whole...), nil // an empty array, not null
	}
	var head, tail []string
	shown := 0
	for _, line := range lines {
		if shown+len(line)+1 > budget/2 {
			break
		}
		head = append(head, line)
		shown += len(line) + 1
	}
	for i := len(lines) - 1; i >= len(head) && shown+len(lines[i])+1 <= budget; i-- {
		tail = append(tail, lines[i])
		shown += len(lines[i]) + 1
	}
	marker := fmt.Sprintf("[… %d of %d bytes of the output are shown; the program ran once …]", shown, total)
	out := append(head, marker)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out, &Cut{Shown: shown, Total: total}
}

// cutLine cuts the middle out of one line.
func cutLine(line string, most int) string {
	if len(line) <= most {
		return line
	}
	return headOf(line, most/2) + " … " + tailOf(line, most/2)
}

// cutText cuts the end off a text that is too long, in whole characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := most
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// plain makes text of others fit for one line that a person or a model reads:
// nothing in it breaks the line, or turns the direction of what follows.
func plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError, !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	return cutText(strings.TrimSpace(text), most)
}
