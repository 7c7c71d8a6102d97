package confine

import (
	"errors"
	"fmt"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// ErrUnproven is the kind of Check's errors.
var ErrUnproven = errors.New("the confinement is not proven")

// Check compares what a child answered in its boot-ack with what the policy made
// it try. Each proof must be there, and must name how the kernel refused. A nil
// policy needs no proof.
func (p *Policy) Check(answer lossless.Value) error {
	if p == nil {
		return nil
	}
	for _, proof := range p.Proofs {
		got, err := answer.Get(proof.Name).Text()
		switch {
		case err != nil:
			return fmt.Errorf("confine: %w: the child didn't try %s", ErrUnproven, proof.Name)
		case !refusals[got]:
			return fmt.Errorf("confine: %w: %s is open: the child tried it and got %q", ErrUnproven, proof.Name, got)
		}
	}
	return nil
}

// refusals are the ways to be refused. ENOENT is one: what can't be seen can't be
// reached. "held" is the answer where the child looks at a state.
var refusals = map[string]bool{
	"held": true, "EPERM": true, "EACCES": true, "ENOENT": true, "ENOSYS": true, "EROFS": true, "ESRCH": true,
	"EMFILE": true, "EBADF": true, "EFBIG": true, "EAFNOSUPPORT": true,
}
