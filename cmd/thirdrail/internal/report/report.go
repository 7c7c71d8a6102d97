// Package report is how a run ended, as the command prints it in JSON.
package report

import (
	"math"
	"time"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Report is a result as JSON. Its members are promised to users of the command.
type Report struct {
	Value lossless.Value `json:"value,omitzero"`
	Logs  []string       `json:"logs"`
	Error *Error         `json:"error,omitempty"`
	Stats Stats          `json:"stats"`
}

// Error is why there is no value.
type Error struct {
	// Kind is that of the failure, or the command's own.
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// Stats are the figures of the run.
type Stats struct {
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

// Of returns the report of a result.
func Of(result *thirdrail.Result) Report {
	stats := result.Stats
	object := Report{
		Value: result.Value,
		Logs:  result.Logs,
		Stats: Stats{
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
		object.Error = &Error{Kind: result.Failure.Kind.String(), Message: result.Failure.Message}
	}
	return object
}

// milliseconds returns a duration in milliseconds, to the microsecond.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}
