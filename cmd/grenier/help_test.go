package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/commands"
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

// TestHelp checks that every command explains itself, gives an example that
// names it, and tells its exit status, in both ways of asking.
func TestHelp(t *testing.T) {
	all := everyCommand()
	if len(all) < 11 {
		t.Errorf("only %d commands", len(all))
	}
	for _, cmd := range all {
		path := strings.Fields(cmd.CommandPath())[1:]
		text := mustRun(t, append(path, "--help")...)
		for _, part := range []string{cmd.Long, "Examples:\n", "EXIT STATUS\n", "\n  4    ", "Usage:\n", cmd.Example} {
			if part == "" || !strings.Contains(text, part) {
				t.Errorf("%s: help lacks %q", cmd.CommandPath(), part)
			}
		}
		if !strings.Contains(cmd.Example, cmd.CommandPath()+" ") {
			t.Errorf("%s: the example is of another command:\n%s", cmd.CommandPath(), cmd.Example)
		}
		if again := mustRun(t, append([]string{"help"}, path...)...); again != text {
			t.Errorf("%s: help and --help differ", cmd.CommandPath())
		}
	}
}

// TestHelpLines checks that help fits a terminal and has no tabs.
func TestHelpLines(t *testing.T) {
	for _, cmd := range everyCommand() {
		for line := range strings.Lines(mustRun(t, append(strings.Fields(cmd.CommandPath())[1:], "--help")...)) {
			if len([]rune(line)) > 110 || strings.Contains(line, "\t") {
				t.Errorf("%s: %q", cmd.CommandPath(), line)
			}
		}
	}
}
