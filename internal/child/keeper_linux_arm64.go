package child

import _ "embed"

// keeperProgram is keeper/keeper.c, built by keeper/build.sh.
//
//go:embed keeper/keeper_arm64
var keeperProgram []byte
