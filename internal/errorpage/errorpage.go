// Package errorpage reads the tables of failing programs in the pages of docs. It is
// for the tests that run them.
package errorpage

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// head begins a table of failing programs. Other tables of a page are passed over.
const head = "| mistake | program | message | mended |"

// Row is one mistake: a program that makes it, a part of what it is told, and the
// program that this asks for.
type Row struct{ Mistake, Program, Message, Mended string }

var (
	codeSpan = regexp.MustCompile("^(`+)(.*?)`+$")
	column   = regexp.MustCompile(`(?:\\\||[^|])+`)
)

// Rows returns the rows of all such tables of a page.
func Rows(t testing.TB, path string) []Row {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	inside := false
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSuffix(line, "\n")
		if line == head || !strings.HasPrefix(line, "|") {
			inside = line == head
			continue
		}
		if !inside || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := column.FindAllString(strings.Trim(line, "|"), -1)
		if len(cells) != 4 {
			t.Fatalf("%s: %d cells: %s", path, len(cells), line)
		}
		rows = append(rows, Row{strings.TrimSpace(cells[0]), cellText(t, cells[1]), cellText(t, cells[2]), cellText(t, cells[3])})
	}
	return rows
}

// cellText returns the lines of a cell, each of which is a code span.
func cellText(t testing.TB, cell string) string {
	t.Helper()
	var lines []string
	for span := range strings.SplitSeq(strings.TrimSpace(cell), "<br>") {
		match := codeSpan.FindStringSubmatch(span)
		if match == nil {
			t.Fatalf("%q is no code", span)
		}
		text := match[2]
		// As in Markdown, one space at each end keeps the text's own backticks apart.
		if strings.HasPrefix(text, " `") || strings.HasSuffix(text, "` ") {
			text = text[1 : len(text)-1]
		}
		lines = append(lines, strings.ReplaceAll(text, `\|`, "|"))
	}
	return strings.Join(lines, "\n")
}
