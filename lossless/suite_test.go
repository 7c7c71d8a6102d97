package lossless

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// suiteCase is one case of JSONTestSuite; testdata/jsontestsuite.LICENSE tells
// the format of the file.
type suiteCase struct {
	Name   string `json:"name"`
	Base64 []byte `json:"base64"`
	Repeat int    `json:"repeat"`
	Tail   []byte `json:"tail"`
}

func (c suiteCase) text() []byte {
	return append(bytes.Repeat(c.Base64, max(c.Repeat, 1)), c.Tail...)
}

func suiteCases(t testing.TB) []suiteCase {
	t.Helper()
	file, err := os.Open("testdata/jsontestsuite.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var cases []suiteCase
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c suiteCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

func TestJSONTestSuite(t *testing.T) {
	// Repeated names are grammatical, but no value that crosses exactly.
	duplicates := map[string]bool{"y_object_duplicated_key": true, "y_object_duplicated_key_and_value": true}
	count := map[string]int{}
	for _, c := range suiteCases(t) {
		count[c.Name[:2]]++
		text := c.text()
		for _, n := range []Numbers{Exact, Double} {
			_, err := Check(text, Options{Numbers: n})
			// Double refuses these two for what they are worth.
			negativeZero := n == Double && strings.HasSuffix(string(text), "[-0]\n") || n == Double && string(text) == "[-0]"
			switch want := c.Name[0] == 'y' && !duplicates[c.Name] && !negativeZero; {
			case c.Name[0] == 'i':
				if c.Repeat < 2 {
					checkReference(t, text, n)
				}
			case want != (err == nil):
				t.Errorf("%s under %v: %v", c.Name, n, err)
			}
		}
	}
	if count["y_"] != 95 || count["n_"] != 188 || count["i_"] != 35 {
		t.Errorf("the suite has %v cases; want 95 y_, 188 n_, 35 i_", count)
	}
}
