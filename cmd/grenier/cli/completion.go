package cli

import (
	_ "embed"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grenier/io/manifest"
	"grenier/io/rundir"
)

// Shells are the shells for which there are completions.
var Shells = []string{"bash", "zsh", "fish", "powershell"}

// CompletionCommand returns the command that prints completions.
func CompletionCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completions of a shell",
		Long: `Prints a script that makes a shell complete commands, flags and their values:
bash, zsh, fish or powershell. To use it in each new shell:

  grenier completion bash >~/.local/share/bash-completion/completions/grenier
  grenier completion zsh >DIR/_grenier, with a DIR in $fpath
  grenier completion fish >~/.config/fish/completions/grenier.fish
  grenier completion powershell >grenier.ps1, and call that in $PROFILE
`,
		Example:   "  source <(grenier completion bash)",
		ValidArgs: Shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(Shells, args[0]) {
				return fmt.Errorf("shell %s: must be %s", Quoted(strings.Join(args, " ")), Either(Shells))
			}
			return nil
		},
		RunE: a.Start(func(cmd *cobra.Command, args []string) error { return WriteCompletion(cmd.Root(), args[0], a.Out) }),
	}
}

// bash is the script for bash. That of cobra needs the package bash-completion.
//
//go:embed completion.bash
var bash string

// bareZsh loads the completion system of zsh, in shells whose user has not.
const bareZsh = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"

// WriteCompletion writes the completions of one of Shells for the program with the command
// root.
func WriteCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		_, err := io.WriteString(w, bash)
		return err
	case "zsh":
		var script strings.Builder
		if err := root.GenZshCompletion(&script); err != nil {
			return err
		}
		first, rest, _ := strings.Cut(script.String(), "\n") // the first line is for the system
		_, err := io.WriteString(w, first+"\n"+bareZsh+rest)
		return err
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return Usagef("shell %s: must be %s", Quoted(shell), Either(Shells))
}

// listed matches the end of the help of a flag with a fixed set of values: "lz4 or zstd".
var listed = regexp.MustCompile(`: ([\w+-]+(?:, [\w+-]+)* or [\w+-]+)$`)

// valuesOf returns the values that the help of a flag lists, nil if it lists none.
func valuesOf(flag *pflag.Flag) []string {
	found := listed.FindStringSubmatch(flag.Usage)
	if found == nil {
		return nil
	}
	return strings.Split(strings.Replace(found[1], " or ", ", ", 1), ", ")
}

// annotation is where Completes keeps the values of a flag.
const annotation = "values"

// Completes says which values shells complete a flag of cmd with whose help does not list them;
// without any, files.
func Completes(cmd *cobra.Command, name string, with ...string) {
	if err := cmd.Flags().SetAnnotation(name, annotation, with); err != nil {
		panic(err) // the flag has just been defined
	}
}

// complete sets for cmd and all commands below the completions of the values of flags, and of
// arguments: files only where they are wanted. All flags are listed, whether or not those that must be
// given are, and described without markup. Only a shell that asks needs that, and cobra keeps it for good.
func complete(cmd *cobra.Command) {
	if !cmd.HasParent() {
		cmd.InitDefaultHelpCmd()
	}
	cmd.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		delete(flag.Annotations, cobra.BashCompOneRequiredFlag)
		_, flag.Usage = pflag.UnquoteUsage(flag)
		f := completionOf(flag)
		if f == nil {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(flag.Name, f); err != nil {
			panic(err) // the flag is there, and has no function
		}
	})
	switch {
	case cmd.Name() == "help":
		cmd.ValidArgsFunction = commandNames
	case strings.Contains(cmd.Use, "FILE"):
		cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
}

// commandNames completes the names of the commands below the one that args name.
func commandNames(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	if parent, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
		for _, sub := range parent.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// layersThere completes the layers that are in the run directory of the command line.
func layersThere(cmd *cobra.Command, _ []string, _ string) (layers []cobra.Completion, _ cobra.ShellCompDirective) {
	if dir := cmd.Flag("dir"); dir != nil && dir.Value.String() != "" {
		if m, err := manifest.Load(filepath.Join(dir.Value.String(), rundir.ManifestName)); err == nil {
			for _, l := range m.Layers {
				layers = append(layers, cobra.CompletionWithDesc(strconv.Itoa(l.Seeds), Count(l.Positions, "position")))
			}
		}
	}
	return layers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completionOf returns the function that completes the value of a flag, nil if there is none.
func completionOf(flag *pflag.Flag) cobra.CompletionFunc {
	said, ok := flag.Annotations[annotation]
	switch values := valuesOf(flag); {
	case len(said) > 0:
		return cobra.FixedCompletions(said, cobra.ShellCompDirectiveNoFileComp)
	case ok:
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	case flag.Name == "layer":
		return layersThere
	case values != nil:
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder)
	case flag.Value.Type() == "directory":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case flag.Value.Type() == "file":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	return nil
}
