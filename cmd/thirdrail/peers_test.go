//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// peerPackages returns the folder into which .ci/run installs clients from npm, and
// the Node.js that runs them.
func peerPackages(t *testing.T, packages ...string) (folder, node string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node on PATH, for clients of another make")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skipf("there is no home folder to look for npm packages in: %v", err)
	}
	folder = filepath.Join(home, ".cache", "thirdrail-checkers")
	for _, name := range packages {
		if _, err := os.Stat(filepath.Join(folder, "node_modules", name)); err != nil {
			t.Skipf("the npm package %s is not installed in %s; .ci/run installs it", name, folder)
		}
	}
	return folder, node
}

// runNode runs a script to its end and returns what it printed. It may fail, as
// checkers do where they found something.
func runNode(t *testing.T, node string, args ...string) (stdout string, failed error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, node, args...)
	command.Dir = t.TempDir()
	command.WaitDelay = time.Second
	var out, rest bytes.Buffer
	command.Stdout, command.Stderr = &out, &rest
	failed = command.Run()
	if ctx.Err() != nil {
		t.Fatalf("%q hung: %s%s", args, out.String(), rest.String())
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("stderr of %q: %s", args, rest.String())
	}
	return out.String(), failed
}

// peerChecks are what testdata/peers/client.mjs sees of a server that works.
var peerChecks = []struct{ name, want string }{
	{"handshake", `{"name":"thirdrail","version":"2025-11-25","capabilities":{"logging":{},"tools":{"listChanged":true}}}`},
	{"list", `[{"name":"run_code","required":["code"],"outputs":null,"more":null,
		"annotations":{"readOnlyHint":false,"idempotentHint":false,"destructiveHint":true,"openWorldHint":true},
		"declared":["class files:","async def echo(","servers that could not be started"]}]`},
	{"value", `{"value":{"a":[1,null,"é"],"b":"x"},"logs":["hello"],"calls":["files.text 1"],
		"text":"hello\n[value] {\"a\":[1,null,\"é\"],\"b\":\"x\"}","more":[],"failed":false}`},
	{"output schema", `{"value":{"other":1},"logs":[],"warnings":["files.broken: the result does not match its output schema: result: expected the key \"result\", which is missing"],"calls":["files.broken 1"],"text":"[warning] files.broken: the result does not match its output schema: result: expected the key \"result\", which is missing\n[value] {\"other\":1}","more":[],"failed":false}`},
	{"large integers", `["[9007199254740993,-90071992547409931,0.1]"]`},
	{"many at once", `[0,1,2,3,4,5]`},
	{"progress", `["1 one","2 [1/3] step 1","3 [2.5/3] step 2.5","4 [3/3] step 3","5 two"]`},
	{"logs before a level", `[]`},
	{"logs", `[{"level":"info","logger":"run_code","data":"hello"},{"level":"warning","logger":"disk","data":{"z":9007199254740992,"a":1}}]`},
	{"logs above a level", `[]`},
	{"cancel", `true`},
	{"declined", `{"value":"declined: the user does not allow this call of files.content; don't try it again in this run","logs":[],"calls":[],"text":"\"declined: the user does not allow this call of files.content; don't try it again in this run\"","more":[],"failed":false,"asked":[{"message":"A program wants to call content of the server files.\nArguments: {}\n","asks":["calls"]}]}`},
	{"dismissed", `{"logs":[],"error":{"kind":"exception","message":"Traceback (most recent call last):\n  File \"program.py\", line 1, in <module>\n    await files.content()\nToolError: not approved: the user dismissed the question whether files.content may be called"},"calls":[],"text":"[exception] Traceback (most recent call last):\n  File \"program.py\", line 1, in <module>\n    await files.content()\nToolError: not approved: the user dismissed the question whether files.content may be called","more":[],"failed":true,"asked":1}`},
	{"accepted, and an image", `{"value":{"content":0,"mime":"image/png","size":8},"logs":[],"calls":["files.content 1"],"text":"{\"content\":0,\"mime\":\"image/png\",\"size\":8}","more":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}],"failed":false,"asked":1}`},
	{"accepted for two, and no image", `{"value":[7,7],"logs":[],"calls":["files.content 2"],"text":"[7,7]","more":[],"failed":false,"asked":1}`},
	{"a server asks", `{"value":{"answer":{"action":"accept","content":{"zone":"north"}}},"logs":[],"calls":["files.ask 1"],"text":"{\"answer\":{\"action\":\"accept\",\"content\":{\"zone\":\"north\"}}}","more":[],"failed":false,"asked":[{"message":"The server files asks: Which zone?","asks":["zone","amount"]}]}`},
	{"list changed", `{"lists":1,"grown":true,"value":"grown_0"}`},
	{"an exception", `{"logs":["before"],"error":{"kind":"exception","message":"Traceback (most recent call last):\n  File \"program.py\", line 2, in <module>\n    raise ValueError(\"odd\")\nValueError: odd"},"calls":[],"text":"before\n[exception] Traceback (most recent call last):\n  File \"program.py\", line 2, in <module>\n    raise ValueError(\"odd\")\nValueError: odd","more":[],"failed":true}`},
	{"a failing tool", `{"logs":[],"error":{"kind":"exception","message":"Traceback (most recent call last):\n  File \"program.py\", line 1, in <module>\n    await files.fail()\nToolError: the disk is full"},"calls":["files.fail 1"],"text":"[exception] Traceback (most recent call last):\n  File \"program.py\", line 1, in <module>\n    await files.fail()\nToolError: the disk is full\n[before that it made 1 call (files.fail); what was done is done]","more":[],"failed":true}`},
	{"no program at all", `{"logs":[],"error":{"kind":"exception","message":"  File \"program.py\", line 1\n    x =\n       ^\nSyntaxError: invalid syntax"},"calls":[],"text":"[exception]   File \"program.py\", line 1\n    x =\n       ^\nSyntaxError: invalid syntax","more":[],"failed":true}`},
	{"no code", `{"failed":true,"text":"[exception] the arguments of run_code must be a JSON object with the program as its member \"code\", a string"}`},
	{"an unknown tool", `{"code":-32602}`},
	{"oddities", `[]`},
	{"end", `null`},
}

// peerSetup is what testdata/peers/client.mjs is started with.
type peerSetup struct {
	Packages string            `json:"packages"`
	Command  []string          `json:"command,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	URL      string            `json:"url,omitempty"`
	Token    string            `json:"token,omitempty"`
}

// checkPeer runs testdata/peers/client.mjs, and has a subtest for each of its checks.
func checkPeer(t *testing.T, node string, setup peerSetup, wants []struct{ name, want string }) {
	t.Helper()
	script, err := filepath.Abs("testdata/peers/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	argument, err := json.Marshal(setup)
	if err != nil {
		t.Fatal(err)
	}
	output, err := runNode(t, node, script, string(argument))
	if err != nil {
		t.Errorf("the client ended with %v", err)
	}
	saw := map[string]string{}
	for line := range strings.Lines(output) {
		var one struct {
			Check string
			Got   json.RawMessage
			Error string
			Code  any
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		saw[one.Check] = string(one.Got)
		if one.Error != "" {
			saw[one.Check] = fmt.Sprintf("%s (%v)", one.Error, one.Code)
		}
	}
	for _, check := range wants {
		t.Run(check.name, func(t *testing.T) {
			if got := saw[check.name]; !sameJSON(t, got, check.want) {
				t.Errorf("got  %s\nwant %s", got, check.want)
			}
		})
		delete(saw, check.name)
	}
	for name, got := range saw {
		t.Errorf("nobody judges %q: %s", name, got)
	}
}

// sameJSON tells whether two texts are the same value. The first one may be none.
func sameJSON(t *testing.T, got, want string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	return json.Unmarshal([]byte(got), &a) == nil && reflect.DeepEqual(a, b)
}

// TestTypeScriptClient has the official TypeScript SDK start the command.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	folder, node := peerPackages(t, "@modelcontextprotocol/sdk")
	s := newSession(t, "", "mcp", "--config", mcpConfig(t, `"wall": "20s"`))
	setup := peerSetup{Packages: folder, Command: append([]string{binary}, s.Args[1:]...), Env: map[string]string{"TMPDIR": s.temp}}
	for _, variable := range s.Env {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			setup.Env["PATH"] = path
		}
	}
	checkPeer(t, node, setup, peerChecks)
	s.checkGone(0)
	s.checkNoFiles()
}

// TestTypeScriptClientOverHTTP has it call the command that runs already.
func TestTypeScriptClientOverHTTP(t *testing.T) {
	t.Parallel()
	folder, node := peerPackages(t, "@modelcontextprotocol/sdk")
	s, url := startHTTP(t, "--token", "sesame", "--wall", "20s")
	checkPeer(t, node, peerSetup{Packages: folder, URL: url, Token: "sesame"}, append(peerChecks, peerChecksHTTP...))
	s.stop()
}

var peerChecksHTTP = []struct{ name, want string }{
	{"no token", `{"code":401}`},
	{"a wrong token", `{"code":401}`},
	{"another origin", `{"code":403}`},
	{"two clients", `{"value":"approval unavailable: files.content needs the user's approval, and the client can't ask its user (it has no elicitation)","after":404}`},
	{"still there", `1`},
}
