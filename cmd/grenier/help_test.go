package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/commands"
	"grenier/internal/testkit/should"
)

// everyCommand returns all commands.
func everyCommand() []*cobra.Command {
	root := commands.Root(&cli.App{})
	root.InitDefaultHelpCmd()
	return withAll(root)
}

// withAll returns cmd and all commands below.
func withAll(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		all = append(all, withAll(sub)...)
	}
	return all
}

// TestHelp checks that every command explains itself and gives an example that names it, in
// both ways of asking. The root explains exit statuses, others only their differences.
func TestHelp(t *testing.T) {
	all := everyCommand()
	should.Not(t, len(all) < 11, "only %d commands", len(all))
	for _, cmd := range all {
		path := strings.Fields(cmd.CommandPath())[1:]
		text := mustRun(t, append(path, "--help")...)
		for _, part := range []string{cmd.Long, "Examples:\n", "Usage:\n", cmd.Example} {
			if part == "" || !strings.Contains(text, part) {
				t.Errorf("%s: help lacks %q", cmd.CommandPath(), part)
			}
		}
		if all := strings.Contains(text, cli.ExitHelp); all != (len(path) == 0) {
			t.Errorf("%s: all exit statuses: %v", cmd.CommandPath(), all)
		}
		if !strings.Contains(cmd.Example, cmd.CommandPath()+" ") {
			t.Errorf("%s: the example is of another command:\n%s", cmd.CommandPath(), cmd.Example)
		}
		if again := mustRun(t, append([]string{"help"}, path...)...); again != text {
			t.Errorf("%s: help and --help differ", cmd.CommandPath())
		}
		checkHelpLines(t, cmd, text)
	}
}

// checkHelpLines checks that help fits a terminal, without tabs or gaps.
func checkHelpLines(t *testing.T, cmd *cobra.Command, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		isExample := strings.Contains(cmd.Example, line) // to be copied in one piece
		if len([]rune(line)) > 80 && !isExample || strings.Contains(line, "\t") {
			t.Errorf("%s: %q", cmd.CommandPath(), line)
		}
	}
	should.Not(t, strings.Contains(text, "\n\n\n") || strings.HasSuffix(text, "\n\n"), "%s: empty lines:\n%s", cmd.CommandPath(), text)
}
