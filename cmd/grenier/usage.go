package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grenier/io/vfs"
)

// noArgs refuses arguments of a command that takes flags only.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q: %s takes flags only", args[0], cmd.Name())
	}
	return nil
}

// needArgs refuses no arguments, and more than most; what describes them.
func needArgs(most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 || len(args) > most {
			return fmt.Errorf("%d arguments given, want %s", len(args), what)
		}
		return nil
	}
}

// subcommand refuses what is not the name of a command below cmd.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("unknown command %q: %s are possible", args[0], strings.Join(names, ", "))
}

// help returns the command that prints the help text of another.
func help() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print the help text of a command",
		Long:    "Prints the help text of a command, like --help.\n" + exitHelp,
		Example: "  grenier help awari solve",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err == nil && target.HasSubCommands() {
				err = subcommand(target, rest)
			}
			if err != nil {
				return err
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// wanted describes the values of flags by their type.
var wanted = map[string]string{
	"int": "a whole number", "uint64": "a whole number from 0 up", "bool": "true or false", "directory": "a name",
	"duration": "a time like 10s", "float64": "a number", "intSlice": "whole numbers with commas between",
	"stringSlice": "names with commas between",
}

// flagError words an error about a flag.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		// A flag of a command whose name was not understood.
		if unknown := subcommand(cmd, cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := bad.GetFlag()
		return fmt.Errorf("--%s %q: want %s", flag.Name, bad.GetValue(), wanted[flag.Value.Type()])
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if short := unknown.GetSpecifiedShortnames(); short != "" && strings.Contains("0123456789", short[:1]) {
			return fmt.Errorf(`"-%s" is neither a flag nor a number from 0 up`, short)
		}
	}
	return err
}

// directory is the value of a flag that names a directory.
type directory string

var errNoName = errors.New("no name")

func (d *directory) String() string { return string(*d) }
func (d *directory) Type() string   { return "directory" }

// Set refuses the empty name.
func (d *directory) Set(name string) error {
	if name == "" {
		return errNoName
	}
	*d = directory(name)
	return nil
}

// maxThreads is far beyond any use; the Go runtime ends the process when there
// are more than ten thousand threads.
const maxThreads = 1024

func checkThreads(n int) error {
	if n < 1 || n > maxThreads {
		return usageError{fmt.Errorf("--threads %d: 1 to %d are possible", n, maxThreads)}
	}
	return nil
}

// checkInterval refuses a time between checkpoints that is none.
func checkInterval(d time.Duration) error {
	if d <= 0 {
		return usageError{fmt.Errorf("--checkpoint %v: a time above 0 is wanted, like 1m or 30s", d)}
	}
	return nil
}

// checkFile tells before the work that a file cannot be written, if a path is given.
func checkFile(path string) error {
	if path == "" {
		return nil
	}
	return vfs.CheckFile(path)
}
