//go:build !linux

package bench

import "context"

func (s *session) walls(context.Context) error {
	s.missing("the cost of walls: only Linux has them")
	return nil
}
