package bench

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/confine"
	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
)

// A Report is what was measured, where and when.
type Report struct {
	Date    time.Time `json:"date"`
	Machine Machine   `json:"machine"`
	// Rounds is how often each variant was measured.
	Rounds int `json:"rounds"`
	// ProcessorTime tells that starts, walls and the codec were measured by that.
	ProcessorTime bool   `json:"processorTime,omitempty"`
	Lines         []Line `json:"lines"`
	// Missing says what was not measured, and what this machine lacks for it.
	Missing []string `json:"missing,omitempty"`
}

// A Machine is what the figures depend on.
type Machine struct {
	Kernel    string `json:"kernel"`
	Processor string `json:"processor,omitempty"`
	Cores     int    `json:"cores"`
	Go        string `json:"go"`
	Python    string `json:"python"`
	// Walls are the mechanisms in force in a default run.
	Walls []string `json:"walls"`
}

// A Line is one ratio.
type Line struct {
	Group string `json:"group"`
	// What was measured, and Against what.
	What    string `json:"what"`
	Against string `json:"against"`
	// Ratio is the median of the ratios of all rounds. Half of them lie between Low
	// and High.
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Value and Reference are the medians of both sides, in Unit.
	Value     float64 `json:"value"`
	Reference float64 `json:"reference"`
	Unit      string  `json:"unit"`
	// Samples is how many ratios there were.
	Samples int `json:"samples"`
}

// Here returns this machine, with the interpreter that a name leads to as
// thirdrail.Config.Python does. Nothing runs, so Walls is empty.
func Here(ctx context.Context, python string) (Machine, error) {
	found, err := interpreter.Find(ctx, python)
	if err != nil {
		return Machine{}, fmt.Errorf("bench: %w", err)
	}
	return machineOf(found), nil
}

// String returns all but the walls in one line.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %s, %d cores, %s, Python %s", m.Kernel, orUnknown(m.Processor), m.Cores, m.Go, m.Python)
}

func machineOf(python *interpreter.Interpreter) Machine {
	return Machine{
		Kernel:    confine.Look().Kernel,
		Processor: processor(),
		Cores:     goruntime.NumCPU(),
		Go:        goruntime.Version() + " " + goruntime.GOOS + "/" + goruntime.GOARCH,
		Python:    python.Version.String(),
	}
}

// processor returns the model as /proc/cpuinfo has it, or "".
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	_, rest, _ := strings.Cut(string(text), "\nmodel name")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Trim(line, "\t: ")
}

// Markdown returns the report as tables, one for each group.
func (r *Report) Markdown() string {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "%s. %v. Walls of a default run: %s. %d rounds.\n",
		r.Date.Format("2 January 2006, 15:04 MST"), m, orUnknown(strings.Join(m.Walls, ", ")), r.Rounds)
	if r.ProcessorTime {
		b.WriteString("Starts, walls and the codec by processor time, not by the clock.\n")
	}
	for _, g := range groups {
		heading := false
		for _, l := range r.Lines {
			if l.Group != g.name {
				continue
			}
			if !heading {
				fmt.Fprintf(&b, "\n### %s\n\n| what | against | ratio | half lie in | of | median | of the reference |\n|---|---|---:|---:|---:|---:|---:|\n", g.title)
				heading = true
			}
			fmt.Fprintf(&b, "| %s | %s | **%s** | %s – %s | %d | %s %s | %s %s |\n", l.What, l.Against,
				figure(l.Ratio), figure(l.Low), figure(l.High), l.Samples, figure(l.Value), l.Unit, figure(l.Reference), l.Unit)
		}
	}
	if len(r.Missing) > 0 {
		b.WriteString("\nNot measured here:\n\n")
		for _, text := range r.Missing {
			fmt.Fprintf(&b, "- %s\n", text)
		}
	}
	return b.String()
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// figure returns three digits that mean something, and no exponent.
func figure(f float64) string {
	switch size := max(f, -f); {
	case size >= 100:
		return fmt.Sprintf("%.0f", f)
	case size >= 10:
		return fmt.Sprintf("%.1f", f)
	case size >= 0.1 || size == 0:
		return fmt.Sprintf("%.2f", f)
	default:
		return fmt.Sprintf("%.4f", f)
	}
}
