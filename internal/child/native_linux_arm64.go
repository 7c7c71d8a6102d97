package child

import _ "embed"

// keeperProgram is native/keeper.c, and forkerCode native/forker.c, built by
// native/build.sh.
var (
	//go:embed native/keeper_arm64
	keeperProgram []byte
	//go:embed native/forker_arm64
	forkerCode []byte
)
