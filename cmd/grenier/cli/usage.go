package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

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
	cmd.PersistentPreRunE = checkFlags
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
	printFlags(&b, cmd.LocalFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help explains a command.\n", cmd.CommandPath())
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}

// manyFlags is the number of flags from which on help lists them in groups.
const manyFlags = 12

// flagGroup is a group of flags in help.
type flagGroup struct {
	title string
	names []string
}

// flagGroups are all groups; flags that none names are of the first.
var flagGroups = []flagGroup{
	{"what", nil},
	{"room", []string{"memory", "threads", "force", "work", "layers-to", "disk", "calibration", "save-calibration"}},
	{"time", []string{"time", "until", "checkpoint", "restart"}},
	{"watching", []string{"progress", "quiet", "json", "log", "metrics", "metrics-file", "on-layer", "on-finish", "help"}},
}

// printFlags prints the flags of a command, many of them in groups.
func printFlags(b *strings.Builder, flags *pflag.FlagSet) {
	sets, shown := make([]pflag.FlagSet, len(flagGroups)), 0
	flags.VisitAll(func(f *pflag.Flag) {
		group := slices.IndexFunc(flagGroups, func(g flagGroup) bool { return slices.Contains(g.names, f.Name) })
		sets[max(group, 0)].AddFlag(f)
		if !f.Hidden {
			shown++
		}
	})
	if shown > 0 && shown < manyFlags {
		fmt.Fprintf(b, "\nFlags:\n%s", flags.FlagUsagesWrapped(helpWidth))
		return
	}
	for i := range sets {
		if usages := sets[i].FlagUsagesWrapped(helpWidth); usages != "" {
			fmt.Fprintf(b, "\nFlags, %s:\n%s", flagGroups[i].title, usages)
		}
	}
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
		return fmt.Errorf("unexpected argument %s: %s takes flags only", Quoted(args[0]), cmd.Name())
	}
	return nil
}

// NeedArgs refuses fewer arguments than least and more than most; what describes them.
func NeedArgs(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("expected %s, got %s", what, Count(len(args), "argument"))
		}
		return nil
	}
}

// subcommand refuses an argument that is no name of a command below cmd.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := namesOf(cmd)
	meant := suggestion(args[0], names, "")
	if meant == "" {
		meant = elsewhere(cmd, args)
	}
	return fmt.Errorf("unknown command %s: must be %s%s", Quoted(args[0]), Either(names), meant)
}

// namesOf returns the names of the commands below cmd.
func namesOf(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// elsewhere returns a question about a command on another level that args may mean.
func elsewhere(cmd *cobra.Command, args []string) string {
	if args[0] == "help" {
		return fmt.Sprintf(" (did you mean grenier help %s?)", strings.Join(append(strings.Fields(cmd.CommandPath())[1:], args[1:]...), " "))
	}
	for _, system := range append([]*cobra.Command{cmd.Root()}, cmd.Root().Commands()...) {
		if meant := suggestion(args[0], namesOf(system), system.CommandPath()+" "); meant != "" {
			return meant
		}
	}
	return ""
}

// synonyms are names that other programs have for flags of this one.
var synonyms = map[string][]string{
	"directory": {"dir"}, "path": {"dir"}, "file": {"out", "state"}, "jobs": {"threads"}, "cores": {"threads"}, "cpus": {"threads"}, "workers": {"threads"},
	"ram": {"memory"}, "port": {"addr"}, "host": {"addr"}, "listen": {"addr"}, "silent": {"quiet"}, "verbose": {"progress"}, "limit": {"count"}, "compress": {"codec"},
}

// farthest is the number of edits up to which a name is taken for a mistyped one.
const farthest = 2

// Suggestion returns a question about the name that is closest to a mistyped one, as the end of an error; it is empty if none
// is close.
func Suggestion(mistyped string, names []string) string { return suggestion(mistyped, names, "") }

// suggestion is Suggestion with prefix before the name.
func suggestion(mistyped string, names []string, prefix string) string {
	mistyped = strings.ToLower(mistyped)
	best, edits := "", farthest+1
	for _, name := range names {
		n := levenshtein.ComputeDistance(mistyped, name)
		if letters(mistyped) == letters(name) {
			n = min(n, 1) // two of them have changed places
		}
		if 2*n < len(name) && n < edits {
			best, edits = name, n
		}
	}
	for _, name := range names {
		begins := len(mistyped) > 2 && (strings.HasPrefix(name, mistyped) || len(name) > 2 && strings.HasPrefix(mistyped, name))
		if best == "" && (begins || slices.Contains(synonyms[mistyped], name)) {
			best = name
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

// wanted describes the values of flags by their type, for those that do not do it themselves.
var wanted = map[string]string{
	"int": "an integer", "uint64": "an integer from 0 up", "bool": "true or false", "float64": "a number",
	"intSlice": "integers separated by commas", "stringSlice": "names separated by commas",
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
		flag, cause := bad.GetFlag(), bad.Unwrap()
		if what, ok := wanted[flag.Value.Type()]; ok && !IsType[Must](cause) {
			cause = Must(what)
		}
		return fmt.Errorf("--%s %s: %w", flag.Name, Quoted(bad.GetValue()), cause)
	}
	if bad, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value", bad.GetFlag().Name)
	}
	if bad, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return fmt.Errorf("%s is not a flag", Quoted(bad.GetSpecifiedFlag()))
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" && strings.Contains("0123456789", short[:1]) {
			return fmt.Errorf("-%s is neither a flag nor an integer from 0 up", short)
		} else if short != "" {
			return fmt.Errorf("unknown flag -%s", name)
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return fmt.Errorf("unknown flag %s%s", Quoted("--"+name), suggestion(name, names, "--"))
	}
	return err
}

// ThreadsFlag adds --threads; what is the verb for what the processors do. The default is
// what the Go runtime uses: no more than the quota of a container allows.
func ThreadsFlag(flags *pflag.FlagSet, threads *int, what string) {
	IntVar(flags, threads, "threads", runtime.GOMAXPROCS(0), 1, MaxThreads, fmt.Sprintf("`number` of processors to %s, 1 to %d", what, MaxThreads))
}

// MaxThreads is the largest value of --threads: far more than is useful, and less than the
// 10,000 at which the Go runtime ends the process.
const MaxThreads = 1024
