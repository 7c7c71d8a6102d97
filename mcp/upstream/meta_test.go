package upstream

import (
	"strings"
	"testing"
)

// reservedCases are names of members of _meta, and whether the protocol keeps them.
var reservedCases = map[string]bool{
	"progressToken": true, "io.modelcontextprotocol/clientInfo": true, "dev.mcp/": true, "com.mcp.tools/x": true,
	"modelcontextprotocol.io/x": true, "mcp.dev/x": true, "api.modelcontextprotocol.org/x": true,
	"traceparent": false, "": false, "/": false, "mcp": false, "ui": false, "com.example.mcp/x": false,
	"com.example/mcp.dev": false, "claudecode/toolUseId": false, "mcp/x": false,
}

func TestReserved(t *testing.T) {
	for name, want := range reservedCases {
		if got := Reserved(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// TestMetaCrosses: what the caller says beside a call reaches the server, and what it
// says beside the result is kept, each without what is the protocol's.
func TestMetaCrosses(t *testing.T) {
	t.Parallel()
	eachKind(t, "", func(t *testing.T, s *Servers) {
		r := &recorder{meta: map[string]any{
			"traceparent": "00-1", "claudecode/toolUseId": "t1", "progressToken": "outer", "io.modelcontextprotocol/logLevel": "debug", "mcp.dev/x": 1,
		}}
		result := must(t, s, WithCaller(t.Context(), r), "meta", `{}`)
		got := result.Structured
		if got.Get("traceparent").String() != `"00-1"` || got.Get("claudecode/toolUseId").String() != `"t1"` {
			t.Errorf("the server got %s", got)
		}
		for _, part := range []string{"outer", "debug", "mcp.dev"} {
			if strings.Contains(got.String(), part) {
				t.Errorf("the server got %s", got)
			}
		}
		if got := result.Meta.String(); got != `{"ui":{"z":9007199254740993,"a":2}}` {
			t.Errorf("with the result came %s", got)
		}
		if said := s.Status()[0].Instructions; said != "Echo before you ask." || s.About()["raw"] != said {
			t.Errorf("instructions %q", said)
		}
	})
}
