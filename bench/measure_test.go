package bench

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// TestMeasure measures everything once, in a tiny size: that it works, never how
// fast. Each group must have given its lines.
func TestMeasure(t *testing.T) {
	if os.Getuid() != 0 && runtime.GOOS == "linux" {
		t.Log("not root: memory of confined runs can't be looked at")
	}
	told := map[string]int{}
	report, err := Measure(t.Context(), Options{
		Python: pythons.All(t)[0], Rounds: 1, Waiting: 2,
		Progress: func(what string, done, total int) {
			if done > total {
				t.Errorf("%s: %d of %d", what, done, total)
			}
			told[what]++
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, l := range report.Lines {
		lines[l.Group]++
		numbers := []float64{l.Ratio, l.Low, l.High, l.Value, l.Reference}
		if slices.ContainsFunc(numbers, func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }) || l.Reference <= 0 ||
			l.Low > l.Ratio || l.Ratio > l.High || l.What == "" || l.Against == "" || l.Unit == "" {
			t.Errorf("%+v", l)
		}
		if l.Group != "walls" && l.Ratio <= 0 { // what a wall costs is a difference
			t.Errorf("%+v", l)
		}
	}
	for _, name := range GroupNames() {
		if lines[name] == 0 && len(report.Missing) == 0 || told[name] == 0 && len(report.Missing) == 0 {
			t.Errorf("group %s has %d lines, and %d words of progress", name, lines[name], told[name])
		}
	}
	if m := report.Machine; m.Python == "" || m.Cores < 1 || m.Go == "" || report.Date.IsZero() {
		t.Errorf("%+v", m)
	}
	checkMarkdown(t, report)
	text, err := json.Marshal(report)
	if err != nil || !strings.Contains(string(text), `"ratio":`) {
		t.Errorf("as JSON: %v %s", err, text)
	}
}

// checkMarkdown looks for each line in the tables.
func checkMarkdown(t *testing.T, report *Report) {
	t.Helper()
	text := report.Markdown()
	for _, l := range report.Lines {
		if !strings.Contains(text, "| "+l.What+" | "+l.Against+" | **"+figure(l.Ratio)+"** |") {
			t.Errorf("the tables lack %q against %q:\n%s", l.What, l.Against, text)
		}
	}
}

func TestWrongOptions(t *testing.T) {
	for _, o := range []Options{{Rounds: -1}, {Waiting: -1}, {Groups: []string{"start", "luck"}}} {
		if report, err := Measure(t.Context(), o); report != nil || !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v, %v", o, report, err)
		}
	}
	if report, err := Measure(t.Context(), Options{Python: "/none/python3"}); report != nil || err == nil {
		t.Errorf("an interpreter that isn't there: %v, %v", report, err)
	}
}

// TestMeasureEnds has the context end while it measures.
func TestMeasureEnds(t *testing.T) {
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	report, err := Measure(ctx, Options{
		Python: pythons.All(t)[0], Groups: []string{"start"},
		Progress: func(string, int, int) { cancel(stop) },
	})
	if report != nil || !errors.Is(err, stop) {
		t.Errorf("got %v, %v", report, err)
	}
}

func TestSamples(t *testing.T) {
	s := samples{4, 1, 3, 2}
	for _, c := range []struct{ part, want float64 }{{0, 1}, {0.25, 2}, {0.5, 3}, {0.99, 4}, {1, 4}} {
		if got := s.at(c.part); got != c.want {
			t.Errorf("at(%v) is %v, want %v", c.part, got, c.want)
		}
	}
	if got := s.over(samples{2, 2, 1, 4}); !slices.Equal(got, samples{2, 0.5, 3, 0.5}) {
		t.Errorf("ratios %v", got)
	}
}

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{{0, "0.00"}, {1234.5, "1234"}, {56.78, "56.8"}, {1.234, "1.23"}, {0.5, "0.50"}, {-0.0123, "-0.0123"}} {
		if got := figure(c.f); got != c.want {
			t.Errorf("%v is %q, want %q", c.f, got, c.want)
		}
	}
}

// TestAlternate has every variant measured once a round, another one first each
// time, and the first round not counted.
func TestAlternate(t *testing.T) {
	s := &session{options: Options{Progress: func(string, int, int) {}}}
	var order []string
	named := func(name string) variant {
		return variant{name, func(context.Context) (float64, error) {
			order = append(order, name)
			return float64(len(order)), nil
		}}
	}
	figures, err := s.alternate(t.Context(), 2, []variant{named("a"), named("b")})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "abbaab" {
		t.Errorf("order %s", got)
	}
	if len(figures["a"]) != 2 || figures["a"][0] != 4 || figures["b"][1] != 6 {
		t.Errorf("figures %v", figures)
	}
	broken := errors.New("broken")
	if _, err := s.alternate(t.Context(), 1, []variant{{"c", func(context.Context) (float64, error) { return 0, broken }}}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
