//go:build !linux && !darwin

package thirdrail

const supported = false

func (r *Runtime) checkHost() error { return ErrUnsupported }
