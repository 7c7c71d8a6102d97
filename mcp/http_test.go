package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve returns the URL of a server over HTTP.
func serve(t *testing.T, s *Server, options HTTP) string {
	t.Helper()
	web := httptest.NewServer(s.Handler(options))
	t.Cleanup(func() {
		_ = s.Close()
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}

// dial returns a client over HTTP.
func dial(t *testing.T, url, protocol, token string, answer user) *peer {
	t.Helper()
	client := &http.Client{Transport: &bearer{token: token}}
	t.Cleanup(client.CloseIdleConnections)
	return connectOver(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client}, protocol, answer, nil)
}

// bearer sends a token with each request.
type bearer struct{ token string }

func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.token != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	return http.DefaultTransport.RoundTrip(req)
}

func (b *bearer) CloseIdleConnections() {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestHTTP does over HTTP what clients do, in both protocols.
func TestHTTP(t *testing.T) {
	var seen recorder
	h := newHang()
	s := newServer(t, newSource(
		destructive(tool(t, "db", "write", seen.handle)), tool(t, "db", "hang", h.handle), tool(t, "db", "echo", echo),
	), Options{})
	url := serve(t, s, HTTP{Token: "secret"})
	for _, protocol := range protocols {
		p := dial(t, url, protocol, "secret", accept(1))
		if progress, _, text := p.heard("print('a')\nreturn 1", "token", ""); len(progress) != 1 || text != "a\n[value] 1" {
			t.Errorf("%s: progress %q, text %q", protocol, progress, text)
		}
		if got := textOf(t, p.run("return [await db.write(n=1), await db.write(n=2)]")); got != `[{"n":1},{"n":2}]` || len(p.asked) != 2 {
			t.Errorf("%s: text %s, %d questions", protocol, got, len(p.asked))
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := p.call(ctx, map[string]any{"code": "await db.hang()"}, nil)
			ended <- err
		}()
		within(t, h.began, "the call")
		cancel()
		within(t, h.ended, "the end of the call")
		if err := within(t, ended, "the end of the request"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", protocol, err)
		}
	}
	if len(seen.seen()) != 4 {
		t.Errorf("the tool saw %q", seen.seen())
	}
}

// TestManyClientsOverHTTP: fifty at once.
func TestManyClientsOverHTTP(t *testing.T) {
	url := serve(t, newServer(t, newSource(tool(t, "db", "echo", echo)), Options{}), HTTP{})
	ended := make(chan error, 50)
	for i := range 50 {
		p := dial(t, url, protocols[i%2], "", nil)
		go func() {
			result, err := p.call(t.Context(), map[string]any{"code": fmt.Sprintf("return (await db.echo(n=%d))['n']", i)}, nil)
			if err == nil {
				if text := result.Content[0].(*sdk.TextContent).Text; text != fmt.Sprint(i) {
					err = fmt.Errorf("client %d got %q", i, text)
				}
			}
			ended <- err
		}()
	}
	for range 50 {
		if err := within(t, ended, "a client's result"); err != nil {
			t.Error(err)
		}
	}
}

// httpCases are requests that are let in or not, before any MCP.
var httpCases = []struct {
	name, token         string
	origin, host, bears string
	status              int
}{
	{name: "nobody's page", status: 200},
	{name: "a page of this machine", origin: "http://localhost:6274", status: 200},
	{name: "a page of this machine by address", origin: "http://127.0.0.1:1", status: 200},
	{name: "a page of another", origin: "https://evil.example", status: 403},
	{name: "a page that begins alike", origin: "http://localhost.evil.example", status: 403},
	{name: "a page of a file", origin: "null", status: 403},
	{name: "a page that is allowed", origin: "https://good.example", status: 200},
	{name: "a name that was bound again", host: "evil.example", status: 403},
	{name: "the token", token: "secret", bears: "Bearer secret", status: 200},
	{name: "the token, small letters", token: "secret", bears: "bearer secret", status: 200},
	{name: "no token", token: "secret", status: 401},
	{name: "another token", token: "secret", bears: "Bearer secret2", status: 401},
	{name: "a part of the token", token: "secret", bears: "Bearer secre", status: 401},
	{name: "another scheme", token: "secret", bears: "Basic secret", status: 401},
	{name: "a wrong page with the token", token: "secret", bears: "Bearer secret", origin: "https://evil.example", status: 403},
}

func TestWhoIsLetIn(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	s := newServer(t, newSource(), Options{})
	urls := map[string]string{}
	for _, token := range []string{"", "secret"} {
		urls[token] = serve(t, s, HTTP{Token: token, Origins: []string{"https://good.example"}})
	}
	for _, c := range httpCases {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, urls[c.token], strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			for name, value := range map[string]string{"Origin": c.origin, "Authorization": c.bears} {
				if value != "" {
					req.Header.Set(name, value)
				}
			}
			req.Host = c.host
			response, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, _ := io.ReadAll(response.Body)
			if response.StatusCode != c.status {
				t.Errorf("status %d, want %d: %s", response.StatusCode, c.status, body)
			}
			if c.status == 401 && response.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("headers %v", response.Header)
			}
		})
	}
}

func TestIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "localhost:80": true, "localhost": true, "::1": true, "127.9.9.9": true,
		"": false, ":80": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "localhost.example:80": false, "example": false,
	} {
		if got := IsLoopback(address); got != want {
			t.Errorf("%q: %t", address, got)
		}
	}
}
