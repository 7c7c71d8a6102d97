//go:build !linux && !darwin

package thirdrail

import (
	"math"
	"time"
)

const supported = false

// hostLimits are unknown here, and nothing is ever started.
type hostLimits struct {
	cpu    time.Duration
	memory int64
	files  int64
}

func readHostLimits() hostLimits { return hostLimits{} }

func (hostLimits) runsByFiles() int64 { return math.MaxInt64 }

func (hostLimits) hint() string { return "" }
