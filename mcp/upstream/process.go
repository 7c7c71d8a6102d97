package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/group"
)

const (
	// grace is how long a server may take to end after its standard input is closed,
	// and again after it was asked to terminate.
	grace = 2 * time.Second
	// drain is how long the output of a server that has ended is read, which a
	// process that it left behind may keep open.
	drain = time.Second
	// maxErrorLine is how much of a line of standard error is kept, in bytes.
	maxErrorLine = 4 << 10
	// secret is a variable that no server needs.
	secret = "THIRDRAIL_MCP_TOKEN"
)

// A process is a started server.
type process struct {
	command *exec.Cmd
	group   group.Group
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File
	exited  chan struct{} // closed when it has ended and was waited for
	err     error         // of waiting, then
	readers sync.WaitGroup
	ending  sync.Once
	grace   time.Duration

	mu   sync.Mutex
	last string // line of standard error
}

// start starts a server.
func start(config Server, log *slog.Logger) (*process, error) {
	command := exec.Command(config.Command, config.Args...)
	if errors.Is(command.Err, exec.ErrNotFound) {
		return nil, fmt.Errorf("the command %q is not found; install it, or write its whole path", config.Command)
	}
	if command.Err != nil {
		return nil, command.Err
	}
	command.Dir = config.Dir
	command.Env = environment(config.Env)
	command.SysProcAttr = group.Own()
	p := &process{command: command, exited: make(chan struct{}), grace: grace}
	p.group.Command = command
	theirs, err := p.pipes()
	defer func() {
		for _, file := range theirs {
			file.Close()
		}
	}()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		p.closeFiles()
		return nil, fmt.Errorf("the command %q can't be started: %w", config.Command, reasonOf(err))
	}
	p.readers.Go(func() { p.readErrors(log) })
	go func() {
		p.err = p.group.Wait()
		limit := time.Now().Add(drain)
		_ = p.stdout.SetReadDeadline(limit)
		_ = p.stderr.SetReadDeadline(limit)
		close(p.exited)
	}()
	return p, nil
}

// reasonOf returns what is behind an error that names the command already.
func reasonOf(err error) error {
	var path *os.PathError
	if errors.As(err, &path) && filepath.Base(path.Path) != "" {
		return fmt.Errorf("%s %s: %w", path.Op, path.Path, path.Err)
	}
	return err
}

// environment returns this process's environment with more, and without what is a
// secret of ours.
func environment(more map[string]string) []string {
	var all []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if _, given := more[name]; !given && name != secret {
			all = append(all, variable)
		}
	}
	for name, value := range more {
		all = append(all, name+"="+value)
	}
	return all
}

// pipes makes the three pipes, and returns the ends for the process.
func (p *process) pipes() (theirs []*os.File, err error) {
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.stdin, p.command.Stdin = ours, in
	theirs = append(theirs, in)
	for _, one := range []struct {
		ours **os.File
		to   *io.Writer
	}{{&p.stdout, &p.command.Stdout}, {&p.stderr, &p.command.Stderr}} {
		read, write, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		*one.ours, *one.to = read, write
		theirs = append(theirs, write)
	}
	return theirs, nil
}

func (p *process) closeFiles() {
	for _, file := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if file != nil {
			file.Close()
		}
	}
}

// readErrors hands the lines of standard error to the log.
func (p *process) readErrors(log *slog.Logger) {
	reader := bufio.NewReaderSize(p.stderr, maxErrorLine)
	var noise limited
	for {
		var line []byte
		if err := readLine(reader, func(piece []byte) {
			line = append(line, piece[:min(len(piece), maxErrorLine-len(line))]...)
		}); err != nil {
			return
		}
		text := strings.TrimSpace(strings.ToValidUTF8(string(line), "\uFFFD"))
		if text == "" {
			continue
		}
		p.mu.Lock()
		p.last = text
		p.mu.Unlock()
		noise.say(log, "standard error", "line", text)
	}
}

// shutdown ends the process and all that it started: by closing its standard input,
// then by asking, then by force. It returns when nothing is left.
func (p *process) shutdown() {
	p.ending.Do(func() {
		p.stdin.Close()
		if !p.waits(p.grace) && p.group.Terminate() == nil && !p.waits(p.grace) {
			_ = p.group.Kill()
		}
	})
	<-p.exited
	p.readers.Wait()
	p.closeFiles()
}

func (p *process) waits(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// reason tells how the process ended, if it has.
func (p *process) reason() error {
	if !p.waits(drain) {
		return errors.New("it closed its standard output")
	}
	p.readers.Wait() // for its last words
	p.mu.Lock()
	defer p.mu.Unlock()
	how := "it exited with status 0"
	if p.err != nil {
		how = "it ended: " + p.err.Error()
	}
	if p.last != "" {
		how += fmt.Sprintf(" (its last words: %s)", short([]byte(p.last)))
	}
	return errors.New(how)
}

// limited says so many things in a while, and then how many it left out.
type limited struct {
	mu    sync.Mutex
	since time.Time
	said  int
	more  int
}

const (
	limitedLines  = 100
	limitedPeriod = time.Second
)

func (l *limited) say(log *slog.Logger, what string, more ...any) {
	l.mu.Lock()
	now := time.Now()
	left := 0
	if now.Sub(l.since) > limitedPeriod {
		left = l.more
		l.since, l.said, l.more = now, 0, 0
	}
	l.said++
	over := l.said > limitedLines
	if over {
		l.more++
	}
	l.mu.Unlock()
	if left > 0 {
		log.Info("lines were left out, there were too many", "lines", left)
	}
	if !over {
		log.Info(what, more...)
	}
}
