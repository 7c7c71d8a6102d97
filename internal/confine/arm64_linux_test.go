package confine

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestOnArm64 builds this package's tests for arm64 and runs them in an emulator:
// the numbers of system calls, and which of them exist, are another machine's.
func TestOnArm64(t *testing.T) {
	if runtime.GOARCH == "arm64" {
		t.Skip("needs another architecture than arm64: this one runs the tests by itself")
	}
	emulator, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		t.Skipf("needs qemu-user to run a program of arm64: %v", err)
	}
	binary := filepath.Join(t.TempDir(), "confine.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Env = append(build.Environ(), "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building for arm64: %v\n%s", err, output)
	}
	output, err := exec.Command(emulator, binary, "-test.v", "-test.run", "^(TestFilter|TestRules|TestLeaves|TestTwoRules|TestChild|Fuzz)", "-rapid.checks=20").CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if text := string(output); err != nil || !strings.Contains(text, "--- PASS: TestFilter ") ||
		!strings.Contains(text, "--- PASS: TestFilterIsItsRules ") || !strings.Contains(text, "--- PASS: TestChildCallsByTheRightNumbers ") {
		t.Errorf("on arm64: %v\n%s", err, text)
	}
}
