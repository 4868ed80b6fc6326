//go:build !unix

package cli

import "os/exec"

// alone does nothing: there are no process groups, and a command that is to end is killed.
func alone(*exec.Cmd) {}
