//go:build !race

package lossless

const poolsForget = false
