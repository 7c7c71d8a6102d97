package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTP says how a Server is reached over HTTP. The zero value lets in who reaches
// the address, but no web page of another origin.
type HTTP struct {
	// Token is what clients must send as "Authorization: Bearer TOKEN". Empty means
	// that none is needed.
	Token string
	// Origins are those of web pages that may call, such as http://localhost:6274.
	// Pages of this machine always may when they reach the server at a loopback
	// address.
	Origins []string
}

const (
	// sessionTimeout ends the session of a legacy client that says nothing.
	sessionTimeout = 8 * time.Hour
	// maxSessions bounds those sessions.
	maxSessions = 1000
)

// Handler serves clients with the streamable HTTP transport, any number at once.
func (s *Server) Handler(options HTTP) http.Handler {
	server := func(*http.Request) *sdk.Server { return s.sdk }
	// The SDK's handler speaks either the protocols that have sessions or the newest,
	// which has none.
	sessions := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{
		SessionTimeout: sessionTimeout, MaxRequestBodyBytes: maxMessageBytes,
	})
	stateless := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxMessageBytes,
	})
	token := sha256.Sum256([]byte(options.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !options.allows(req) {
			http.Error(w, "a web page of this Origin may not call; the person who runs thirdrail mcp can allow it with --origin", http.StatusForbidden)
			return
		}
		if options.Token != "" && !bears(req, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send the token that thirdrail mcp was started with, as Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		switch {
		case req.Header.Get("Mcp-Protocol-Version") >= resultsAsk:
			stateless.ServeHTTP(w, req)
		case req.Method == http.MethodPost && req.Header.Get("Mcp-Session-Id") == "" && s.isFull():
			http.Error(w, "too many sessions are open; end some, or start thirdrail mcp anew", http.StatusServiceUnavailable)
		default:
			sessions.ServeHTTP(w, req)
		}
	})
}

// isFull tells whether as many sessions as may be are open.
func (s *Server) isFull() bool {
	n := 0
	for range s.sdk.Sessions() {
		n++
	}
	return n >= maxSessions
}

// bears tells whether a request has the token. The time that it takes tells nothing
// of it.
func bears(req *http.Request, token [sha256.Size]byte) bool {
	scheme, given, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], token[:]) == 1
}

// allows tells whether a request comes from no web page, or from one that may call.
// A browser lets any page send requests to this machine, and says whose it is.
func (h HTTP) allows(req *http.Request) bool {
	for _, origin := range req.Header.Values("Origin") {
		if slices.Contains(h.Origins, origin) {
			continue
		}
		page, err := url.Parse(origin)
		local, _ := req.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if err != nil || local == nil || !IsLoopback(local.String()) || !IsLoopback(page.Host) {
			return false
		}
	}
	return true
}

// IsLoopback tells whether an address, with a port or without, is of this machine
// alone.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
