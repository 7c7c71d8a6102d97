package thirdrail

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// misuses are configurations that New refuses, and what it says.
var misuses = []struct {
	name   string
	config Config
	says   string
}{
	{"negative wall", Config{Limits: Limits{Wall: -5 * time.Second}}, "Limits.Wall"},
	{"negative cpu", Config{Limits: Limits{CPU: -1}}, "Limits.CPU"},
	{"negative memory", Config{Limits: Limits{Memory: -1}}, "Limits.Memory"},
	{"negative calls", Config{Limits: Limits{CallsInFlight: -1}}, "Limits.CallsInFlight"},
	{"memory beyond exact integers", Config{Limits: Limits{Memory: 1<<53 + 1}}, "2^53-1"},
	{"logs smaller than their marker", Config{Limits: Limits{LogBytes: 40}}, "Limits.LogBytes"},
	{"value over the frame", Config{Limits: Limits{ValueBytes: 64 << 20}}, "FrameBytes"},
	{"logs over the frame", Config{Limits: Limits{FrameBytes: 1 << 20, LogBytes: 1<<20 - 4095}}, "FrameBytes"},
	{"frames too small", Config{Limits: Limits{FrameBytes: 4096, LogBytes: 100, ValueBytes: 1}}, "Limits.FrameBytes"},
	{"negative concurrency", Config{MaxConcurrent: -1}, "MaxConcurrent"},
	{"numbers", Config{Numbers: lossless.Numbers(7)}, "Config.Numbers"},
	{"fork", Config{Start: StartFork}, "spawn"},
	{"start method", Config{Start: 9}, "StartMethod(9)"},
	{"preload", Config{Preload: []string{"numpy"}}, "Preload"},
	{"strict", Config{Sandbox: Sandbox{Mode: SandboxStrict}}, "strict"},
	{"sandbox mode", Config{Sandbox: Sandbox{Mode: 9}}, "SandboxMode(9)"},
	{"paths", Config{Sandbox: Sandbox{AllowRead: []string{"/etc"}}}, "AllowRead"},
}

func TestMisuseOfNew(t *testing.T) {
	for _, m := range misuses {
		t.Run(m.name, func(t *testing.T) {
			rt, err := New(t.Context(), m.config)
			if rt != nil || !errors.Is(err, ErrMisuse) || !strings.Contains(err.Error(), m.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("New: %v; want a misuse in one line that says %q", err, m.says)
			}
		})
	}
}

// wrongPythons are no interpreters: each is refused by New, and no other is taken.
func TestWrongPythons(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, python := range []string{"/opt/none/python", plain, folder, "./missing-py", "python-zzz", "a\x00b"} {
		if rt, err := New(t.Context(), Config{Python: python}); err == nil {
			_ = rt.Close()
			t.Errorf("New took %q", python)
		}
	}
}

func TestRunAfterClose(t *testing.T) {
	rt := newRuntime(t, Config{})
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := rt.Run(ended, Request{Namespaces: []Namespace{{Global: "9"}}})
	if !errors.Is(err, ErrClosed) || !errors.Is(err, ErrMisuse) {
		t.Errorf("Run after Close: %v, want ErrClosed", err)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// TestOrderOfChecks has a misuse and an ended context: the misuse is told.
func TestOrderOfChecks(t *testing.T) {
	rt := newRuntime(t, Config{})
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the reason"))
	for _, request := range []Request{
		{Namespaces: []Namespace{{Global: "9lives"}}},
		{Limits: Limits{Wall: -1}},
		{Program: "\xff"},
		{Namespaces: []Namespace{{Global: "data"}}, Data: lossless.Null},
	} {
		if _, err := rt.Run(ended, request); !errors.Is(err, ErrMisuse) {
			t.Errorf("Run: %v, want misuse", err)
		}
	}
	result, err := rt.Run(ended, Request{Program: "return 1"})
	if err != nil {
		t.Fatal(err)
	}
	f := result.Failure
	if f == nil || f.Kind != Abort || !strings.Contains(f.Message, "the reason") || !errors.Is(f, context.Canceled) || result.Stats.Start != "" || len(result.Logs) > 0 {
		t.Errorf("%+v, want an abort that names the reason, and nothing started", result)
	}
}

// TestFrozenInterpreter changes PATH and the interpreter after New.
func TestFrozenInterpreter(t *testing.T) {
	rt := newRuntime(t, Config{})
	t.Setenv("PATH", "/nowhere")
	if result := run1(t, rt, "return 1", Limits{}); result.Failure != nil {
		t.Errorf("after a change of PATH: %v", result.Err())
	}
}
