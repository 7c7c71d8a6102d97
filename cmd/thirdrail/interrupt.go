package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruptible returns a context that ends with the first signal that asks the
// command to end. The next such signal has its usual effect, so that a second
// Ctrl-C ends the command at once. The caller calls stop when the run is over.
//
// A hang-up counts unless it was ignored from the start, as nohup(1) does.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop = signal.NotifyContext(parent, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// surviveClosedOutput makes writes to a closed standard output or error return
// EPIPE. By itself Go ends the process there, and would leave a run's folder
// behind. Ignoring the signal would be inherited by tools; catching it isn't.
func surviveClosedOutput() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
