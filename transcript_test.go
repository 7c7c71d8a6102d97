package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
	"github.com/thirdrail-dev/thirdrail/wire/transcript"
)

// transcriptVariable makes this test binary play a child. It names the transcript.
const transcriptVariable = "THIRDRAIL_TEST_TRANSCRIPT"

const transcripts = "wire/testdata/transcripts"

// playChild is main when this binary plays a child on descriptor 3.
func playChild(name string) int {
	all, err := transcript.Load(os.DirFS(filepath.Dir(name)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	for _, t := range all {
		if t.Name == filepath.Base(name) {
			if err := t.PlayChild(os.NewFile(3, "rail")); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, "no transcript", name)
	return 2
}

func loadTranscripts(t *testing.T) []*transcript.Transcript {
	t.Helper()
	all, err := transcript.Load(os.DirFS(transcripts))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTranscriptsAgainstHost plays the child of each conversation to our host.
func TestTranscriptsAgainstHost(t *testing.T) {
	for _, conversation := range loadTranscripts(t) {
		if !conversation.Host {
			continue
		}
		t.Run(conversation.Name, func(t *testing.T) {
			t.Parallel()
			boot, run := conversation.Boot(), conversation.Run()
			rt := newSpawning(t, Config{Numbers: boot.Numbers.Profile(), Sandbox: Sandbox{Mode: SandboxOff}})
			replaceChild(t, rt, conversation.Name)
			request := Request{Program: run.Program, Data: run.Data, Limits: Limits{
				Wall:       20 * time.Second,
				CPU:        time.Duration(boot.CPUSeconds) * time.Second,
				LogBytes:   boot.MaxLogBytes,
				ValueBytes: boot.MaxValueBytes,
			}}
			request.Namespaces = answering(conversation)
			result, err := rt.Run(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			got := transcript.Outcome{Value: result.Value, Logs: result.Logs}
			if f := result.Failure; f != nil {
				got.Error, got.Message = wire.ErrorKind(f.Kind), f.Message
			}
			if err := conversation.Check(got); err != nil {
				t.Errorf("%v; logs %q", err, result.Logs)
			}
		})
	}
}

// replaceChild has a runtime start this test binary, as the child of a transcript.
func replaceChild(t *testing.T, rt *Runtime, name string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs(transcripts)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "child")
	// A trial of the interpreter, without site (-S), is for the real one.
	text := fmt.Sprintf("#!/bin/sh\nif [ \"$2\" = -S ]; then exec '%s' \"$@\"; fi\n%s='%s' exec '%s'\n",
		rt.interpreter.Path, transcriptVariable, filepath.Join(folder, name), self)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	starter, err := child.NewStarter(context.Background(), &interpreter.Interpreter{Path: script, Code: []byte("none")}, child.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.starter.Close(); err != nil {
		t.Fatal(err)
	}
	rt.starter = starter
}

// answering returns functions that give the replies of a transcript, in its order.
// A conversation's calls come one by one, or all before the first reply, and each
// has arguments of its own.
func answering(conversation *transcript.Transcript) []Namespace {
	ids := map[string]int64{} // by arguments
	for _, step := range conversation.Steps {
		if call, ok := step.Frame.(*wire.Call); ok {
			ids[call.Args.String()] = call.ID
		}
	}
	replies := map[int64]wire.Reply{}
	previous := map[int64]chan struct{}{} // closed when the reply before is given
	given := map[int64]chan struct{}{}
	before := make(chan struct{})
	close(before)
	for _, reply := range conversation.Replies() {
		id := reply.CallID()
		replies[id], previous[id], given[id] = reply, before, make(chan struct{})
		before = given[id]
	}
	answer := func(ctx context.Context, args lossless.Value) (lossless.Value, error) {
		id := ids[args.String()]
		select {
		case <-previous[id]:
		case <-ctx.Done():
		}
		defer close(given[id])
		if rejected, ok := replies[id].(*wire.ReplyError); ok {
			return lossless.Value{}, errors.New(rejected.Message)
		}
		return replies[id].(*wire.ReplyValue).Value, nil
	}
	var namespaces []Namespace
	for _, frame := range conversation.Boot().Namespaces {
		n := Namespace{Global: frame.Global, Funcs: Funcs{}}
		for _, name := range frame.Names {
			n.Funcs[name] = answer
		}
		if frame.ErrorClass != nil {
			n.ErrorClass = &ErrorClass{frame.ErrorClass.Name, frame.ErrorClass.MemberNameProperty}
		}
		namespaces = append(namespaces, n)
	}
	return namespaces
}

// TestTranscriptsAgainstChild plays the host of each conversation to the real
// child on each Python.
func TestTranscriptsAgainstChild(t *testing.T) {
	for _, python := range pythons.All(t) {
		t.Run(pythonName(python), func(t *testing.T) {
			t.Parallel()
			rt := newRuntime(t, Config{Python: python, Sandbox: Sandbox{Mode: SandboxOff}})
			for _, conversation := range loadTranscripts(t) {
				if !conversation.Child {
					continue
				}
				t.Run(conversation.Name, func(t *testing.T) {
					workspace, err := rt.folder.NewWorkspace()
					if err != nil {
						t.Fatal(err)
					}
					defer workspace.Remove()
					process, err := rt.starter.Start(workspace.Path, child.Environment(workspace.Path))
					if err != nil {
						t.Fatal(err)
					}
					defer process.Close()
					defer process.Wait()
					if err := process.Rail.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
						t.Fatal(err)
					}
					if err := conversation.PlayHost(process.Rail); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}
