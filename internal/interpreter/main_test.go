package interpreter

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// script writes an executable shell script and returns its path.
func script(t *testing.T, name, body string) string {
	t.Helper()
	return write(t, filepath.Join(t.TempDir(), name), "#!/bin/sh\n"+body+"\n", 0o755)
}

// write writes an executable file. A process that another test forks in the
// middle would inherit the open file, and the kernel doesn't start a file that
// someone has open for writing.
func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// answering returns the body of a script that answers the probe with pairs of
// name and value, and with no code.
func answering(pairs ...string) string {
	report := strings.Join(pairs, "\x00") + "\x00"
	var body strings.Builder
	body.WriteString("for nonce; do :; done\n") // the last argument
	body.WriteString(`printf '\000%s %d 0\n' "$nonce" `)
	body.WriteString(strconv.Itoa(len(report)))
	body.WriteString("\nprintf '" + strings.ReplaceAll(report, "\x00", `\000`) + "'\n")
	return body.String()
}

// answeringHealthy returns the body of a script that claims to be a CPython 3.12
// whose executable is the one given, with some fields set otherwise.
func answeringHealthy(executable string, changes ...string) string {
	pairs := []string{
		"implementation", "cpython", "version", "3.12.1", "executable", executable,
		"prefix", "/usr", "base_prefix", "/usr", "exec_prefix", "/usr",
		"bits", "64", "bare_bytes", "1", "ctypes", "yes",
	}
	for i := 0; i < len(changes); i += 2 {
		for j := 0; j < len(pairs); j += 2 {
			if pairs[j] == changes[i] {
				pairs[j+1] = changes[i+1]
			}
		}
	}
	return answering(pairs...)
}
