//go:build linux

package thirdrail

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPathsOpenedTwice opens one file and one folder for reading and for writing,
// and a folder inside: the widest right holds, in whatever order they are mounted.
func TestPathsOpenedTwice(t *testing.T) {
	folder := t.TempDir()
	file, inner := filepath.Join(folder, "file"), filepath.Join(folder, "inner")
	if err := os.WriteFile(file, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		read, write []string
	}{
		{"a file", []string{file}, []string{file}},
		{"a folder", []string{folder}, []string{folder}},
		{"a file in a folder that is read", []string{folder}, []string{file}},
		{"a file in a folder that is written", []string{file}, []string{folder}},
		{"a folder in a folder that is read", []string{folder}, []string{inner, file}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := newRuntime(t, Config{Sandbox: Sandbox{AllowRead: c.read, AllowWrite: c.write}})
			program := "with open('" + file + "', 'w') as f: f.write('new')\nreturn open('" + file + "').read()"
			result := run1(t, rt, program, Limits{})
			if result.Failure != nil || result.Value.String() != `"new"` {
				t.Errorf("got %v, %v", result.Value, result.Err())
			}
		})
	}
}
