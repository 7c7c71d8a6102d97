package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// bareImports are what a child can't do without, and a program with asyncio.
const bareImports = "import marshal, errno, select, fcntl, resource, _json, _signal, _thread, asyncio"

// waitingWall is more than any number of runs needs until the last one waits.
const waitingWall = 10 * time.Minute

// memory compares runs that all wait in a call at once with as many interpreters
// that wait for input: the proportional set size of each, which counts a page that
// several share by its part.
func (s *session) memory(ctx context.Context) error {
	if err := s.closeReference(); err != nil { // it would count
		return err
	}
	if _, err := setSizes(); err != nil {
		s.missing(fmt.Sprintf("memory: %v", err))
		return nil
	}
	bare, err := s.waitingInterpreters(ctx)
	if err != nil {
		return err
	}
	for _, method := range s.methods {
		size, err := s.waitingRuns(ctx, method)
		if os.IsPermission(err) {
			s.missing(fmt.Sprintf("memory of confined runs: %v; only root may look into processes that aren't dumpable", err))
			return nil
		}
		if err != nil {
			return err
		}
		s.addRatios(fmt.Sprintf("a run, %v, of %d that wait", method, s.options.Waiting),
			"a `python3 -I` with asyncio, of as many that wait", samples{size / bare}, size, bare, mebibytes)
	}
	return nil
}

// waitingRuns returns the set size of each run, keeper included.
func (s *session) waitingRuns(ctx context.Context, method thirdrail.StartMethod) (size float64, err error) {
	count := s.options.Waiting
	waits, release := make(chan struct{}, count), make(chan struct{})
	wait := func(ctx context.Context, args lossless.Value) (lossless.Value, error) {
		waits <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return args, ctx.Err()
	}
	k := kind{start: method, wide: count}
	if _, err := s.runtime(ctx, k); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, count)
	for range count {
		go func() {
			_, err := s.run(ctx, k, thirdrail.Request{
				Program:    "await tools.wait()\nreturn 1",
				Namespaces: []thirdrail.Namespace{{Global: "tools", Funcs: thirdrail.Funcs{"wait": wait}}},
				Limits:     thirdrail.Limits{Wall: waitingWall},
			})
			ended <- err
		}()
	}
	running := count
	for i := 0; i < count && err == nil; i++ {
		s.options.Progress("memory", i, count)
		select {
		case <-waits:
		case err = <-ended: // none may end while it waits
			running--
			if err == nil {
				err = fmt.Errorf("a run ended before its call did")
			}
		}
	}
	if err == nil {
		size, err = setSizes()
	}
	if err != nil {
		cancel(err)
	}
	close(release)
	for range running {
		if e := <-ended; err == nil {
			err = e
		}
	}
	return size / float64(count), err
}

// waitingInterpreters returns the set size of each of as many interpreters.
func (s *session) waitingInterpreters(ctx context.Context) (float64, error) {
	for range s.options.Waiting {
		command := exec.CommandContext(ctx, s.python.Path, "-I", "-c", bareImports+"\nimport sys; print(1, flush=True); sys.stdin.read()")
		say, err := command.StdinPipe()
		if err != nil {
			return 0, err
		}
		hear, err := command.StdoutPipe()
		if err != nil {
			return 0, err
		}
		if err := command.Start(); err != nil {
			return 0, err
		}
		defer func() { _ = say.Close(); _ = command.Wait() }()
		if _, err := bufio.NewReader(hear).ReadString('\n'); err != nil && err != io.EOF {
			return 0, err
		}
	}
	size, err := setSizes()
	return size / float64(s.options.Waiting), err
}

// setSizes returns the proportional set size of all that descends from this
// process, in bytes.
func setSizes() (total float64, err error) {
	if _, err := setSize(os.Getpid()); err != nil {
		return 0, err
	}
	for queue := childrenOf(os.Getpid()); len(queue) > 0; queue = queue[1:] {
		size, err := setSize(queue[0])
		if err != nil {
			return 0, err
		}
		total += size
		queue = append(queue, childrenOf(queue[0])...)
	}
	return total, nil
}

// setSize returns Pss of a process, see proc_pid_smaps(5).
func setSize(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("\nPss:"))
	number, _, _ := strings.Cut(strings.TrimSpace(string(rest)), " ")
	kibibytes, err := strconv.ParseFloat(number, 64)
	return kibibytes * 1024, err
}

// childrenOf returns the children of all threads of a process.
func childrenOf(pid int) []int {
	tasks := fmt.Sprintf("/proc/%d/task/", pid)
	entries, _ := os.ReadDir(tasks)
	var pids []int
	for _, entry := range entries {
		text, _ := os.ReadFile(tasks + entry.Name() + "/children")
		for _, field := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(field); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}
