package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Runtime runs programs, each in a process of its own. It is made by New, safe
// for concurrent use, and must be closed.
type Runtime struct {
	limits      Limits
	sandbox     Sandbox
	numbers     lossless.Numbers
	interpreter *interpreter.Interpreter
	folder      *child.Folder
	starter     *child.Starter
	wrapper     []string     // of Sandbox, its command found
	confinement *confinement // nil with SandboxOff
	nursery     *nursery     // nil where children are spawned
	start       StartMethod
	places      chan struct{} // one for each run that may go on
	starts      chan struct{} // one for each that may start at the same time
	logger      *slog.Logger
	host        hostLimits
	startLimit  time.Duration // the constant, but for tests

	measuring sync.Mutex
	least     int64 // see leastMemory; 0 when it isn't known yet

	// life ends with Close, and every run with it.
	life context.Context
	end  context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup

	bindings sync.WaitGroup

	closeAll func() error // once
}

// New finds the interpreter, tries what this machine can do to keep a program's
// processes together, and returns a Runtime. It starts the interpreter a few
// times, which takes some tenths of a second; ctx bounds only that.
func New(ctx context.Context, config Config) (*Runtime, error) {
	limits := config.Limits.inherit(DefaultLimits())
	if err := checkConfig(config, limits); err != nil {
		return nil, err
	}
	host := readHostLimits()
	if host.runsByFiles() < 1 {
		return nil, fmt.Errorf("thirdrail: this process may have only %d files open (RLIMIT_NOFILE, ulimit -n), too few for one run", host.files)
	}
	found, err := interpreter.Find(ctx, config.Python)
	if err != nil {
		return nil, fmt.Errorf("thirdrail: %w%s", err, host.hint())
	}
	return newOn(ctx, config, limits, found)
}

// newOn makes a Runtime of an interpreter that is found already. Tests choose
// among kinds of isolation.
func newOn(ctx context.Context, config Config, limits Limits, found *interpreter.Interpreter, among ...child.Isolation) (*Runtime, error) {
	host := readHostLimits()
	wrapper, err := config.Sandbox.findWrapper()
	if err != nil {
		return nil, err
	}
	folder, err := child.OpenFolder()
	if err != nil {
		return nil, fmt.Errorf("thirdrail: %w", err)
	}
	starter, err := child.NewStarter(ctx, found, startOptions(config.Sandbox, wrapper, among))
	if err != nil {
		err = wrapperFault(config.Sandbox.Wrapper, err)
		return nil, errors.Join(fmt.Errorf("thirdrail: %w%s", err, host.hint()), folder.Close())
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(context.Cause(ctx), starter.Close(), folder.Close())
	}
	places := config.MaxConcurrent
	if places == 0 {
		places = usualPlaces()
	}
	logger := config.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if most := host.runsByFiles(); int64(places) > most {
		logger.Warn("thirdrail: this process may have too few files open (RLIMIT_NOFILE) for so many runs at once",
			"limit", host.files, "asked", places, "runs", most)
		places = max(int(most), 1)
	}
	r := &Runtime{
		limits:      limits,
		sandbox:     config.Sandbox,
		numbers:     config.Numbers,
		interpreter: found,
		folder:      folder,
		starter:     starter,
		wrapper:     wrapper,
		places:      make(chan struct{}, places),
		starts:      make(chan struct{}, usualPlaces()),
		logger:      logger,
		host:        host,
		startLimit:  startLimit,
		start:       config.Start,
	}
	r.closeAll = sync.OnceValue(func() error {
		return errors.Join(r.nursery.close(), r.confinement.close(), r.starter.Close(), r.folder.Close())
	})
	r.life, r.end = context.WithCancelCause(context.Background())
	if config.Sandbox.Mode != SandboxOff {
		if err := r.newConfinement(ctx, config.Sandbox); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	if err := r.checkWrapper(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := r.checkHost(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := r.chooseStart(ctx, config); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// usualPlaces is how many runs go on at once unless Config.MaxConcurrent says another
// number, and how many start at once whatever it says: more would only make each other
// slow, until none is ready in time.
func usualPlaces() int { return 4 * goruntime.GOMAXPROCS(0) }

// startOptions says what children are started with for a sandbox. A wrapper makes
// its own mounts and network, which needs those of the host.
func startOptions(s Sandbox, wrapper []string, among []child.Isolation) child.Options {
	options := child.Options{Among: among, Wrapper: wrapper}
	if s.Mode != SandboxOff && len(wrapper) == 0 {
		options.Namespaces = child.Namespaces{Mounts: true, Network: !s.AllowNetwork}
	}
	return options
}

func checkConfig(config Config, limits Limits) error {
	if !supported {
		return ErrUnsupported
	}
	if config.MaxConcurrent < 0 {
		return misuse("Config.MaxConcurrent is %d; it must be more than zero, or zero for the default", config.MaxConcurrent)
	}
	if config.Numbers != lossless.Exact && config.Numbers != lossless.Double {
		return misuse("Config.Numbers is %v; use lossless.Exact or lossless.Double", config.Numbers)
	}
	if err := checkStart(config); err != nil {
		return err
	}
	return limits.check()
}

// checkStart refuses what means nothing.
func checkStart(config Config) error {
	switch config.Start {
	case StartAuto, StartFork, StartSpawn:
	default:
		return misuse("Config.Start is %v; use StartAuto, StartFork or StartSpawn", config.Start)
	}
	if config.Start == StartSpawn && len(config.Preload) > 0 {
		return misuse("Config.Preload needs the start method fork; leave it empty, and import in the program")
	}
	if config.Spares < 0 {
		return misuse("Config.Spares is %d; it must be more than zero, or zero for the default", config.Spares)
	}
	for _, module := range config.Preload {
		if !moduleName.MatchString(module) {
			return misuse("Config.Preload has %q; write the name of a module, such as numpy or os.path", module)
		}
	}
	return config.Sandbox.check()
}

// moduleName is what can be imported. Python's own rule has more letters.
var moduleName = regexp.MustCompile(`^[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*$`)

// chooseStart starts a nursery where one is wanted and works.
func (r *Runtime) chooseStart(ctx context.Context, config Config) error {
	if config.Start == StartSpawn {
		return nil
	}
	err := r.canFork()
	if err == nil {
		r.nursery, err = r.newNursery(ctx, config)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, child.ErrPreload):
		return misuse("Config.Preload: %w", err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case config.Start == StartFork || len(config.Preload) > 0:
		return fmt.Errorf("thirdrail: children can't be forked on this machine: %w; use StartSpawn, and no Preload", err)
	}
	r.logger.Info("thirdrail: children are spawned, since they can't be forked", "error", err)
	return nil
}

// canFork tells what a nursery lacks here, or nil.
func (r *Runtime) canFork() error {
	switch {
	case !r.starter.CanFork():
		return errors.New("a nursery needs a PID namespace for each child, see thirdrail doctor")
	case r.confinement != nil && !r.confinement.plan.HasRoot():
		return errors.New("a nursery needs mounts of its own, see thirdrail doctor")
	case r.confinement != nil && r.confinement.plan.CountsTogether():
		return errors.New("programs may start processes (AllowProcesses, AllowExec), which the kernel counts by user, and only root can give each child a user of its own")
	case !r.interpreter.Ctypes:
		return errors.New("a nursery needs Python's module _ctypes")
	}
	return nil
}

// Limits returns what a run inherits where its Request has zeros.
func (r *Runtime) Limits() Limits { return r.limits }

// Sandbox returns how programs are confined, as Config had it. Its slices are not to
// be changed.
func (r *Runtime) Sandbox() Sandbox { return r.sandbox }

// Close refuses new runs, aborts those in flight, and returns when every process
// is reaped and every goroutine has ended, functions that ignore their context
// included. It may be called more than once, and by several at once, but not by a
// function that a program called, which it would wait for.
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end(errors.New("the runtime was closed"))
	r.runs.Wait()
	r.bindings.Wait()
	return r.closeAll()
}

// enter counts a run in, unless the runtime is closed.
func (r *Runtime) enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.runs.Add(1)
	return nil
}
