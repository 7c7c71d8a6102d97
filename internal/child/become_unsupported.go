//go:build !unix

package child

import (
	"errors"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
)

// ErrNoRail says that nobody gave this process the protocol's descriptor.
var ErrNoRail = errors.New("this operating system has no child to become")

// InheritRail returns ErrNoRail.
func InheritRail() error { return ErrNoRail }

// Become returns an error.
func Become(*interpreter.Interpreter) error { return errUnsupported }
