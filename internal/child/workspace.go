package child

import (
	"fmt"
	"os"
	"path/filepath"
)

// Workspace is the folder that a run has for itself: its working directory, its
// home, and the place of its temporary files.
type Workspace struct {
	// Path is the folder, readable by its owner only.
	Path string
}

// NewWorkspace makes an empty workspace in the folder.
func (f *Folder) NewWorkspace() (*Workspace, error) {
	path, err := os.MkdirTemp(f.path, "run-")
	if err != nil {
		return nil, fmt.Errorf("child: making the workspace: %w", err)
	}
	if err := os.Mkdir(filepath.Join(path, "tmp"), 0o700); err != nil {
		_ = os.Remove(path)
		return nil, fmt.Errorf("child: making the workspace: %w", err)
	}
	return &Workspace{path}, nil
}

// Remove removes the workspace with all that is in it, whatever its depth and the
// rights that the program left on it. Links are removed, never followed. Nothing
// of the run may live any more.
func (w *Workspace) Remove() error {
	if err := removeTree(w.Path); err != nil {
		return fmt.Errorf("child: removing the workspace: %w", err)
	}
	return nil
}

// Environment returns the variables that a child has, and nothing of the host's.
// The libraries behind numpy start a thread a core unless they are told not to,
// and malloc takes 64 MiB of address space for each of its arenas.
//
// A child sees the workspace at seen, which is its path unless it has another root.
func Environment(seen string) []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"HOME=" + seen,
		"TMPDIR=" + filepath.Join(seen, "tmp"),
		"LANG=C.UTF-8",
		"TZ=UTC",
		"MPLBACKEND=Agg",
		"MALLOC_ARENA_MAX=2",
		"OMP_NUM_THREADS=1",
		"OPENBLAS_NUM_THREADS=1",
		"MKL_NUM_THREADS=1",
		"NUMEXPR_NUM_THREADS=1",
		"VECLIB_MAXIMUM_THREADS=1",
	}
}
