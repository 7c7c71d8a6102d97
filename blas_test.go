//go:build linux

package thirdrail

import (
	"errors"
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
)

// A blas is one of Debian's builds of the library behind numpy's products.
type blas struct {
	name, debian, folder string
	// parallel is what the build says of itself: 1 has threads of its own, 2 OpenMP's.
	// The reference has no such function.
	parallel int
}

var (
	referenceBLAS = blas{"reference", "libblas3", "blas", -1}
	threadsBLAS   = blas{"OpenBLAS with threads", "libopenblas0-pthread", "openblas-pthread", 1}
	openMPBLAS    = blas{"OpenBLAS with OpenMP", "libopenblas0-openmp", "openblas-openmp", 2}
)

// chooseBLAS is the beginning of a module: it has the build loaded, whatever the
// machine has chosen for all programs, and then numpy.
const chooseBLAS = `
import ctypes, os
%s
for name in ("libopenblas.so.0", "libblas.so.3", "liblapack.so.3"):
    if os.path.exists(%[2]q + "/" + name):
        ctypes.CDLL(%[2]q + "/" + name, ctypes.RTLD_GLOBAL)
import numpy as np
def parallel():
    return getattr(ctypes.CDLL(np.core._multiarray_umath.__file__), "openblas_get_parallel", lambda: -1)()
def product(size):
    a = np.arange(float(size * size)).reshape(size, size) %% 7
    b = np.eye(size) * 3
    return bool(((a @ b) == a * 3).all() and np.dot(a[0], a[0]) == (a[0] * a[0]).sum())
`

// withBLAS returns an interpreter whose module product uses a build. It skips the test
// where that is missing.
func withBLAS(t *testing.T, build blas, first, last string) string {
	t.Helper()
	python := systemPython(t)
	if !importable(t, newSpawning(t, Config{Python: python}), needsNumpy) {
		t.Skipf("needs Debian's %s", needsNumpy)
	}
	found, _ := filepath.Glob("/usr/lib/*-linux-gnu/" + build.folder + "/libblas.so.3")
	if len(found) == 0 {
		t.Skipf("needs Debian's %s", build.debian)
	}
	text := fmt.Sprintf(chooseBLAS, first, filepath.Dir(found[0])) + last
	return withModules(t, python, map[string]string{"product": text})
}

// TestProductsInForks multiplies matrices in many forked runs, where the nursery has
// only imported numpy and where it has multiplied too.
func TestProductsInForks(t *testing.T) {
	for _, c := range []struct {
		name, last string
		blas       blas
		runs       int
	}{
		{"imported", "", threadsBLAS, 8},
		{"imported", "", openMPBLAS, 8},
		{"imported", "", referenceBLAS, 4},
		{"multiplied", "assert product(200) and product(600)", threadsBLAS, 100},
		{"multiplied", "assert product(200) and product(600)", openMPBLAS, 100},
	} {
		t.Run(c.blas.name+", "+c.name, func(t *testing.T) {
			python := withBLAS(t, c.blas, "", c.last)
			rt := newForking(t, Config{Python: python, Preload: []string{"product"}, MaxConcurrent: 4})
			var all sync.WaitGroup
			for i := range c.runs {
				program := "from product import *\nreturn [parallel(), product(200)]"
				want := fmt.Sprintf("[%d,true]", c.blas.parallel)
				if i%4 == 0 { // the large ones take longer than all else
					program, want = "from product import *\nreturn product(600)", "true"
				}
				all.Go(func() { programCase{Value: want}.compare(t, run1(t, rt, program, Limits{})) })
			}
			all.Wait()
		})
	}
}

// TestProductsWithThreads has a preload ask for threads, and multiply. Its children
// would wait for threads that they don't have.
func TestProductsWithThreads(t *testing.T) {
	if goruntime.NumCPU() < 2 {
		t.Skip("needs two processors, or the libraries start no threads")
	}
	const more = `os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "2"`
	for _, build := range []blas{threadsBLAS, openMPBLAS} {
		t.Run(build.name, func(t *testing.T) {
			python := withBLAS(t, build, more, "product(600)")
			_, err := newOn(t.Context(), Config{Python: python, Preload: []string{"product"}, Start: StartFork}, DefaultLimits(), findPython(t, python))
			if !errors.Is(err, ErrMisuse) || !strings.Contains(err.Error(), "preload: product left a thread running, 1 of them") {
				t.Errorf("got %v", err)
			}
		})
	}
}
