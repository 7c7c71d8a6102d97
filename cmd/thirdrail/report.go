package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// A report prints how a run ended.
type report struct {
	stdout, stderr io.Writer
	json           bool // all in one object on stdout
}

// write prints a result, and returns a failure if the program failed or the
// result couldn't be printed.
func (r report) write(result *thirdrail.Result) error {
	text, err := r.text(result)
	if err == nil && len(text) > 0 {
		err = r.writeLine(text)
	}
	if err != nil {
		return failure{fmt.Errorf("the result can't be written to standard output: %w", err)}
	}
	switch {
	case result.Failure == nil:
		return nil
	case r.json:
		return failure{}
	}
	_, _ = fmt.Fprintf(r.stderr, "thirdrail: %s: %s\n", result.Failure.Kind, result.Failure.Message)
	return failure{}
}

func (r report) writeLine(text []byte) error {
	if _, err := r.stdout.Write(text); err != nil {
		return err
	}
	_, err := io.WriteString(r.stdout, "\n")
	return err
}

// text returns what belongs on stdout, without its newline.
func (r report) text(result *thirdrail.Result) ([]byte, error) {
	if !r.json {
		return result.Value.Bytes(), nil
	}
	object, err := lossless.Of(jsonResult(result))
	return object.Bytes(), err
}

// resultObject is what --json prints.
type resultObject struct {
	Value lossless.Value `json:"value,omitzero"`
	Logs  []string       `json:"logs"`
	Error *errorObject   `json:"error,omitempty"`
	Stats statsObject    `json:"stats"`
}

type errorObject struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

type statsObject struct {
	WallMs          float64 `json:"wallMs"`
	CPUMs           float64 `json:"cpuMs"`
	StartMs         float64 `json:"startMs"`
	PeakMemoryBytes int64   `json:"peakMemoryBytes"`
	Calls           int64   `json:"calls"`
	DroppedFrames   int64   `json:"droppedFrames"`
	LogBytes        int64   `json:"logBytes"`
	Start           string  `json:"start"`
	Isolation       string  `json:"isolation"`
	// Confinement are the mechanisms in force, absent when there were none.
	Confinement []string `json:"confinement,omitempty"`
}

func jsonResult(result *thirdrail.Result) resultObject {
	stats := result.Stats
	object := resultObject{
		Value: result.Value,
		Logs:  result.Logs,
		Stats: statsObject{
			WallMs:          milliseconds(stats.Wall),
			CPUMs:           milliseconds(stats.CPU),
			StartMs:         milliseconds(stats.StartTime),
			PeakMemoryBytes: stats.PeakMemory,
			Calls:           stats.Calls,
			DroppedFrames:   stats.DroppedFrames,
			LogBytes:        stats.LogBytes,
			Start:           stats.Start,
			Isolation:       stats.Isolation,
			Confinement:     stats.Confinement,
		},
	}
	if object.Logs == nil {
		object.Logs = []string{} // an empty array, not null
	}
	if result.Failure != nil {
		object.Error = &errorObject{result.Failure.Kind.String(), result.Failure.Message}
	}
	return object
}

// milliseconds returns a duration in milliseconds, to the microsecond.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}
