package thirdrail

import "sync"

const (
	// lookEvery is after how many children the nursery's memory is looked at.
	lookEvery = 64
	// mostGrown is how much memory of its own a nursery may have beyond what it began
	// with, in bytes, when it is looked at. It isn't replaced for its age: what grows
	// is the only reason that is known.
	mostGrown = 32 << 20
)

// recycle starts another process when the memory of the one at work has grown. The
// children of the old one stay in it, and it ends with the last of them.
func (n *nursery) recycle() {
	old, grown := n.look()
	if grown <= mostGrown {
		return
	}
	fresh, err := n.begin(n.life)
	if err != nil {
		if n.life.Err() == nil {
			n.runtime.logger.Warn("thirdrail: the nursery's memory has grown, and another can't be started", "bytes", grown, "error", err)
		}
		return
	}
	if !n.replace(old, fresh) { // it has died meanwhile
		n.discard(fresh)
		return
	}
	n.runtime.logger.Info("thirdrail: the nursery's memory has grown, and another has taken over", "bytes", grown)
	n.refill()
}

// look returns the process at work and by how many bytes it has grown, or 0 when it
// isn't time to look.
func (n *nursery) look() (*nurseryProcess, int64) {
	n.mu.Lock()
	process, looked := n.process, n.looked
	n.mu.Unlock()
	if process == nil {
		return nil, 0
	}
	forks := process.Forks()
	if forks-looked < lookEvery {
		return nil, 0
	}
	n.mu.Lock()
	if n.process == process {
		n.looked = forks
	}
	n.mu.Unlock()
	return process, process.Grown()
}

// replace puts a process in the place of another, unless that has gone by itself.
func (n *nursery) replace(old, fresh *nurseryProcess) bool {
	n.starting.Lock()
	defer n.starting.Unlock()
	n.mu.Lock()
	if n.process != old {
		n.mu.Unlock()
		return false
	}
	n.process, n.looked = fresh, 0
	spares := n.spares
	n.spares = nil
	n.mu.Unlock()
	old.Retire()
	n.retired.Go(func() {
		<-old.Dead()
		n.discard(old)
	})
	var all sync.WaitGroup
	for _, s := range spares {
		all.Go(func() { _ = s.prepared.discard() })
	}
	all.Wait()
	return true
}
