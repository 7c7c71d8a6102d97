package pythons

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestAllAreRealAndDistinct(t *testing.T) {
	paths := All(t)
	seen := map[string]string{}
	for _, path := range paths {
		if !filepath.IsAbs(path) || strings.Contains(path, "shims") {
			t.Errorf("%s is not the path of a real interpreter", path)
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			t.Fatal(err)
		}
		if other := seen[real]; other != "" {
			t.Errorf("%s and %s are the same interpreter", path, other)
		}
		seen[real] = path
		python, _, err := ask(path)
		if err != nil {
			t.Fatal(err)
		}
		if !supported(python.version) {
			t.Errorf("%s is %s, older than 3.9", path, python.version)
		}
	}
}

func TestSupported(t *testing.T) {
	for version, want := range map[string]bool{
		"3.9.0": true, "3.9.18": true, "3.13.0": true, "3.100.1": true,
		"3.8.18": false, "3.6.15": false, "2.7.18": false, "": false, "3": false, "3.x.1": false,
	} {
		if got := supported(version); got != want {
			t.Errorf("supported(%q) = %t, want %t", version, got, want)
		}
	}
}
