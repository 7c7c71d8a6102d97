package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/thirdrail-dev/thirdrail"
)

// libraries are what is preloaded, and programs that import it and use a little of it.
var libraries = []struct{ name, modules, program string }{
	{"numpy", "numpy", "import numpy as np\nreturn int(np.arange(10).sum())"},
	{
		"numpy, pandas and matplotlib", "numpy,pandas,matplotlib.pyplot",
		"import numpy as np, pandas as pd, matplotlib.pyplot as plt\nreturn int(pd.DataFrame({'a': np.arange(10)}).a.sum())",
	},
}

// preload compares runs that import a library with those that do nothing, and what a
// library that is preloaded costs a run that does nothing.
func (s *session) preload(ctx context.Context) error {
	if !slices.Contains(s.methods, thirdrail.StartFork) {
		s.missing("preload: children can't be forked here")
		return nil
	}
	plain := kind{start: thirdrail.StartFork}
	for _, library := range libraries {
		loaded := kind{start: thirdrail.StartFork, preload: library.modules}
		if _, err := s.runtime(ctx, loaded); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			s.missing(fmt.Sprintf("preload of %s: %v", library.name, err))
			continue
		}
		nothing := "a run that does nothing"
		beside := nothing + ", with " + library.name + " preloaded"
		used := "a run that uses " + library.name + ", preloaded"
		fresh := "the same, not preloaded"
		figures, err := s.alternate(ctx, s.options.Rounds, []variant{
			s.trivialRun(nothing, plain), s.trivialRun(beside, loaded), s.wholeRun(used, loaded, library.program), s.wholeRun(fresh, plain, library.program),
		})
		if err != nil {
			return err
		}
		s.add(used, figures[used], nothing, figures[nothing], milliseconds)
		s.add(used, figures[used], fresh, figures[fresh], milliseconds)
		s.add(beside, figures[beside], nothing, figures[nothing], milliseconds)
	}
	return nil
}
