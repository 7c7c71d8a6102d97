package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is who sent a request, and what it can do.
type client struct {
	// who tells clients apart, as far as can be told: by their connection, or over
	// HTTP by their credentials, and by what they call themselves.
	who string
	// byResult tells that the client's user is asked by a result of the call, and
	// not by a request in the middle of it.
	byResult     bool
	capabilities *sdk.ElicitationCapabilities
}

// resultsAsk is the first protocol version where questions are results.
const resultsAsk = "2026-07-28"

func clientOf(req *sdk.CallToolRequest) client {
	c := client{who: whoOf(req)}
	// What a legacy client wrote in its handshake is not what was agreed on, so only
	// the request itself counts.
	version, _ := req.Params.GetMeta()[sdk.MetaKeyProtocolVersion].(string)
	c.byResult = version >= resultsAsk
	if capabilities := req.ClientCapabilities(); capabilities != nil {
		c.capabilities = capabilities.Elicitation
	}
	return c
}

func whoOf(req *sdk.CallToolRequest) string {
	name := ""
	if info := req.ClientInfo(); info != nil {
		name = fmt.Sprintf("%q %q", info.Name, info.Version)
	}
	if req.Extra != nil && req.Extra.Header != nil {
		sum := sha256.Sum256([]byte(req.Extra.Header.Get("Authorization")))
		return "http " + hex.EncodeToString(sum[:]) + " " + name
	}
	return fmt.Sprintf("pipe %p %s", req.Session, name)
}

// cantAsk returns why a question of a mode can't be asked, or "".
func (c client) cantAsk(mode string) string {
	switch {
	case c.capabilities == nil:
		return "the client can't ask its user (it has no elicitation)"
	case mode == "url" && c.capabilities.URL == nil:
		return "the client can't show its user a web page (it has no elicitation of mode url)"
	case mode != "url" && c.capabilities.Form == nil && c.capabilities.URL != nil:
		return "the client can't show its user a form (it has no elicitation of mode form)"
	}
	return ""
}
