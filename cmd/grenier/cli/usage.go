package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func init() { cobra.EnableCommandSorting = false } // commands are listed in the order of use

// Root makes cmd the root of all commands.
func Root(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetUsageFunc(printUsage)
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetHelpCommand(help())
	cmd.Version = Release
	cmd.Flags().Bool("version", false, "print version, commit and Go release")
	cmd.SetVersionTemplate(version() + "\n")
	Group(cmd, commands...)
	return cmd
}

// helpWidth is the width of help in characters.
const helpWidth = 80

// printUsage prints the end of every help text: usage, examples, commands and flags.
func printUsage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	} else {
		b.WriteString(Wrap("  "+cmd.UseLine(), helpWidth, 6) + "\n")
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s  %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help explains a command.\n", cmd.CommandPath())
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}

// Group makes cmd the parent of commands; by itself it only shows its help.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE, cmd.DisableFlagsInUseLine = subcommand, ShowHelp, true
	cmd.AddCommand(commands...)
	return cmd
}

// ShowHelp runs a command that only has a help text.
func ShowHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// NoArgs refuses arguments of a command that takes flags only.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q: %s takes flags only", args[0], cmd.Name())
	}
	return nil
}

// NeedArgs refuses fewer arguments than least and more than most; what describes them.
func NeedArgs(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s given, want %s", Count(len(args), "argument"), what)
		}
		return nil
	}
}

// subcommand refuses an argument that is no name of a command below cmd.
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
	return fmt.Errorf("unknown command %q%s: %s are possible", args[0], suggestion(args[0], names, ""), strings.Join(names, ", "))
}

// farthest is the number of edits up to which a name is taken for a mistyped one.
const farthest = 2

// suggestion returns a question about the name, with prefix before it, that is closest to a
// mistyped one; it is empty if none is close.
func suggestion(mistyped string, names []string, prefix string) string {
	mistyped = strings.ToLower(mistyped)
	best, edits := "", farthest+1
	for _, name := range names {
		n := levenshtein.ComputeDistance(mistyped, name)
		if letters(mistyped) == letters(name) {
			n = min(n, 1) // two of them have changed places
		}
		if n < edits && n < len(name) {
			best, edits = name, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s%s?)", prefix, best)
}

// letters returns the letters of a name in order.
func letters(name string) string {
	sorted := []byte(name)
	slices.Sort(sorted)
	return string(sorted)
}

// help returns the command that prints the help of another.
func help() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print the help of a command",
		Long:    "Prints the help of a command, as --help does.",
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
	"int": "a whole number", "uint64": "a whole number from 0 up", "bool": "true or false", "directory": "a name, no address", "file": "a name, no address",
	"duration": "a time like 10s", "float64": "a number", "intSlice": "whole numbers with commas between",
	"stringSlice": "names with commas between", "layers": "a number of seeds like 20, or two like 12..20",
}

// flagError returns the error about a flag that users see.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		// The flag is of a command whose name is unknown.
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
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return fmt.Errorf("%w%s", err, suggestion(unknown.GetSpecifiedName(), names, "--"))
	}
	return err
}

// Directory is the value of a flag that names a directory.
type Directory string

var errNoName = errors.New("no name")

func (d *Directory) String() string { return string(*d) }
func (d *Directory) Type() string   { return "directory" }

// Set refuses the empty name, and addresses, which tables.Open would take.
func (d *Directory) Set(name string) error {
	if name == "" || strings.Contains(name, "://") {
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

// ThreadsFlag adds --threads; what is the verb for what the processors do. The default is
// what the Go runtime uses: no more than the quota of a container allows.
func ThreadsFlag(flags *pflag.FlagSet, threads *int, what string) {
	flags.IntVar(threads, "threads", runtime.GOMAXPROCS(0), fmt.Sprintf("`number` of processors to %s, 1 to %d", what, MaxThreads))
}

// MaxThreads is the largest value of --threads: far more than is useful, and less than the
// 10,000 at which the Go runtime ends the process.
const MaxThreads = 1024

// CheckThreads refuses a value of --threads that is out of range.
func CheckThreads(n int) error {
	if n < 1 || n > MaxThreads {
		return Usagef("--threads %d: 1 to %d are possible", n, MaxThreads)
	}
	return nil
}

// CheckTime refuses a negative value of --time.
func CheckTime(d time.Duration) error {
	if d < 0 {
		return Usagef("--time %v: want a time like 10s, or 0 for no limit", d)
	}
	return nil
}
