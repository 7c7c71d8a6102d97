//go:build unix

package child

import (
	"errors"
	"os"
)

// ends are the two ends of a pipe or socket pair.
type ends struct{ host, child *os.File }

// descriptors are what connects a host with one child.
type descriptors struct {
	rail, stdout, stderr, status ends
}

// open makes all of them, the rail as a socket of a kind, and status only where there
// is a keeper. What it made before an error is for the caller to close.
func (d *descriptors) open(kind int, keeper bool) error {
	var err error
	if d.rail, err = socketPair(kind); err != nil {
		return err
	}
	pipes := []*ends{&d.stdout, &d.stderr}
	if keeper {
		pipes = append(pipes, &d.status)
	}
	for _, pipe := range pipes {
		if pipe.host, pipe.child, err = os.Pipe(); err != nil {
			return err
		}
	}
	return nil
}

func (d *descriptors) all() []ends { return []ends{d.rail, d.stdout, d.stderr, d.status} }

func (d *descriptors) closeHostEnds() error {
	var errs []error
	for _, e := range d.all() {
		if e.host != nil {
			errs = append(errs, e.host.Close())
		}
	}
	return errors.Join(errs...)
}

func (d *descriptors) closeChildEnds() {
	for _, e := range d.all() {
		if e.child != nil {
			_ = e.child.Close()
		}
	}
}
