//go:build linux

package thirdrail

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// targets is what attacks aim at. All of it holds the canary, a text that no
// confined program can get hold of.
type targets struct {
	canary  string
	folder  string // everybody may read it and write to it
	aims    map[string]any
	victim  *victim
	sibling siblingFacts
	listen  *listeners
	objects *objects
}

// newTargets makes them, and removes them when the test ends.
func newTargets(t *testing.T, rt *Runtime) *targets {
	t.Helper()
	aims := &targets{canary: "canary-" + rand.Text(), aims: map[string]any{}}
	aims.makeFiles(t)
	aims.listen = newListeners(t, aims)
	aims.objects = newObjects(t, aims)
	aims.victim = newVictim(t, rt.interpreter.Path, aims)
	aims.startSibling(t, rt)
	return aims
}

// dataFor is the global data of an attack.
func (a *targets) dataFor(token string) map[string]any {
	return map[string]any{
		"prelude": attackPrelude, "token": token, "host": os.Getpid(),
		"victim": a.victim.facts, "sibling": a.sibling, "aims": a.aims,
	}
}

// namespace is what attacks can ask the harness.
func (a *targets) namespace() Namespace {
	return Namespace{Global: "watch", Funcs: Funcs{"signal": Bind(a.victim.gotSignal)}}
}

// makeFiles makes the folder outside, which only the confinement keeps a program
// from. It isn't below a run's folder, nor below one that only root may enter.
func (a *targets) makeFiles(t *testing.T) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "thirdrail-attacked-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	a.folder = folder
	file, link := filepath.Join(folder, "secret"), filepath.Join(folder, "link")
	must(t, os.Chmod(folder, 0o777))
	for _, name := range []string{"secret", "to move", "to remove", "to truncate", "to exchange"} {
		path := filepath.Join(folder, name)
		must(t, os.WriteFile(path, []byte(a.canary), 0o600))
		must(t, os.Chmod(path, 0o666))
	}
	must(t, os.Symlink(a.canary, link))
	_ = unix.Setxattr(file, "user.canary", []byte(a.canary), 0) // not every file system has them
	a.aims["folder"], a.aims["file"], a.aims["link"] = folder, file, link
	a.aims["home"], _ = os.UserHomeDir()
	if handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, file, 0); err == nil {
		a.aims["handle"] = map[string]any{"type": handle.Type(), "bytes": hex.EncodeToString(handle.Bytes())}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A victim is another process of the same user. It survives every signal but the
// two that nobody survives, and writes the number of each to its standard output.
type victim struct {
	command *exec.Cmd
	facts   victimFacts

	mu   sync.Mutex
	got  map[int]int
	more chan struct{} // closed and made anew with each signal
}

type victimFacts struct {
	PID     int   `json:"pid"`
	FD      int   `json:"fd"`      // a file without a name that has the canary in it
	Address int64 `json:"address"` // where it has the canary in its memory
	Scratch int64 `json:"scratch"` // memory to write to
}

const victimProgram = `
import ctypes, json, os, signal, sys, tempfile
canary = sys.argv[1].encode()
secret, scratch = ctypes.create_string_buffer(canary), ctypes.create_string_buffer(b"unharmed")
file = tempfile.TemporaryFile(buffering=0)
file.write(canary)
facts = dict(pid=os.getpid(), fd=file.fileno(), address=ctypes.addressof(secret), scratch=ctypes.addressof(scratch))
os.set_blocking(1, False)
signal.set_wakeup_fd(1)
for number in range(1, signal.NSIG):
    try:
        signal.signal(number, lambda *_: None)
    except (OSError, ValueError):
        pass
os.write(1, json.dumps(facts).encode() + b"\n")
sys.stdin.read()
`

func newVictim(t *testing.T, python string, aims *targets) *victim {
	t.Helper()
	v := &victim{got: map[int]int{}, more: make(chan struct{})}
	v.command = exec.Command(python, "-I", "-S", "-c", victimProgram, aims.canary)
	v.command.Env = []string{"TOKEN=" + aims.canary, "TMPDIR=" + aims.folder}
	v.command.Dir = aims.folder
	v.command.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	input, err := v.command.StdinPipe()
	must(t, err)
	output, err := v.command.StdoutPipe()
	must(t, err)
	must(t, v.command.Start())
	lines := bufio.NewReader(output)
	line, err := lines.ReadBytes('\n')
	must(t, err)
	must(t, json.Unmarshal(line, &v.facts))
	var reading sync.WaitGroup
	reading.Go(func() { v.read(lines) })
	t.Cleanup(func() {
		_ = input.Close()
		reading.Wait()
		if err := v.command.Wait(); err != nil {
			t.Errorf("the victim: %v", err)
		}
	})
	return v
}

func (v *victim) read(output *bufio.Reader) {
	for {
		number, err := output.ReadByte()
		if err != nil {
			return
		}
		v.mu.Lock()
		v.got[int(number)]++
		close(v.more)
		v.more = make(chan struct{})
		v.mu.Unlock()
	}
}

// gotSignal tells whether the victim got a signal, now or soon.
func (v *victim) gotSignal(ctx context.Context, in struct {
	Number int `json:"number"`
}) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	for {
		v.mu.Lock()
		got, more := v.got[in.Number] > 0, v.more
		v.mu.Unlock()
		if got {
			return true, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return false, nil
		}
	}
}

// siblingFacts is what attacks know of another run of the same runtime.
type siblingFacts struct {
	PID     int    `json:"pid"`    // as the host has it
	Inner   int    `json:"inner"`  // as it has it itself
	Folder  string `json:"folder"` // as the host has it
	Address int64  `json:"address"`
}

const siblingProgram = `
import ctypes, os
with open("secret", "w") as file:
    file.write(data)
secret = ctypes.create_string_buffer(data.encode())
await watch.here({"inner": os.getpid(), "address": ctypes.addressof(secret)})
`

// startSibling starts a run that waits in a call until the test ends.
func (a *targets) startSibling(t *testing.T, rt *Runtime) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	here := make(chan siblingFacts, 1)
	wait := func(ctx context.Context, in siblingFacts) (bool, error) {
		here <- in
		<-ctx.Done()
		return true, nil
	}
	data, err := lossless.Of(a.canary)
	must(t, err)
	before := runFolders()
	var running sync.WaitGroup
	ended := make(chan struct{})
	var result *Result
	running.Go(func() {
		defer close(ended)
		result, err = rt.Run(ctx, Request{
			Program: siblingProgram, Data: data, Limits: Limits{Wall: time.Hour},
			Namespaces: []Namespace{{Global: "watch", Funcs: Funcs{"here": Bind(wait)}}},
		})
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if result == nil || result.Failure == nil || result.Failure.Kind != Abort {
			t.Errorf("the sibling ended as %+v", result)
		}
	})
	select {
	case a.sibling = <-here:
	case <-ended:
		t.Fatalf("the sibling ended: %v, %+v", err, result)
	}
	for _, pid := range outerPIDs(a.sibling.Inner) {
		// The children of a nursery all have the same number inside, and no folder of
		// the host's.
		folder := fmt.Sprintf("/proc/%d/root%s", pid, rt.confinement.workspace(""))
		if _, err := os.Stat(folder + "/secret"); err == nil && rt.nursery != nil {
			a.sibling.PID, a.sibling.Folder = pid, folder
		} else if rt.nursery == nil {
			a.sibling.PID = pid
		}
	}
	for _, folder := range runFolders() {
		// The first is its own, what comes behind is in it.
		if a.sibling.Folder == "" && !slices.Contains(before, folder) {
			a.sibling.Folder = folder
		}
	}
	if a.sibling.PID == 0 || a.sibling.Folder == "" {
		t.Fatalf("the sibling is not found: process %d, folder %q", a.sibling.PID, a.sibling.Folder)
	}
}

// outerPIDs returns the numbers of the descendants of this process that have the
// number inner in a namespace of their own.
func outerPIDs(inner int) []int {
	var found []int
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		numbers := strings.Fields(statusField(entry.Name(), "NSpid"))
		if len(numbers) == 0 || numbers[len(numbers)-1] != strconv.Itoa(inner) {
			continue
		}
		for pid := entry.Name(); pid != "0" && pid != ""; pid = statusField(pid, "PPid") {
			if pid == strconv.Itoa(os.Getpid()) {
				number, _ := strconv.Atoi(entry.Name())
				found = append(found, number)
				break
			}
		}
	}
	return found
}

// statusField returns a field of /proc/PID/status, or "".
func statusField(pid, field string) string {
	text, _ := os.ReadFile("/proc/" + pid + "/status")
	_, rest, _ := strings.Cut(string(text), "\n"+field+":")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// compare fails the test if anything that attacks aim at has changed.
func (a *targets) compare(t *testing.T, before map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, a.state()); diff != "" {
		t.Errorf("what was attacked has changed (-before +after):\n%s", diff)
	}
}

// state returns all that attacks may change, by name.
func (a *targets) state() map[string]string {
	state := a.victim.state()
	entries, _ := os.ReadDir(a.folder)
	for _, entry := range entries {
		path := filepath.Join(a.folder, entry.Name())
		var stat unix.Stat_t
		err := unix.Lstat(path, &stat)
		content, _ := os.ReadFile(path)
		names := make([]byte, 1000)
		n, _ := unix.Llistxattr(path, names)
		state[path] = fmt.Sprintf("%v mode %o owner %d changed %v %q attributes %q", err, stat.Mode, stat.Uid, stat.Ctim, content, names[:max(n, 0)])
	}
	a.listen.state(state)
	a.objects.state(state)
	return state
}

func (v *victim) state() map[string]string {
	pid := v.facts.PID
	name := strconv.Itoa(pid)
	state := map[string]string{}
	for which := range unix.RLIMIT_RTTIME + 1 {
		var limit unix.Rlimit
		err := unix.Prlimit(pid, which, nil, &limit)
		state[fmt.Sprintf("limit %d", which)] = fmt.Sprint(limit, err)
	}
	var processors unix.CPUSet
	err := unix.SchedGetaffinity(pid, &processors)
	state["processors"] = fmt.Sprint(processors.Count(), err)
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
	state["nice"] = fmt.Sprint(nice, err)
	scheduling, err := unix.SchedGetAttr(pid, 0)
	state["scheduling"] = fmt.Sprintf("%+v %v", scheduling, err)
	disk, _, number := unix.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(pid), 0)
	state["disk"] = fmt.Sprint(disk, number)
	score, err := os.ReadFile("/proc/" + name + "/oom_score_adj")
	state["memory killer"] = fmt.Sprint(string(score), err)
	state["tracer"] = statusField(name, "TracerPid")
	state["stopped"] = fmt.Sprint(strings.HasPrefix(statusField(name, "State"), "T"))
	scratch := make([]byte, 8)
	memory, err := os.Open("/proc/" + name + "/mem")
	if err == nil {
		_, err = memory.ReadAt(scratch, v.facts.Scratch)
		_ = memory.Close()
	}
	state["memory"] = fmt.Sprint(string(scratch), err)
	v.mu.Lock()
	defer v.mu.Unlock()
	state["signals"] = fmt.Sprint(v.got)
	return state
}
