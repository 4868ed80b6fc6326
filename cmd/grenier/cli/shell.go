package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// grace is the time that a command of the user gets to end when it is told to.
const grace = 2 * time.Second

// Shell runs a command line of the user in the shell of the system and waits for its end. Its
// output goes to out. It gets the environment of this process and the given additions to that,
// NAME=value. When ctx ends, it is told to end too, with all that it started where the system
// can (signal TERM), and killed after two seconds.
//
// It fails with the error of ctx, or with an *exec.ExitError, or if there is no shell.
func Shell(ctx context.Context, line string, environment []string, out io.Writer) error {
	name, arguments := "/bin/sh", []string{"-c", line}
	if runtime.GOOS == "windows" {
		name, arguments = "cmd", []string{"/C", line}
	}
	c := exec.CommandContext(ctx, name, arguments...)
	c.Env = slices.Concat(os.Environ(), environment)
	// A command that stays behind (CMD &) keeps the stream that this process has.
	c.Stdout, c.Stderr = bare(out), bare(out)
	c.WaitDelay = grace
	alone(c)
	err := c.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay): // it has ended, and something stays behind
		return nil
	}
	return err
}

// Environment turns names and values into strings for Shell: the name in capitals, behind
// GRENIER_.
func Environment(pairs ...any) []string {
	var all []string
	for i := 0; i+1 < len(pairs); i += 2 {
		value := strings.ReplaceAll(fmt.Sprint(pairs[i+1]), "\x00", "")
		all = append(all, fmt.Sprintf("GRENIER_%s=%s", strings.ToUpper(fmt.Sprint(pairs[i])), value))
	}
	return all
}
