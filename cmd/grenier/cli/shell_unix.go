//go:build unix

package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// alone puts a command into a process group of its own, so that Ctrl-C ends this program and
// not the command, which is told by a signal to the group.
func alone(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		if err := syscall.Kill(-c.Process.Pid, syscall.SIGTERM); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
}
