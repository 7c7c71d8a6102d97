package mcp

import (
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/mcp/upstream"
)

func toolOf(server, name string, destructive *bool) upstream.Tool {
	return upstream.Tool{Tool: codemode.Tool{Namespace: server, Name: name}, Destructive: destructive}
}

// policyServers are the servers of the tests of policies. Some names have dots.
var policyServers = []string{"fs", "google.drive", "google", "my-server", "my_server"}

// policyCases are policies, tools, and what must be decided.
var policyCases = []struct {
	name, policy string
	server, tool string
	destructive  *bool
	want         Decision
}{
	{"nothing said", `{}`, "fs", "read", nil, Allow},
	{"a destructive tool", `{}`, "fs", "delete", new(true), Ask},
	{"a tool that says it isn't", `{}`, "fs", "delete", new(false), Allow},
	{"an explicit default", `{"default":"allow"}`, "fs", "delete", new(true), Allow},
	{"deny by default", `{"default":"deny"}`, "fs", "read", nil, Deny},
	{"ask by default", `{"default":"ask"}`, "fs", "read", new(false), Ask},
	{"allowed by name", `{"allow":["fs.delete"]}`, "fs", "delete", new(true), Allow},
	{"the hint counts where no rule does", `{"allow":["fs.read"]}`, "fs", "delete", new(true), Ask},
	{"denied", `{"deny":["fs.delete"]}`, "fs", "delete", nil, Deny},
	{"denied elsewhere", `{"deny":["fs.delete"]}`, "google", "delete", nil, Allow},
	{"the more particular rule", `{"ask":["fs.*"],"allow":["fs.read_*"]}`, "fs", "read_file", nil, Allow},
	{"the less particular rule", `{"ask":["fs.*"],"allow":["fs.read_*"]}`, "fs", "write_file", nil, Ask},
	{"all but one", `{"deny":["*"],"allow":["fs.read"]}`, "fs", "read", nil, Allow},
	{"all but one, another", `{"deny":["*"],"allow":["fs.read"]}`, "fs", "write", nil, Deny},
	{"the strictest of equals", `{"allow":["fs.read"],"deny":["fs.read"],"ask":["fs.read"]}`, "fs", "read", nil, Deny},
	{"the strictest of equal stars", `{"ask":["*.read"],"allow":["*.read"]}`, "fs", "read", nil, Ask},
	{"a server alone", `{"deny":["fs"]}`, "fs", "read", nil, Deny},
	{"a server with a dot", `{"deny":["google.drive.*"]}`, "google", "drive.list", nil, Allow},
	{"names that look alike", `{"deny":["my-server.*"]}`, "my_server", "x", nil, Allow},
	{"a tool with dots", `{"deny":["fs.list.files"]}`, "fs", "list.files", nil, Deny},
	{"an object", `{"deny":[{"server":"google","tool":"drive.list"}]}`, "google", "drive.list", nil, Deny},
	{"an object for another", `{"deny":[{"server":"google","tool":"drive.list"}]}`, "google.drive", "list", nil, Allow},
	{"stars inside", `{"deny":["fs.*_f*e"]}`, "fs", "read_file", nil, Deny},
	{"stars that don't overlap", `{"deny":["fs.aba*ba"]}`, "fs", "aba", nil, Allow},
}

func TestPolicy(t *testing.T) {
	for _, c := range policyCases {
		t.Run(c.name, func(t *testing.T) {
			// Where the name of one server begins another's, only an object is clear.
			servers := policyServers
			if strings.Contains(c.policy, "google.drive.") {
				servers = []string{"fs", "google.drive"}
			}
			p, err := ParsePolicy([]byte(c.policy), servers)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Decide(toolOf(c.server, c.tool, c.destructive)); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestPolicyRefused(t *testing.T) {
	for policy, want := range map[string]string{
		``:                                   `EOF; write {"default"`,
		`[]`:                                 policyForm,
		`{"alow":[]}`:                        `unknown field "alow"`,
		`{"default":"no"}`:                   `"default" is "no"; write allow, ask or deny`,
		`{"allow":["none.read"]}`:            `"allow": "none.read" is for no server; write SERVER.TOOL, with * for any; the servers are: fs, google.drive,`,
		`{"deny":["google.drive.list"]}`:     `could be "drive.list" of the server "google", or "list" of "google.drive"`,
		`{"deny":[""]}`:                      `"deny": "" is for no server`,
		`{"deny":["fs."]}`:                   `"fs." is for no server`,
		`{"deny":[{"server":"fs"}]}`:         `a rule needs "server" and "tool"`,
		`{"deny":[7]}`:                       policyForm,
		`{"deny":[{"server":"fs","t":"x"}]}`: `unknown field "t"`,
		`{"deny":[]} {"allow":["*"]}`:        "there is more after the end",
	} {
		if _, err := ParsePolicy([]byte(policy), policyServers); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", policy, err, want)
		}
	}
	if _, _, err := ParsePattern("a.b", nil); err == nil || !strings.Contains(err.Error(), "none is configured") {
		t.Errorf("error %v", err)
	}
}

// FuzzMatches: whatever the names are, a pattern without stars matches itself alone,
// and one star everything.
func FuzzMatches(f *testing.F) {
	for _, c := range policyCases {
		f.Add(c.server, c.tool)
	}
	f.Add("a*b*c", "aXbYc")
	f.Add("***", "")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if !matches("*", name) || !matches(name+"*", name) || !matches("*"+name, name) {
			t.Errorf("a star doesn't match %q", name)
		}
		got := matches(pattern, name)
		if !strings.Contains(pattern, "*") && got != (pattern == name) {
			t.Errorf("%q matches %q: %t", pattern, name, got)
		}
		if got && len(strings.ReplaceAll(pattern, "*", "")) > len(name) {
			t.Errorf("%q matches the shorter %q", pattern, name)
		}
	})
}
