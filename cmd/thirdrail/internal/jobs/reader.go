package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/thirdrail-dev/thirdrail/internal/units"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

const (
	// MaxLineBytes is the longest line of a job. A child takes lines of 64 MiB, and
	// a program may grow to twice its size on the way.
	MaxLineBytes = 32 << 20
	// leading is how many lines may be no objects before any is one.
	leading = 100
)

// ErrNoJobs is a stream that begins with lines of which none is a JSON object: not
// jobs with a fault, but something else.
var ErrNoJobs = errors.New("these are no jobs")

// A Reader reads jobs from a stream, one line at a time.
type Reader struct {
	lines   *lines
	numbers lossless.Numbers
	ids     *IDs
	number  int64
	held    []Job // what Begin has read
	ending  error // what came behind them
}

// NewReader returns a Reader of the jobs in r. Data crosses under the number profile.
// The ids tell which jobs are done already, and take up those that are read.
func NewReader(r io.Reader, numbers lossless.Numbers, ids *IDs) *Reader {
	return &Reader{lines: newLines(r, MaxLineBytes), numbers: numbers, ids: ids}
}

// Begin reads up to the first line that is a JSON object. If there are 100 others
// before it, or only others, the stream isn't one of jobs, and the error wraps
// ErrNoJobs. An empty stream is one of no jobs.
func (r *Reader) Begin() error {
	for {
		job, err := r.read()
		if err != nil {
			r.ending = err
		} else {
			r.held = append(r.held, job)
		}
		switch {
		case err == nil && job.object:
			return nil
		case err != nil && err != io.EOF:
			return err
		case len(r.held) == leading, err == io.EOF && len(r.held) > 0:
			first := r.held[0]
			return fmt.Errorf("%w: line %d: %w", ErrNoJobs, first.Line, first.Fault)
		case err == io.EOF:
			return nil
		}
	}
}

// Next returns the next job, also for a line that is none: then it has a Fault. The
// error is io.EOF at the end, and otherwise the stream's own.
func (r *Reader) Next() (Job, error) {
	job, err := r.take()
	if err != nil {
		return Job{}, err
	}
	switch known := r.ids.read(key(job.ID, job.Line)); {
	case known == done:
		job.Done = true
	case known == again && job.ID.Exists():
		// Each id has one result, so this one goes out without.
		job.Fault = fmt.Errorf("the id %.80s was there before; give each job an id of its own", job.ID)
		job.ID = lossless.Value{}
		job.Done = r.ids.read(key(job.ID, job.Line)) == done
	}
	return job, nil
}

// take returns the next of the jobs that Begin has read, and then those behind.
func (r *Reader) take() (Job, error) {
	if len(r.held) > 0 {
		job := r.held[0]
		r.held = r.held[1:]
		return job, nil
	}
	if r.ending != nil {
		return Job{}, r.ending
	}
	return r.read()
}

// read reads the next line that isn't blank.
func (r *Reader) read() (Job, error) {
	size := int64(0)
	for {
		line, err := r.lines.next()
		if err != nil {
			return Job{}, err
		}
		r.number++
		size += line.size
		if r.number == 1 {
			line.text = bytes.TrimPrefix(line.text, []byte(byteOrderMark))
		}
		if line.blank() {
			continue
		}
		job := Job{Fault: fmt.Errorf("the line has more than %s; give the program less, or let it fetch its data through a --tool",
			units.FormatSize(int64(r.lines.max)))}
		if !line.long {
			job = Parse(line.text, r.numbers)
		}
		job.Line, job.Bytes = r.number, size
		return job, nil
	}
}
