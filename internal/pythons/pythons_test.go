package pythons

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryIsRealAndDistinct(t *testing.T) {
	paths := Every(t)
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

// TestAll sees that some tests together meet every Python, and each of them one of the
// two ends, which are met the most.
func TestAll(t *testing.T) {
	t.Setenv(Variable, "")
	every := Every(t)
	met := map[string]int{}
	const tests = 60
	for name := range tests {
		t.Run(string(rune('A'+name)), func(t *testing.T) {
			chosen := All(t)
			if want := min(len(every), 2); len(chosen) != want {
				t.Errorf("%d Pythons, want %d", len(chosen), want)
			}
			for _, python := range chosen {
				met[python]++
			}
		})
	}
	ends := 0
	for _, python := range every {
		switch {
		case met[python] == 0:
			t.Errorf("no test meets %s", python)
		case met[python] >= tests/2:
			ends++
		}
	}
	if ends < min(len(every), 2) {
		t.Errorf("%d Pythons are met by half of the tests, want the oldest and the newest", ends)
	}
	t.Setenv(Variable, "all")
	if got := All(t); len(got) != len(every) {
		t.Errorf("%d of %d Pythons with %s=all", len(got), len(every), Variable)
	}
}
