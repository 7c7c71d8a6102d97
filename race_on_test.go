//go:build race

package thirdrail

const raceEnabled = true
