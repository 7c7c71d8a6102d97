//go:build unix

package child

import (
	"os"
	"strings"
	"sync"
)

// lastOutput reads what a nursery prints, and keeps the end of it for a message.
type lastOutput struct {
	mu      sync.Mutex
	text    []byte
	readers sync.WaitGroup
}

const keptOutput = 2 << 10

// read starts to read files. It ends with them.
func (o *lastOutput) read(files ...*os.File) {
	for _, file := range files {
		o.readers.Go(func() {
			piece := make([]byte, keptOutput)
			for {
				n, err := file.Read(piece)
				o.mu.Lock()
				o.text = append(o.text, piece[:n]...)
				o.text = o.text[max(len(o.text)-keptOutput, 0):]
				o.mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
}

// last returns the end of the text.
func (o *lastOutput) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(o.text), "\uFFFD"))
}

// wait returns when the files are at their end, or closed.
func (o *lastOutput) wait() { o.readers.Wait() }
