package child

// Memory returns what a child has mapped from the nursery, in bytes, as it was when
// somebody looked last.
func (n *Nursery) Memory() int64 { return n.size.Load() }

// Forks returns how many children were asked for.
func (n *Nursery) Forks() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.next
}

// Grown looks at the nursery and returns by how many bytes the memory that is its own
// has grown since it was ready. It is 0 when that can't be told.
func (n *Nursery) Grown() int64 {
	own, ok := n.look()
	if !ok {
		return 0
	}
	return own - n.own
}

// look returns the memory that is the nursery's own, and keeps what it has mapped, see
// proc_pid_status(5).
func (n *Nursery) look() (own int64, ok bool) {
	status := procFile(n.program, "status")
	size := kibibytes(status, "\nVmSize:")
	if size == 0 {
		return 0, false
	}
	n.size.Store(size)
	return kibibytes(status, "\nRssAnon:") + kibibytes(status, "\nVmSwap:"), true
}

// Retire has the nursery fork no more: Fork returns ErrNurseryRetired. It ends with
// the last of its children, which would not live without it.
func (n *Nursery) Retire() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.retired = true
	n.endIfDone()
}

// endIfDone ends a retired nursery that has no children, by way of listen. The caller
// holds the lock.
func (n *Nursery) endIfDone() {
	if n.retired && len(n.children) == 0 {
		_ = n.control.CloseRead()
	}
}
