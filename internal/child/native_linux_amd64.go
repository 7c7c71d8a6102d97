package child

import _ "embed"

// keeperProgram is native/keeper.c, and forkerCode native/forker.c, built by
// native/build.sh.
//
//go:generate native/build.sh
var (
	//go:embed native/keeper_amd64
	keeperProgram []byte
	//go:embed native/forker_amd64
	forkerCode []byte
)
