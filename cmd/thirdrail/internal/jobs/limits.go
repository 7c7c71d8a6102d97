package jobs

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/units"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// limitForm is the end of messages about a member of limits.
const limitForm = `its members are wall, cpu, memory, logBytes, valueBytes, frameBytes, callsInFlight, processes and diskBytes`

// limitNames are the library's names for what a job sets by a member of limits.
var limitNames = strings.NewReplacer(
	"thirdrail: misuse: ", "",
	"Limits.Wall", "limits.wall",
	"Limits.CPU", "limits.cpu",
	"Limits.Memory", "limits.memory",
	"Limits.LogBytes", "limits.logBytes",
	"Limits.ValueBytes", "limits.valueBytes",
	"Limits.FrameBytes", "limits.frameBytes",
	"Limits.CallsInFlight", "limits.callsInFlight",
	"Limits.Processes", "limits.processes",
	"Limits.DiskBytes", "limits.diskBytes",
	"with FrameBytes", "with frameBytes",
	"Request.Data", `"data"`,
	"Request.Program", `"program"`,
)

// Refused says in the words of a job line why the library refused to run it.
func Refused(err error) error { return errors.New(limitNames.Replace(err.Error())) }

// parseLimits reads a job's own limits.
func parseLimits(m lossless.Member) (limits thirdrail.Limits, err error) {
	if kind := kindOf(m); kind != lossless.KindObject {
		return limits, fmt.Errorf(`its "limits" is %s; write an object, as {"wall": "10s", "memory": "256MiB"}`, article(kind))
	}
	// Their numbers are no data: they have their own digits.
	_ = lossless.Members(m.Text, lossless.Exact, func(m lossless.Member) error {
		if wrong := setLimit(&limits, m); wrong != nil && err == nil {
			err = fmt.Errorf("limits.%.80s: %w", m.Name, wrong)
		}
		return nil
	})
	return limits, err
}

// setLimit reads one limit, by the rules of the flags.
func setLimit(limits *thirdrail.Limits, m lossless.Member) error {
	text := string(m.Text)
	switch value := m.Value(); value.Kind() {
	case lossless.KindString:
		var err error
		if text, err = value.Text(); err != nil {
			return errors.New(reason(err))
		}
	case lossless.KindNumber, lossless.KindAbsent:
	default:
		return fmt.Errorf("%s is no limit; write a string as \"10s\" or \"64MiB\", or a number", article(value.Kind()))
	}
	switch m.Name {
	case "wall":
		return setDuration(&limits.Wall, text)
	case "cpu":
		return setDuration(&limits.CPU, text)
	case "memory":
		return setSize(&limits.Memory, text)
	case "logBytes":
		return setSize(&limits.LogBytes, text)
	case "valueBytes":
		return setSize(&limits.ValueBytes, text)
	case "frameBytes":
		return setSize(&limits.FrameBytes, text)
	case "diskBytes":
		return setSize(&limits.DiskBytes, text)
	case "callsInFlight":
		return setCount(&limits.CallsInFlight, m.Value())
	case "processes":
		return setCount(&limits.Processes, m.Value())
	}
	return errors.New("there is no such limit; " + limitForm)
}

func setDuration(target *time.Duration, text string) error {
	return (*units.Duration)(target).Set(text)
}

func setSize(target *int64, text string) error { return (*units.Size)(target).Set(text) }

func setCount(target *int, value lossless.Value) error {
	count, err := value.Int64()
	if err != nil || count < 1 || count > math.MaxInt32 {
		return errors.New("it must be a whole number from 1 on")
	}
	*target = int(count)
	return nil
}
