package child

import _ "embed"

//go:generate keeper/build.sh

// keeperProgram is keeper/keeper.c, built by keeper/build.sh.
//
//go:embed keeper/keeper_amd64
var keeperProgram []byte
