package thirdrail

import (
	"errors"
	"fmt"
)

// ErrMisuse is in every error that says the interface was used wrongly: by a
// Config, a Request or a call at the wrong time. No program was started then.
var ErrMisuse = errors.New("thirdrail: misuse")

// ErrClosed is the misuse of running after Close.
var ErrClosed = fmt.Errorf("%w: the runtime is closed", ErrMisuse)

// ErrUnsupported is what New returns on an operating system that it can't work on.
var ErrUnsupported = errors.New("thirdrail: this operating system is not supported; use Linux, or macOS without confinement")

func misuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMisuse, fmt.Errorf(format, args...))
}
