package interpreter

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fakes lists scripts that are no interpreter to use, and what is said of them.
var fakes = []struct {
	name   string
	body   string
	reason error
	words  string
}{
	{"junk", `echo "hello, I am a calculator"`, ErrNotPython, `saying "hello, I am a calculator"`},
	{"junk that fails", `echo nope; exit 3`, ErrExit, `exit status 3, saying "nope"`},
	{"junk with its own lines", `printf 'one\ntwo\r\n\033[31m'`, ErrNotPython, `"one\ntwo\r\n\x1b[31m"`},
	{"echo of its arguments", `echo "$0 $*"`, ErrNotPython, `did not answer`},
	{"silent", `exit 0`, ErrSilent, "ended at once"},
	{"exits with a status", `exit 42`, ErrExit, "exit status 42;"},
	{"last line of stderr", `echo first >&2; echo "  the reason" >&2; echo >&2; exit 1`, ErrExit, `exit status 1, saying "the reason"`},
	{"stderr over stdout", `echo out; echo err >&2; exit 1`, ErrExit, `saying "err"`},
	{"killed by a signal", `kill -9 $$`, ErrExit, "signal: killed"},
	{"pyenv without the version", "echo 'pyenv: version `9.9` is not installed' >&2; exit 1", ErrExit, "version `9.9` is not installed"},
	{"pypy", answering("implementation", "pypy", "version", "3.10.13"), ErrNotCPython, "it is pypy, an implementation of Python 3.10.13"},
	{"old pypy is first not CPython", answering("implementation", "pypy", "version", "2.7.18"), ErrNotCPython, "pypy"},
	{"old", answering("implementation", "cpython", "version", "3.8.18"), ErrTooOld, "needs 3.9 or newer, {path} is 3.8.18; set Config.Python or --python to a newer one"},
	{"very old", `if [ "$1" = -I ]; then echo "Unknown option: -I" >&2; exit 2; fi
` + answering("implementation", "cpython", "version", "2.7.18"), ErrTooOld, "{path} is 2.7.18"},
	{"no isolated mode and no answer", `echo "Unknown option: $1" >&2; exit 2`, ErrExit, `"Unknown option: -E"`},
	{"no version", answering("implementation", "cpython"), ErrNotPython, `its version is ""`},
	{"a version of two numbers", answeringHealthy("/x", "version", "3.12"), ErrNotPython, `its version is "3.12"`},
	{"a version of words", answeringHealthy("/x", "version", "3.x.1"), ErrNotPython, `its version is "3.x.1"`},
	{"modules missing", answering("implementation", "cpython", "version", "3.12.1", "missing", "select", "missing", "_json"), ErrIncomplete, "can't import select, _json"},
	{"no executable", answeringHealthy(""), ErrNotPython, `sys.executable is ""`},
	{"relative executable", answeringHealthy("bin/python3"), ErrNotPython, "sys.executable is bin/python3"},
	{"missing executable", answeringHealthy("/opt/none/python"), ErrNotPython, "its executable is /opt/none/python, which can't be used: there is no such file"},
	{"unreadable size", answeringHealthy("/x", "bare_bytes", "much"), ErrNotPython, "much"},
	{"unreadable bits", answeringHealthy("/x", "bits", "few"), ErrNotPython, "few"},
	{"answer cut short", `printf '\000%s 900 900\nabc' "$5"`, ErrNotPython, "did not answer"},
	{"answer without lengths", `printf '\000%s x y\n' "$5"`, ErrNotPython, "did not answer"},
	{"answer of negative length", `printf '\000%s -1 0\n' "$5"`, ErrNotPython, "did not answer"},
	{"answer of half a field", `printf '\000%s 4 0\nabc\000' "$5"`, ErrNotPython, "did not answer"},
	{"answer with another nonce", `printf '\000NONCE 4 0\na\000b\000'`, ErrNotPython, "did not answer"},
}

func TestFindRefusesFakes(t *testing.T) {
	for _, test := range fakes {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := script(t, "python3", test.body)
			_, err := Find(t.Context(), path)
			checkError(t, err, test.reason, strings.ReplaceAll(test.words, "{path}", path))
			if !strings.Contains(err.Error(), path) {
				t.Errorf("%q does not name %s", err, path)
			}
		})
	}
}

func TestFindRefusesWhatCannotStart(t *testing.T) {
	for name, text := range map[string]string{
		"no first line":       "print('I have no first line')\n",
		"missing first line":  "#!/opt/none/sh\n",
		"empty":               "",
		"not for the machine": "\x7fELF\x02\x01\x01junk",
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, filepath.Join(t.TempDir(), "python3"), text, 0o755)
			_, err := Find(t.Context(), path)
			checkError(t, err, ErrStart, path)
		})
	}
}

func TestFindKillsWhatHangs(t *testing.T) {
	for name, body := range map[string]string{
		"alone":                   `echo $$ >"$0.pids"; echo waiting >&2; exec sleep 300`,
		"with a child":            `echo waiting >&2; sleep 300 & echo $! $$ >"$0.pids"; wait`,
		"ignoring signals":        `trap "" TERM INT HUP; echo $$ >"$0.pids"; echo waiting >&2; while :; do sleep 1; done`,
		"deaf to its closed pipe": `echo waiting >&2; exec >&- 2>&- <&-; echo $$ >"$0.pids"; exec sleep 300`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := script(t, "python3", body)
			_, err := finder{timeout: 3 * time.Second, maxBytes: 1 << 10}.find(t.Context(), path)
			checkError(t, err, ErrHang, `killed after 3s, saying "waiting"`)
			checkGone(t, path+".pids")
		})
	}
}

func TestFindTimeout(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the whole 5 s")
	}
	t.Parallel()
	path := script(t, "python3", `echo $$ >"$0.pids"; exec sleep 300`)
	_, err := Find(t.Context(), path)
	checkError(t, err, ErrHang, "killed after 5s")
	checkGone(t, path+".pids")
}

func TestFindLeavesNoHelper(t *testing.T) {
	t.Parallel()
	// The script ends at once, but what it started holds its output open.
	path := script(t, "python3", `sleep 300 & echo $! >"$0.pids"`)
	_, err := Find(t.Context(), path)
	checkError(t, err, ErrSilent, path)
	checkGone(t, path+".pids")
}

func TestFindKillsFlood(t *testing.T) {
	for name, redirect := range map[string]string{"stdout": "", "stdout and stderr": "yes >&2 &"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := script(t, "python3", redirect+`echo $$ >"$0.pids"; exec yes`)
			_, err := Find(t.Context(), path)
			checkError(t, err, ErrNotPython, "killed after it printed 8388608 bytes")
			checkGone(t, path+".pids")
		})
	}
}

func TestFindHonoursContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	path := script(t, "python3", `echo $$ >"$0.pids.new"; mv "$0.pids.new" "$0.pids"; exec sleep 300`)
	ended := make(chan error)
	go func() {
		_, err := Find(ctx, path)
		ended <- err
	}()
	waitFor(t, "the interpreter to start", func() bool {
		_, err := os.Stat(path + ".pids")
		return err == nil
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one for %s that wraps context.Canceled", err, path)
	}
	checkGone(t, path+".pids")

	if _, err := Find(ctx, path+".missing"); !errors.Is(err, ErrNotExecutable) {
		t.Errorf("error %v of a bad path with an ended context, want ErrNotExecutable", err)
	}
	if err := os.Remove(path + ".pids"); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v with an ended context, want context.Canceled", err)
	}
	if _, err := os.Stat(path + ".pids"); err == nil {
		t.Error("the interpreter was started with an ended context")
	}

	late, cancelLate := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancelLate()
	if _, err := Find(late, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v after the deadline, want context.DeadlineExceeded", err)
	}
}

// checkGone fails unless all processes listed in the file end soon. A process
// that nobody has reaped yet counts as ended.
func checkGone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pids := strings.Fields(string(text))
	if len(pids) == 0 {
		t.Fatalf("%s lists no process", file)
	}
	for _, pid := range pids {
		number, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, "process "+pid+" to end", func() bool { return gone(number) })
	}
}

func gone(pid int) bool {
	if unix.Kill(pid, 0) == unix.ESRCH {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}

// waitFor polls until what it waits for holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited 10 s for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestHead(t *testing.T) {
	dropped := 0
	kept := head{limit: 5, full: func() { dropped++ }}
	for _, text := range []string{"ab", "cde", "", "f", "ghi"} {
		if n, err := kept.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("Write(%q) = %d, %v", text, n, err)
		}
	}
	if string(kept.kept) != "abcde" || dropped != 2 {
		t.Errorf("kept %q, dropped %d times, want abcde and 2", kept.kept, dropped)
	}
}

func TestTail(t *testing.T) {
	for _, size := range []int{1, 7, 100, tailBytes - 1, tailBytes, tailBytes + 1, 3 * tailBytes} {
		var all []byte
		var kept tail
		for i := range 60 {
			piece := bytes.Repeat([]byte{byte('a' + i%26)}, size)
			all = append(all, piece...)
			if n, err := kept.Write(piece); n != size || err != nil {
				t.Errorf("Write of %d bytes = %d, %v", size, n, err)
			}
		}
		want := all[max(0, len(all)-tailBytes):]
		if !bytes.HasSuffix(kept.kept, want) {
			t.Errorf("pieces of %d bytes: the last %d are not kept", size, len(want))
		}
		if len(kept.kept) > 2*tailBytes || cap(kept.kept) > 8*tailBytes {
			t.Errorf("pieces of %d bytes: %d kept in %d", size, len(kept.kept), cap(kept.kept))
		}
	}
}
