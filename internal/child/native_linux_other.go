//go:build linux && !amd64 && !arm64

package child

// keeperProgram and forkerCode aren't built for this architecture.
var keeperProgram, forkerCode []byte
