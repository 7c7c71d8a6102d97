package lossless

import (
	"fmt"
	"sync"
	"testing"
)

// TestConcurrentUse shares Values, pools and caches among goroutines: each must
// see what it would see alone.
func TestConcurrentUse(t *testing.T) {
	const workers = 8
	shared := parse(t, sample)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := range 200 {
				own := fmt.Sprintf(`{"worker%d":%d,"list":[{"a":1,"b":2},{"a":3,"b":4}],"in":{"\u0061":%d}}`, w, i, w)
				v, err := Parse([]byte(own), Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if n, err := v.Get("in").Get("a").Int64(); n != int64(w) || err != nil {
					t.Errorf("worker %d reads %d, %v", w, n, err)
				}
				if _, err := Check([]byte(own[:len(own)-1]+`,"list":1}`), Options{}); err == nil {
					t.Errorf("worker %d has no error for a repeated name", w)
				}
				names := ""
				if err := Members(v.Bytes(), Double, func(m Member) error { names += m.Name + " "; return nil }); err != nil || names != fmt.Sprintf("worker%d list in ", w) {
					t.Errorf("worker %d has members %s, %v", w, names, err)
				}
				if got, err := shared.At("/rows/1/n"); got.String() != "2.5" || err != nil {
					t.Errorf("worker %d reads %s, %v", w, got, err)
				}
				var e everything
				out, err := Of(everything{I: int64(i), M: map[string]float64{"x": float64(w)}})
				if err != nil || out.Decode(&e) != nil || e.I != int64(i) || e.M["x"] != float64(w) {
					t.Errorf("worker %d: %s, %v came back as %+v", w, out, err, e)
				}
			}
		})
	}
	wait.Wait()
}
