package mcp

import "github.com/thirdrail-dev/thirdrail/mcp/upstream"

// Source gives the tools that programs may call. *upstream.Servers is one.
type Source interface {
	// Tools returns all tools as they are now, those of a server that is away as
	// they were last.
	Tools() []upstream.Tool
	// Changed returns a channel with a token after Tools or Status have changed. It
	// is closed when nothing changes any more.
	Changed() <-chan struct{}
	// Status returns the state of each server.
	Status() []upstream.Status
}
