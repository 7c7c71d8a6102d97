package thirdrail

import (
	"errors"
	"fmt"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Result is how a run ended, whatever the program did.
type Result struct {
	// Value is what the program returned. It is absent (not null) when it
	// returned nothing or failed.
	Value lossless.Value
	// Logs are the lines that the program printed, in order.
	Logs []string
	// Failure is why the run has no value; nil when the program succeeded.
	Failure *Failure
	// Stats are figures of the run.
	Stats Stats
}

// ErrNoValue is what Decode returns when the program succeeded without a value.
var ErrNoValue = errors.New("thirdrail: the program returned no value")

// Decode decodes the value into what v points to, without loss or not at all. It
// returns the failure if there is one, and ErrNoValue if there is no value.
func (r *Result) Decode(v any) error {
	if err := r.Err(); err != nil {
		return err
	}
	if !r.Value.Exists() {
		return ErrNoValue
	}
	return r.Value.Decode(v)
}

// Err returns the failure as an error, or nil.
func (r *Result) Err() error {
	if r.Failure == nil {
		return nil
	}
	return r.Failure
}

// Stats are figures of one run.
type Stats struct {
	// Start is how the child was started: "fork" or "spawn". It is empty when none was.
	Start string
	// Isolation is how its processes were kept together.
	Isolation string
	// Confinement names the mechanisms that were in force, each proven by the
	// child: MechanismLandlock and the like. Nil means that nothing was confined.
	Confinement []string
	// StartTime is from Run to the child being ready, waiting in line included.
	StartTime time.Duration
	// Wall is from sending the program to its end. It is zero when the program
	// was never sent, so that a caller knows that nothing happened.
	Wall time.Duration
	// CPU is the processor time of the whole child, its start included.
	CPU time.Duration
	// PeakMemory is the largest resident set of one of its processes, in bytes.
	PeakMemory int64
	// Calls is how many calls reached a function of the host.
	Calls int64
	// DroppedFrames is how many lines on descriptor 3 were no frame, or none that
	// was due.
	DroppedFrames int64
	// LogBytes is what the logs cost of their budget.
	LogBytes int64
}

// FailureKind says who or what ended a run. The set is closed.
type FailureKind string

// The kinds of failure.
const (
	// Exception is a program that raised, or that doesn't compile.
	Exception FailureKind = "exception"
	// Timeout is a run over its wall or CPU limit.
	Timeout FailureKind = "timeout"
	// Abort is a run whose context ended, or whose runtime was closed.
	Abort FailureKind = "abort"
	// WorkerExit is a child that died, or never came to life.
	WorkerExit FailureKind = "worker-exit"
	// InvalidOutput is a value that JSON can't carry exactly.
	InvalidOutput FailureKind = "invalid-output"
	// OutputLimit is a value over Limits.ValueBytes.
	OutputLimit FailureKind = "output-limit"
)

// String returns the kind as it is written.
func (k FailureKind) String() string { return string(k) }

// Failure is why a run has no value. It is an error; where a context ended the
// run, errors.Is finds that context's error in it.
type Failure struct {
	Kind FailureKind
	// Message is written for the model that wrote the program. It has at most
	// 32 KiB as a JSON string; a longer one is cut in its middle.
	Message string

	cause error
}

// Error returns the kind and the message.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Kind, f.Message) }

// Unwrap returns the error of the context that ended the run, if one did.
func (f *Failure) Unwrap() error { return f.cause }
