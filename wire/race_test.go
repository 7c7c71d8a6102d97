//go:build race

package wire

// raceEnabled tells that sync.Pool forgets at random, so that allocations can't
// be counted.
const raceEnabled = true
