package wire

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ours are the optional fields that the base protocol does not have.
var ours = []string{
	"boot.numbers", "boot.openLogs", "boot.confinement", "run.fileName", "run.data", "boot-ack.proof", "log.open",
	"namespace.splitArguments", "namespace.handles", "run.lastExpression",
}

// TestPage compares the tables of wire.md with the structs.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("wire.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for name, structs := range map[string][]any{
		"boot": {Boot{}}, "namespace": {Namespace{}}, "errorClass": {ErrorClass{}}, "run": {Run{}}, "reply": {ReplyValue{}, ReplyError{}},
		"boot-ack": {BootAck{}}, "call": {Call{}}, "log": {Log{}}, "done": {Done{}}, "error": {DoneError{}},
	} {
		for _, s := range structs {
			for field := range declaredFields(reflect.TypeOf(s)) {
				presence := "required"
				switch {
				case slices.Contains(ours, name+"."+field.name):
					presence = "optional, ours"
				case !field.required:
					presence = "optional"
				}
				want[name] = append(want[name], fmt.Sprintf("`%s` | %s | %s", field.name, typeWords(field.schema), presence))
			}
		}
	}
	if diff := cmp.Diff(want, fieldTables(string(page))); diff != "" {
		t.Errorf("wire.md (-structs +page):\n%s", diff)
	}
}

// typeWords says in the page's words what a schema says.
func typeWords(s schema) string {
	if literals, ok := s["enum"].([]any); ok {
		var words []string
		for _, literal := range literals {
			text, err := json.Marshal(literal)
			if err != nil {
				panic(err)
			}
			words = append(words, "`"+string(text)+"`")
		}
		return strings.Join(words, " or ")
	}
	switch s["type"] {
	case nil:
		return "any JSON value"
	case "array":
		return "array of " + typeWords(s["items"].(schema)) + "s"
	case "object":
		switch s["title"] {
		case nil:
			return "object"
		case "DoneError":
			return "error object"
		}
		title := s["title"].(string)
		return strings.ToLower(title[:1]) + title[1:] + " object"
	}
	return s["type"].(string)
}

// fieldTables returns the rows of the page's tables of fields, without their last
// column, by the heading above them.
func fieldTables(page string) map[string][]string {
	tables := map[string][]string{}
	row := regexp.MustCompile("^\\| (`[^`]+` \\| .+ \\| [a-z, ]+) \\|.*\\|$")
	heading := ""
	for _, line := range strings.Split(page, "\n") {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			heading = name
		}
		if m := row.FindStringSubmatch(line); m != nil {
			tables[heading] = append(tables[heading], m[1])
		}
	}
	return tables
}

// TestPageExample compares the page's example with the transcript of that name.
func TestPageExample(t *testing.T) {
	page, err := os.ReadFile("wire.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)<!-- example: ([a-z-]+) -->\n```\n(.*?)```\n").FindStringSubmatch(string(page))
	if m == nil {
		t.Fatal("wire.md has no example")
	}
	file, err := os.ReadFile("testdata/transcripts/" + m[1] + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var frames strings.Builder
	for line := range strings.Lines(string(file)) {
		if line[0] == '>' || line[0] == '<' {
			frames.WriteString(line)
		}
	}
	if diff := cmp.Diff(frames.String(), m[2]); diff != "" {
		t.Errorf("the example (-transcript +page):\n%s", diff)
	}
}

// TestPageConstants holds the page to the marker and the descriptor.
func TestPageConstants(t *testing.T) {
	page, err := os.ReadFile("wire.md")
	if err != nil {
		t.Fatal(err)
	}
	marker := strings.Replace(LogTruncationMarker(0), "0", "N", 1)
	for _, text := range []string{"    " + marker + "\n", fmt.Sprintf("| %d | one end of a Unix stream socket pair", ProtocolFD)} {
		if !strings.Contains(string(page), text) {
			t.Errorf("wire.md does not contain %q", text)
		}
	}
}
