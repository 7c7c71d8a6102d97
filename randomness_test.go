//go:build linux

package thirdrail

import (
	"testing"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// plainGenerators is a module that makes generators, seeds them and takes from them.
const plainGenerators = `
import _random, multiprocessing, random, secrets, tempfile, uuid

class Own(random.Random):
    "A generator with a seed method and state of its own."
    def seed(self, a=None):
        self.base = secrets.randbits(64) if a is None else a
    def random(self):
        return (self.base % 999983) / 999983

class Holder:
    pass

holder = Holder()
holder.hidden = random.Random(1)
listed = [[random.Random(2)]]
gaussian = random.Random(3)
gaussian.gauss(0, 1)  # which keeps another one for later
bare = _random.Random(4)
own = Own(5)
system = random.SystemRandom()
bound = random.Random(6).random
random.seed(7)
random.gauss(0, 1)
secrets.token_hex(), uuid.uuid4(), uuid.uuid1(), tempfile.mktemp()
try:
    import ssl
except ImportError:
    take = secrets.token_hex
else:
    ssl.RAND_bytes(8)
    take = lambda: ssl.RAND_bytes(8).hex()
`

const plainDraws = `
import os, random, secrets, tempfile, uuid, generators as g, multiprocessing
return [random.gauss(0, 1), random.random(), g.gaussian.gauss(0, 1), g.gaussian.random(), g.holder.hidden.random(), g.listed[0][0].random(),
    g.bare.random(), g.own.random(), g.system.random(), g.bound(), random.Random().random(), secrets.token_hex(), os.urandom(8).hex(),
    str(uuid.uuid4()), str(uuid.uuid1()), tempfile.mktemp(), g.take(), bytes(multiprocessing.current_process().authkey).hex()]`

// numpyGenerators is the same with numpy.
const numpyGenerators = `
import numpy as np
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, Generator, Philox, RandomState, SeedSequence, default_rng

np.random.seed(1)
np.random.standard_normal()
legacy = RandomState(2)
other = RandomState(PCG64(3))
rng = default_rng(4)
bits = [kind(5) for kind in (MT19937, PCG64, PCG64DXSM, SFC64, Philox)]
sequence = SeedSequence(6)
class Holder:
    inner = Generator(PCG64(7))
bound = default_rng(8).random
spawned = [Generator(PCG64(s)) for s in SeedSequence(9).spawn(2)]
`

const numpyDraws = `
import numpy as np, generators as g
shared = np.random.standard_normal(), np.random.rand()
new = np.random.RandomState().rand(), np.random.default_rng().random()
seeds = getattr(g.rng.bit_generator, "seed_seq", None) or g.rng.bit_generator._seed_seq
return [*shared, *new, g.legacy.rand(), g.legacy.normal(), g.other.rand(), g.rng.random(), *[np.random.Generator(b).random() for b in g.bits],
    int(g.sequence.generate_state(1, np.uint64)[0]), int(g.sequence.spawn(1)[0].generate_state(1, np.uint64)[0]),
    int(seeds.spawn(1)[0].generate_state(1, np.uint64)[0]), g.Holder.inner.random(), g.bound(), *[s.random() for s in g.spawned]]`

// TestForksDiffer compares what runs get at random where nothing was preloaded.
func TestForksDiffer(t *testing.T) {
	rt := newForking(t, Config{})
	compareDraws(t, rt, `
import random, uuid, tempfile, secrets, os, multiprocessing
return [random.random(), random.gauss(0, 1), random.SystemRandom().random(), str(uuid.uuid4()), str(uuid.uuid1()), tempfile.mktemp(), secrets.token_hex(),
    os.urandom(8).hex(), bytes(multiprocessing.current_process().authkey).hex()]`)
}

// TestPreloadedGeneratorsDiffer has a preload make generators and seed them.
func TestPreloadedGeneratorsDiffer(t *testing.T) {
	pythons.Each(t, func(t *testing.T, python string) {
		rt := newForking(t, Config{Python: withModules(t, python, map[string]string{"generators": plainGenerators}), Preload: []string{"generators"}})
		compareDraws(t, rt, plainDraws)
	})
}

// TestNumpyGeneratorsDiffer does so with those of numpy.
func TestNumpyGeneratorsDiffer(t *testing.T) {
	python := systemPython(t)
	if !importable(t, newSpawning(t, Config{Python: python}), needsNumpy) {
		t.Skipf("needs Debian's %s", needsNumpy)
	}
	rt := newForking(t, Config{Python: withModules(t, python, map[string]string{"generators": numpyGenerators}), Preload: []string{"generators"}})
	compareDraws(t, rt, numpyDraws)
}

// compareDraws makes some runs, each of which returns a list. Nothing comes twice.
func compareDraws(t *testing.T, rt *Runtime, program string) {
	t.Helper()
	seen := map[string]int{}
	for range 4 {
		for i, value := range values(t, rt, program) {
			if before, ok := seen[value.String()]; ok {
				t.Errorf("element %d is %s, as element %d was", i, value.String(), before)
			}
			seen[value.String()] = i
		}
	}
}
