// Package sharedruntime gives all tests of a package one Runtime, since making one
// takes a while. It is for tests only.
package sharedruntime

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// One is a Runtime that the tests of a package share.
type One struct {
	// Config is what it is made with, but for the Python, which is one of the machine's.
	Config thirdrail.Config

	once    sync.Once
	runtime *thirdrail.Runtime
	err     error
}

// Get returns the Runtime, and makes it for the first test that asks.
func (o *One) Get(t testing.TB) *thirdrail.Runtime {
	t.Helper()
	python := pythons.All(t)[0]
	o.once.Do(func() {
		o.Config.Python = python
		o.runtime, o.err = thirdrail.New(context.Background(), o.Config)
	})
	if o.err != nil {
		t.Fatal(o.err)
	}
	return o.runtime
}

// Main is for TestMain: it runs the tests, closes the Runtime, and fails if something
// is left of it.
func (o *One) Main(m *testing.M) {
	code := m.Run()
	if o.runtime != nil {
		if err := o.runtime.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "closing the runtime:", err)
			code = 1
		}
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "left behind:", err)
			code = 1
		}
	}
	os.Exit(code)
}
