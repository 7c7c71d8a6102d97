//go:build race

package lossless

// The race detector makes a sync.Pool forget at random, so what is pooled
// allocates then.
const poolsForget = true
