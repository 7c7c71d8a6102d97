//go:build unix && !linux

package group

// Wait waits for the command to end, and kills what it left behind in its group.
func (g *Group) Wait() error {
	err := g.Command.Wait()
	g.end()
	return err
}
