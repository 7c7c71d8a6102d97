package group

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Wait waits for the command to end, kills what it left behind in its group, and
// returns as the command's own Wait does. The kill comes before the leader is
// reaped, while the group's number can't be anyone else's.
func (g *Group) Wait() error {
	for {
		err := unix.Waitid(unix.P_PID, g.Command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	g.end()
	return g.Command.Wait()
}
