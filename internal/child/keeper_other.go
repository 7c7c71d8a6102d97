//go:build unix && !linux

package child

import (
	"context"
	"os"
)

// openKeeper returns nothing: without PID namespaces there is nothing for it to keep.
func (*Starter) openKeeper(context.Context) *os.File { return nil }

func keeperPath(int) string { return "" }

func keeperArguments(_ int, program []string) []string { return program }
