package child

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// nativeBuilds are the architectures, each with the compiler that makes its programs.
var nativeBuilds = []struct{ architecture, compiler string }{
	{"amd64", "x86_64-linux-gnu-gcc"},
	{"arm64", "aarch64-linux-gnu-gcc"},
}

// TestNativeComesFromItsSource builds keeper and forker again and compares the bytes.
func TestNativeComesFromItsSource(t *testing.T) {
	for _, build := range nativeBuilds {
		t.Run(build.architecture, func(t *testing.T) {
			version, err := exec.Command(build.compiler, "-dumpfullversion").Output()
			if err != nil {
				t.Skipf("needs %s to build keeper and forker: %v", build.compiler, err)
			}
			if v := strings.TrimSpace(string(version)); v != "12.2.0" {
				t.Skipf("needs %s 12.2.0, which gives the committed bytes; this is %s", build.compiler, v)
			}
			folder := t.TempDir()
			command := exec.Command("native/build.sh", folder)
			command.Env = append(os.Environ(), "ARCHITECTURES="+build.architecture)
			if output, err := command.CombinedOutput(); err != nil {
				t.Fatalf("build.sh: %v\n%s", err, output)
			}
			for _, name := range []string{"keeper_" + build.architecture, "forker_" + build.architecture} {
				got, err := os.ReadFile(filepath.Join(folder, name))
				if err != nil {
					t.Fatal(err)
				}
				want, err := os.ReadFile(filepath.Join("native", name))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("native/%s is not what native/build.sh makes: run it and commit what it makes", name)
				}
			}
		})
	}
}

// keeperCases are programs for /bin/sh, and the wait status that is reported.
var keeperCases = []struct {
	name, script string
	status       int64
}{
	{"success", "exit 0", 0},
	{"a status", "exit 7", 7 << 8},
	{"a high status", "exit 137", 137 << 8},
	{"a signal", "kill -9 $$", 9},
	{"no descriptor of the keeper's", "[ ! -e /proc/self/fd/4 ]", 0},
	{"descriptor 3 stays", "[ -e /proc/self/fd/3 ]", 0},
	{"orphans don't hold it up", "sleep 60 & exit 3", 3 << 8},
	{"a child that ends first", "(exit 5); exit 6", 6 << 8},
}

// TestKeeperReports runs the keeper of each architecture, in no namespace: that
// the kernel ends the rest is tested with whole children.
func TestKeeperReports(t *testing.T) {
	for _, build := range nativeBuilds {
		t.Run(build.architecture, func(t *testing.T) {
			command := append(emulator(t, build.architecture), filepath.Join("native", "keeper_"+build.architecture))
			for _, c := range keeperCases {
				t.Run(c.name, func(t *testing.T) {
					report := runKeeper(t, command, "/bin/sh", "-c", c.script)
					if report.Status != c.status {
						t.Errorf("status %#x, want %#x", report.Status, c.status)
					}
					if report.PeakMemory < 100<<10 || report.PeakMemory > 1<<30 {
						t.Errorf("a shell used %d bytes", report.PeakMemory)
					}
					if report.Microseconds < 0 || report.Microseconds > 60e6 {
						t.Errorf("a shell took %d µs", report.Microseconds)
					}
				})
			}
		})
	}
}

type keeperReport struct{ Status, Microseconds, PeakMemory int64 }

func runKeeper(t *testing.T, keeper []string, program ...string) keeperReport {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	command := exec.Command(keeper[0], append(append(keeper[1:len(keeper):len(keeper)], "4"), program...)...)
	command.ExtraFiles = []*os.File{null, write} // 3 and 4
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	var report keeperReport
	if err := binary.Read(read, binary.NativeEndian, &report); err != nil {
		t.Errorf("no report: %v", err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the keeper itself: %v", err)
	}
	return report
}

func TestKeeperNeedsAProgram(t *testing.T) {
	err := exec.Command(filepath.Join("native", "keeper_"+runtime.GOARCH), "4").Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 64 {
		t.Errorf("without a program: %v, want status 64", err)
	}
	if err := exec.Command(filepath.Join("native", "keeper_"+runtime.GOARCH), "4", "/none").Run(); err != nil {
		t.Errorf("with a missing program: %v, want its status reported, not the keeper's", err)
	}
}

// TestKeeperIsUsed fails where a namespace falls back to a slower keeper, which
// would otherwise go unseen.
func TestKeeperIsUsed(t *testing.T) {
	eachIsolation(t, func(t *testing.T, s *Starter) {
		if used := s.keeper != nil; used != s.Isolation().ownNamespace() {
			t.Errorf("the keeper of a %v is keeper.c: %v", s.Isolation(), used)
		}
	})
}
