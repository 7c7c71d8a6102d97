//go:build linux && !amd64 && !arm64

package child

// keeperProgram isn't built for this architecture.
var keeperProgram []byte
