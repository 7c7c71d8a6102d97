package codemode

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// manyTools returns 300 tools of 10 servers.
func manyTools(t testing.TB) []Tool {
	things := strings.Fields("issue invoice customer file calendar message image branch comment order release label ticket contact page")
	verbs := map[string]string{"create": "Make a new %s.", "list": "Show every %s there is.", "delete": "Remove one %s for good.", "update": "Change what a %s says."}
	var tools []Tool
	for _, server := range []string{"alpha", "beta", "gamma", "delta", "epsilon"} {
		for _, thing := range things {
			for verb, words := range verbs {
				tool := simple(t, server, verb+"_"+thing, echo)
				tool.Description = fmt.Sprintf(words, thing) + " At " + server + "."
				tools = append(tools, tool)
			}
		}
	}
	tool := simple(t, "mail", "send", echo)
	tool.Description = "Send an e-mail to people."
	return append(tools, tool)
}

func TestSearchRanks(t *testing.T) {
	s := newSet(t, manyTools(t)...)
	for query, want := range map[string]string{
		"create an invoice at gamma": "gamma.create_invoice",
		"deleteIssue alpha":          "alpha.delete_issue",
		"send mail":                  "mail.send",
		"remove a branch in beta":    "beta.delete_branch",
		"listing pages epsilon":      "epsilon.list_page",
	} {
		hits := s.Search(query, 5)
		if len(hits) == 0 || !strings.HasPrefix(hits[0], want+"(") {
			t.Errorf("%q finds %q, want %s first", query, hits, want)
		}
	}
	if got := len(s.Search("create", 0)); got != defaultHits {
		t.Errorf("%d hits, want %d", got, defaultHits)
	}
	if got := len(s.Search("create list delete", 1000)); got != maxHits {
		t.Errorf("%d hits, want %d", got, maxHits)
	}
}

// TestDescribeShowsAllValues: a list too long for a Literal is there to be read.
func TestDescribeShowsAllValues(t *testing.T) {
	for _, c := range readCorpus(t)["shapes"] {
		if c.Name != "many-values" {
			continue
		}
		s := newSet(t, c.tool(t))
		source, err := s.Describe("tools")
		if err != nil || !strings.Contains(source, `"CUP"`) || strings.Contains(s.Source(), `"CUP"`) {
			t.Errorf("%v: %s", err, source)
		}
	}
}

// TestFoundNamesAreTheSame: a hit is spelled as in the declarations.
func TestFoundNamesAreTheSame(t *testing.T) {
	s := newSet(t, oddlyNamed(t)...)
	all := s.Search("odd server a b import class list", maxHits)
	if len(all) < 20 {
		t.Fatalf("only %d hits", len(all))
	}
	for _, hit := range all {
		path, _, _ := strings.Cut(hit, "(")
		_, name, _ := strings.Cut(path, ".")
		source, err := s.Describe(path)
		if err != nil || !strings.Contains(source, "async def "+name+"(") {
			t.Errorf("%s: %v: %s", path, err, source)
		}
	}
}

// TestAbout: what is said of a namespace stands in its declaration, shorter in a
// description than where it is asked for, and nowhere without its tools.
func TestAbout(t *testing.T) {
	long := "Log in before you read.\n\n" + strings.Repeat("And so on. ", 100)
	options := Options{About: map[string]string{"my-mail": long, "web": "Be brief.", "gone": "Not here."}}
	s, err := options.New(nil, simple(t, "my-mail", "send", echo), simple(t, "web", "get", echo), simple(t, "db", "get", echo))
	if err != nil {
		t.Fatal(err)
	}
	text := s.Instructions()
	for _, part := range []string{
		"class my_mail:\n    \"\"\"The tools of \"my-mail\".\n\n    Log in before you read.\n\n    And so on.", "…\n    \"\"\"\n",
		"class web:\n    \"\"\"Be brief.\"\"\"\n\n    @staticmethod", "class db:\n    @staticmethod",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the instructions lack %q:\n%s", part, text)
		}
	}
	if strings.Contains(text, "Not here") || strings.Count(text, "And so on.") > 40 {
		t.Errorf("the instructions say too much:\n%s", text)
	}
	whole, err := s.Describe("web", "my_mail")
	if err != nil || strings.Count(whole, "And so on") != 100 || !strings.Contains(whole, "Be brief.") {
		t.Errorf("described, %v:\n%s", err, whole)
	}
	if one, err := s.Describe("web.get"); err != nil || strings.Contains(one, "Be brief.") {
		t.Errorf("one tool, %v:\n%s", err, one)
	}
	options.Inline = 1
	few, err := options.New(nil, simple(t, "my-mail", "send", echo), simple(t, "web", "get", echo))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"- my_mail: send (Log in before you read. And so on.", "- web: get (Be brief.)\n"} {
		if text := few.Instructions(); !strings.Contains(text, part) || len(text) > 3000 {
			t.Errorf("the instructions lack %q:\n%s", part, text)
		}
	}
}

// TestManyToolsAreNotDeclared: the text for 300 tools stays short, and names only
// what there is.
func TestManyToolsAreNotDeclared(t *testing.T) {
	tools := manyTools(t)
	s := newSet(t, tools...)
	text := s.Instructions()
	if len(text) > 3000 {
		t.Errorf("the instructions for %d tools have %d bytes", len(tools), len(text))
	}
	for _, part := range []string{searchName, describeName, "- alpha: create_branch, "} {
		if !strings.Contains(text, part) {
			t.Errorf("the instructions lack %q:\n%s", part, text)
		}
	}
	few := newSet(t, tools[:5]...).Instructions()
	if !strings.Contains(few, "async def ") {
		t.Errorf("the instructions for 5 tools don't declare them:\n%s", few)
	}
	without := slices.DeleteFunc(slices.Clone(tools), func(tool Tool) bool { return tool.Namespace == "alpha" })
	if strings.Contains(newSet(t, without...).Instructions(), "alpha") {
		t.Error("the instructions name a server that isn't there")
	}
	if text := newSet(t).Instructions(); strings.Contains(text, "ToolError") || strings.Contains(text, searchName) {
		t.Errorf("without tools the instructions speak of tools:\n%s", text)
	}
}
