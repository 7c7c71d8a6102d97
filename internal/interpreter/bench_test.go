package interpreter

import (
	"os/exec"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// BenchmarkFind compares a probe with a start of the same interpreter that does
// nothing, `python -I -c pass`, in the same run.
func BenchmarkFind(b *testing.B) {
	for _, path := range pythons.All(b) {
		found, err := Find(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(found.Version.String(), func(b *testing.B) {
			var bare time.Duration
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				if err := exec.Command(path, "-I", "-c", "pass").Run(); err != nil {
					b.Fatal(err)
				}
				bare += time.Since(start)
				b.StartTimer()
				if _, err := Find(b.Context(), path); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(bare), "x-bare-start")
		})
	}
}
