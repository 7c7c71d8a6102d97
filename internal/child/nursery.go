package child

import "errors"

// NurseryOptions say what a nursery is made of.
type NurseryOptions struct {
	// Directory is an empty folder of its own, Environment what it and its children
	// have, but for what Order says.
	Directory   string
	Environment []string
	// Confinement and Run are what the nursery and its children apply, as package
	// confine composes it. Nil leaves them unconfined.
	Confinement, Run any
	// Preload are modules to import.
	Preload []string
}

// Pages are ranges of a child's memory: where each begins, and its size, as
// process_madvise(2) takes them.
type Pages []byte

// ErrPreload says that a module can't be preloaded.
var ErrPreload = errors.New("child: preload")

// ErrNurseryDead says that a nursery has ended.
var ErrNurseryDead = errors.New("the nursery has ended")

// ErrNurseryRetired says that a nursery forks no more, see Retire.
var ErrNurseryRetired = errors.New("another nursery has taken over")
