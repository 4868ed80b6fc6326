package cli

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grenier/io/vfs"
)

// Root makes cmd the root of all commands.
func Root(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetHelpCommand(help())
	cmd.Version = Release
	cmd.Flags().Bool("version", false, "print version, commit and Go release")
	cmd.SetVersionTemplate(version() + "\n")
	Group(cmd, commands...)
	complete(cmd)
	return cmd
}

// Group makes cmd the parent of commands, which does nothing itself but show its help.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE, cmd.DisableFlagsInUseLine = subcommand, ShowHelp, true
	cmd.AddCommand(commands...)
	return cmd
}

// ShowHelp is what a command does that only explains.
func ShowHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// NoArgs refuses arguments of a command that takes flags only.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q: %s takes flags only", args[0], cmd.Name())
	}
	return nil
}

// NeedArgs refuses no arguments, and more than most; what describes them.
func NeedArgs(most int, what string) cobra.PositionalArgs {
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
		Long:    "Prints the help text of a command, like --help.\n" + ExitHelp,
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
	"int": "a whole number", "uint64": "a whole number from 0 up", "bool": "true or false", "directory": "a name", "file": "a name",
	"duration": "a time like 10s", "float64": "a number", "intSlice": "whole numbers with commas between",
	"stringSlice": "names with commas between", "layers": "a number of seeds like 20, or two like 12..20",
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

// Directory is the value of a flag that names a directory.
type Directory string

var errNoName = errors.New("no name")

func (d *Directory) String() string { return string(*d) }
func (d *Directory) Type() string   { return "directory" }

// Set refuses the empty name.
func (d *Directory) Set(name string) error {
	if name == "" {
		return errNoName
	}
	*d = Directory(name)
	return nil
}

// File is the value of a flag that names a file.
type File string

func (f *File) String() string { return string(*f) }
func (f *File) Type() string   { return "file" }

// Set refuses the empty name.
func (f *File) Set(name string) error { return (*Directory)(f).Set(name) }

// Need marks flags of cmd that must be given.
func Need(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag has just been defined
		}
	}
}

// ThreadsFlag adds --threads; what says what the processors do. By default they are as many as
// the Go runtime uses: no more than the quota of a container allows.
func ThreadsFlag(flags *pflag.FlagSet, threads *int, what string) {
	flags.IntVar(threads, "threads", runtime.GOMAXPROCS(0), fmt.Sprintf("`number` of processors to %s, 1 to %d", what, MaxThreads))
}

// MaxThreads is far beyond any use; the Go runtime ends the process when there
// are more than ten thousand threads.
const MaxThreads = 1024

// CheckThreads refuses a number of threads that is not possible.
func CheckThreads(n int) error {
	if n < 1 || n > MaxThreads {
		return Usagef("--threads %d: 1 to %d are possible", n, MaxThreads)
	}
	return nil
}

// CheckTime refuses times that have gone by.
func CheckTime(d time.Duration) error {
	if d < 0 {
		return Usagef("--time %v: a time like 10s is wanted, or 0 for no limit", d)
	}
	return nil
}

// CheckFile tells before the work that a file cannot be written, if a path is given.
func CheckFile(path string) error {
	if path == "" {
		return nil
	}
	return vfs.CheckFile(path)
}
