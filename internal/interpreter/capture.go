package interpreter

// A head keeps the first bytes written to it and drops the rest.
type head struct {
	kept  []byte
	limit int
	full  func() // called when something was dropped
}

// Write never fails, so that the process is judged by what it did and not by a
// broken pipe.
func (h *head) Write(p []byte) (int, error) {
	room := min(len(p), h.limit-len(h.kept))
	h.kept = append(h.kept, p[:room]...)
	if room < len(p) {
		h.full()
	}
	return len(p), nil
}

// tailBytes is what a tail keeps at least: enough for the last line of a
// traceback.
const tailBytes = 4 << 10

// A tail keeps the last bytes written to it.
type tail struct {
	kept []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	written := len(p)
	if len(p) > tailBytes {
		p = p[len(p)-tailBytes:]
	}
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*tailBytes {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-tailBytes:]...)
	}
	return written, nil
}
