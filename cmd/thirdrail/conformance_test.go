//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	noResources  = "no resources are served"
	noPrompts    = "no prompts are served"
	noSampling   = "servers behind can't have the client's model write, since the client doesn't know them"
	textResource = "a program gets the text of a resource, and so does the client"
	noSchemas    = "the schemas of tools are in the description of run_code, as Python"
	noResuming   = "streams that broke can't be resumed, which is for servers to choose"
)

// conformance are the scenarios of the suite, each with the reason where it is not for
// a server like ours. Then it fails, as the test checks, or the reason is out of date.
var conformance = map[string]string{
	"server-initialize":           "",
	"ping":                        "",
	"logging-set-level":           "",
	"tools-list":                  "",
	"prompts-list":                "", // an empty one
	"resources-list":              "",
	"dns-rebinding-protection":    "",
	"server-sse-multiple-streams": "",

	// These call tools of a server behind ours: asPrograms has programs call them.
	"tools-call-simple-text":       "",
	"tools-call-image":             "",
	"tools-call-audio":             "",
	"tools-call-error":             "",
	"tools-call-with-logging":      "",
	"tools-call-with-progress":     "",
	"tools-call-elicitation":       "",
	"elicitation-sep1034-defaults": "",
	"elicitation-sep1330-enums":    "",
	"tools-call-embedded-resource": textResource,
	"tools-call-mixed-content":     textResource,
	"tools-call-sampling":          noSampling,

	"json-schema-2020-12":           noSchemas,
	"server-sse-polling":            noResuming,
	"completion-complete":           noPrompts,
	"prompts-get-simple":            noPrompts,
	"prompts-get-with-args":         noPrompts,
	"prompts-get-embedded-resource": noPrompts,
	"prompts-get-with-image":        noPrompts,
	"resources-read-text":           noResources,
	"resources-read-binary":         noResources,
	"resources-templates-read":      noResources,
	"resources-subscribe":           noResources,
	"resources-unsubscribe":         noResources,
}

// TestConformance runs the protocol's own suite for servers.
func TestConformance(t *testing.T) {
	t.Parallel()
	folder, node := peerPackages(t, "@modelcontextprotocol/conformance")
	fixture := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return conformanceTools() }, nil))
	t.Cleanup(fixture.Close)
	t.Cleanup(fixture.CloseClientConnections)
	s, url := startListening(t, file(t, "servers.json", fmt.Sprintf(`{"mcpServers": {"fixture": {"url": %q}}}`, fixture.URL)))
	front := asPrograms(t, url)
	results := t.TempDir()
	shim, err := filepath.Abs("testdata/peers/node20.mjs")
	if err != nil {
		t.Fatal(err)
	}
	output, _ := runNode(t, node, "--import", "file://"+shim, filepath.Join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
		"server", "--url", front+"/mcp", "--suite", "all", "--output-dir", results)
	outcomes := scenarios(t, results)
	if len(outcomes) == 0 {
		t.Fatalf("no scenario was run: %s", output)
	}
	for name, reason := range conformance {
		t.Run(name, func(t *testing.T) {
			outcome, run := outcomes[name]
			switch {
			case !run:
				t.Error("the suite has no such scenario any more")
			case reason == "" && outcome != "":
				t.Error(outcome)
			case reason != "" && outcome == "":
				t.Errorf("it passes, though %q; take the reason away", reason)
			}
		})
		delete(outcomes, name)
	}
	for name, outcome := range outcomes {
		t.Errorf("the suite has a new scenario %q, whose outcome is %q", name, outcome)
	}
	s.stop()
}

// scenarios returns what went wrong in each scenario, which may be nothing.
func scenarios(t *testing.T, results string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	folder := regexp.MustCompile(`^server-(.*)-\d{4}-\d\d-\d\dT[^/]*$`)
	outcomes := map[string]string{}
	for _, path := range files {
		match := folder.FindStringSubmatch(filepath.Base(filepath.Dir(path)))
		if match == nil {
			t.Fatalf("a folder of no scenario: %s", path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage, Description string }
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		outcomes[match[1]] = outcomeOf(checks)
	}
	return outcomes
}

func outcomeOf(checks []struct{ ID, Status, ErrorMessage, Description string }) string {
	var wrong []string
	succeeded := false
	for _, check := range checks {
		succeeded = succeeded || check.Status == "SUCCESS"
		if check.Status == "FAILURE" || check.Status == "WARNING" {
			wrong = append(wrong, fmt.Sprintf("%s %s: %s: %s", check.Status, check.ID, check.Description, check.ErrorMessage))
		}
	}
	if len(wrong) == 0 && !succeeded {
		return fmt.Sprintf("nothing was checked: %v", checks)
	}
	return strings.Join(wrong, "; ")
}

// asPrograms serves what the command at a URL serves, but for calls of tools that only
// a server behind it has. They become calls of run_code.
func asPrograms(t *testing.T, target string) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	to.Path = ""
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		body = asProgram(body)
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	return front.URL
}

// asProgram turns the call of one of conformanceTools into a call of run_code.
func asProgram(body []byte) []byte {
	var message, params map[string]json.RawMessage
	var name string
	if json.Unmarshal(body, &message) != nil || json.Unmarshal(message["params"], &params) != nil ||
		json.Unmarshal(params["name"], &name) != nil || !isConformanceTool(name) {
		return body
	}
	arguments := string(params["arguments"])
	if arguments == "" {
		arguments = "{}"
	}
	// What quotes a text in Go, and in JSON, quotes it in Python too.
	code := fmt.Sprintf("import json\nreturn await fixture[%q](**json.loads(%q))", name, arguments)
	params["name"] = json.RawMessage(`"run_code"`)
	params["arguments"] = mustJSON(map[string]string{"code": code})
	message["params"] = mustJSON(params)
	return mustJSON(message)
}

func mustJSON(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // no map of texts does that
	}
	return text
}
