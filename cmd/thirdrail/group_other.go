//go:build unix && !linux

package main

// wait waits for the command to end, and kills what it left behind in its group.
func (g *processGroup) wait() error {
	err := g.command.Wait()
	g.end()
	return err
}
