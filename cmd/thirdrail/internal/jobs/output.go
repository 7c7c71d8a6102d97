package jobs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxResultBytes is the longest line that is read as a result.
const maxResultBytes = 256 << 20

// An Output is where results go. Each is written in one call, so that an end at any
// moment leaves at most one half line.
type Output struct {
	w    io.Writer
	file *os.File // nil for a stream
	path string
	ids  IDs

	retry   bool
	made    bool  // by OpenOutput
	regular bool  // not a device or a pipe
	began   bool  // what was there may be changed
	whole   int64 // up to where there are whole lines
	half    bool  // a half line follows
	bare    bool  // a whole one without its newline follows
}

// NewOutput returns an Output that writes to a stream.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// OutputOptions say what may be in a file already.
type OutputOptions struct {
	// Resume takes a file with results, and keeps them.
	Resume bool
	// RetryFailed drops those that are errors, so that their jobs run again.
	RetryFailed bool
}

// OpenOutput opens a file for results. It refuses one that another batch writes, one
// that isn't empty unless it is to be resumed, and one that has anything else in it
// than results. Nothing is changed before Begin.
func OpenOutput(path string, options OutputOptions) (*Output, error) {
	if full, err := filepath.EvalSymlinks(path); err == nil {
		path = full // what is renamed must be the file, not the link to it
	}
	o := &Output{path: path, retry: options.RetryFailed}
	if err := o.open(options.Resume); err != nil {
		return nil, err
	}
	if !o.regular {
		return o, nil
	}
	err := o.check(options.Resume)
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// open opens or makes the file. What isn't a regular file has no past to read.
func (o *Output) open(resume bool) error {
	info, err := os.Stat(o.path)
	o.regular = err != nil || info.Mode().IsRegular()
	flags := os.O_RDWR | os.O_APPEND
	switch {
	case err != nil: // nobody else's, if it can be made
		o.made = true
		flags |= os.O_CREATE | os.O_EXCL
	case o.regular:
	case resume:
		return fmt.Errorf("the output %q is no regular file, so there is nothing to resume; leave --resume out", o.path)
	default:
		flags = os.O_WRONLY
	}
	if o.file, err = os.OpenFile(o.path, flags, 0o666); err != nil {
		var reason *fs.PathError
		if errors.As(err, &reason) {
			err = reason.Err
		}
		return fmt.Errorf("the output %q can't be opened: %w; give the path of a file that you may write", o.path, err)
	}
	o.w = o.file
	return nil
}

// check looks at what is in the file.
func (o *Output) check(resume bool) error {
	if err := lock(o.file); err != nil {
		return fmt.Errorf("the output %q can't be locked: %w; another batch may be writing it: give each its own", o.path, err)
	}
	info, err := o.file.Stat()
	if err != nil {
		return fmt.Errorf("the output %q can't be read: %w", o.path, err)
	}
	if info.Size() > 0 && !resume {
		return fmt.Errorf("the output %q isn't empty; write --resume to go on where it ends, or give another file", o.path)
	}
	return o.each(func(_ []byte, w written) error {
		if w.failed && o.retry {
			return nil
		}
		if o.ids.done(key(w.id, w.line)) != nil {
			return fmt.Errorf("the output %q has more than %d results, too many to resume; give another file and the jobs that are left", o.path, MaxIDs)
		}
		return nil
	})
}

// each visits the results in the file, and finds where the whole lines end.
func (o *Output) each(visit func(text []byte, w written) error) error {
	if _, err := o.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("the output %q can't be read: %w", o.path, err)
	}
	o.whole, o.half, o.bare = 0, false, false
	lines := newLines(o.file, maxResultBytes)
	for number := 1; ; number++ {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the output %q can't be read: %w", o.path, err)
		}
		w, err := parseResult(line.text)
		switch {
		case err == nil:
			if err := visit(line.text, w); err != nil {
				return err
			}
			o.bare = !line.whole
			o.whole += line.size
		case !line.whole && half(string(line.text)):
			o.half = true
		default:
			return fmt.Errorf("the output %q has a line %d that is no result: %w; give another file", o.path, number, err)
		}
	}
}

// IDs are the ids of the results that are there, for the reader of the jobs.
func (o *Output) IDs() *IDs { return &o.ids }

// Begin mends the end of the file, and drops results that are to be had again.
func (o *Output) Begin() error {
	o.began = true
	if !o.regular {
		return nil
	}
	err := error(nil)
	switch {
	case o.retry:
		err = o.rewrite()
	case o.half:
		err = o.file.Truncate(o.whole)
	case o.bare:
		_, err = o.file.WriteString("\n")
	}
	if err != nil {
		return fmt.Errorf("the output %q can't be mended: %w", o.path, err)
	}
	return nil
}

// rewrite puts a file with the results that are no errors in the place of the old
// one, which stays as it is until then.
func (o *Output) rewrite() (err error) {
	info, err := o.file.Stat()
	if err != nil {
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(o.path), filepath.Base(o.path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, fresh.Close(), os.Remove(fresh.Name()))
		}
	}()
	err = errors.Join(fresh.Chmod(info.Mode().Perm()), lock(fresh))
	if err != nil {
		return err
	}
	err = o.each(func(text []byte, w written) error {
		if w.failed {
			return nil
		}
		_, err := fresh.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	if err = fresh.Sync(); err != nil {
		return err
	}
	if err = os.Rename(fresh.Name(), o.path); err != nil {
		return err
	}
	old := o.file
	o.file, o.w = fresh, fresh
	return old.Close()
}

// Write writes one line.
func (o *Output) Write(line []byte) error {
	_, err := o.w.Write(line)
	if err != nil && o.file != nil {
		return fmt.Errorf("the results can't be written to %q: %w", o.path, withoutPath(err))
	}
	if err != nil {
		return fmt.Errorf("the results can't be written to standard output: %w", err)
	}
	return nil
}

func withoutPath(err error) error {
	var reason *fs.PathError
	if errors.As(err, &reason) {
		return reason.Err
	}
	return err
}

// Close brings all to the disk. Without Begin the file is as if it was never opened.
func (o *Output) Close() error {
	if o.file == nil {
		return nil
	}
	var err error
	switch {
	case o.began && o.regular:
		err = o.file.Sync()
	case o.made:
		err = os.Remove(o.path)
	}
	if err = errors.Join(err, o.file.Close()); err != nil {
		return fmt.Errorf("the output %q can't be closed: %w", o.path, withoutPath(err))
	}
	return nil
}
