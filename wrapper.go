package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// findWrapper returns the wrapper with its command as an absolute path.
func (s Sandbox) findWrapper() ([]string, error) {
	if len(s.Wrapper) == 0 {
		return nil, nil
	}
	path, err := exec.LookPath(s.Wrapper[0])
	if err == nil {
		path, err = filepath.Abs(path) // children start in another folder
	}
	if err != nil {
		reason := err
		var lookup *exec.Error
		var file *fs.PathError
		if errors.As(err, &lookup) {
			reason = lookup.Err
		}
		if errors.As(reason, &file) {
			reason = file.Err
		}
		return nil, misuse("Config.Sandbox.Wrapper: the command %q can't be used: %w; install it, or give the path of an executable",
			s.Wrapper[0], reason)
	}
	wrapper := slices.Clone(s.Wrapper)
	wrapper[0] = path
	return wrapper, nil
}

// wrapperFault names the wrapper where it may be why no interpreter can be started.
func wrapperFault(wrapper []string, err error) error {
	if len(wrapper) == 0 {
		return err
	}
	return fmt.Errorf("Sandbox.Wrapper %q doesn't start the interpreter: %w; see what it says by hand, with `python3 -c pass` after it", wrapper, err)
}

// workspaceProgram fails where a child doesn't see its workspace.
const workspaceProgram = `import os
if not os.path.samefile(os.environ["HOME"], "."): raise OSError("it starts in " + os.getcwd())
open("tmp/seen", "w").close()`

// checkWrapper has a program use its workspace, which a wrapper may hide.
func (r *Runtime) checkWrapper(ctx context.Context) error {
	if len(r.wrapper) == 0 {
		return nil
	}
	one := &run{
		runtime:    r,
		request:    Request{Program: workspaceProgram},
		limits:     DefaultLimits().clampBy(r.host, r.interpreter.BareBytes),
		namespaces: &boundNamespaces{},
		began:      time.Now(),
	}
	if err := one.do(ctx).Err(); err != nil {
		text := strings.TrimSpace(err.Error())
		return fmt.Errorf("thirdrail: inside Sandbox.Wrapper a program can't use its workspace: %s; let the wrapper show %s, writable, at the same path and keep the working directory",
			text[strings.LastIndexByte(text, '\n')+1:], os.TempDir())
	}
	return nil
}
