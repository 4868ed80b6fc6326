package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/commands"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// documents returns the texts that describe the program by path, README.md first.
func documents(t *testing.T) (paths []string, texts map[string]string) {
	paths = []string{"../../README.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/python/*.md", "../../docs/format/*.md"} {
		found, err := filepath.Glob(pattern)
		must.Not(t, err != nil || len(found) == 0, "%s: %d files, %v", pattern, len(found), err)
		paths = append(paths, found...)
	}
	texts = map[string]string{}
	for _, path := range paths {
		texts[path] = string(must.Read(t, path))
	}
	return paths, texts
}

// TestCommandsWithoutJSON: docs/commands.md names the commands that have no --json, and no other.
func TestCommandsWithoutJSON(t *testing.T) {
	_, texts := documents(t)
	_, sentence, _ := strings.Cut(texts["../../docs/commands.md"], "All have `--json`")
	sentence, _, _ = strings.Cut(sentence, ".")
	var want []string
	for _, cmd := range everyCommand() {
		if !cmd.HasSubCommands() && cmd.Flags().Lookup("json") == nil {
			want = append(want, strings.TrimPrefix(cmd.CommandPath(), "grenier "))
		}
	}
	var got []string
	for _, found := range regexp.MustCompile("`([a-z ]+)`").FindAllStringSubmatch(sentence, -1) {
		got = append(got, found[1])
	}
	should.List(t, slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)), "commands without --json")
}

// named matches links, and paths of this tree between backquotes.
var named = regexp.MustCompile("\\]\\(([^)#:]+)[^)]*\\)|`((?:cmd|docs|io|kernels|layers|pipeline)/[\\w./-]+)`")

// TestLinks: the targets of links in documents, and the paths that they name, are there. README.md has links to all documents.
func TestLinks(t *testing.T) {
	paths, texts := documents(t)
	checked := 0
	for i, path := range paths {
		should.Hold(t, i == 0 || strings.Contains(texts[paths[0]], "]("+strings.TrimPrefix(path, "../../")+")"), "README.md has no link to %s", path)
		for _, match := range named.FindAllStringSubmatch(texts[path], -1) {
			target := filepath.Join(filepath.Dir(path), match[1])
			if match[1] == "" {
				target = filepath.Join("../..", match[2])
			}
			if match[1] == "http" || match[1] == "https" || strings.Contains(target, "NAME") {
				continue
			}
			checked++
			should.Hold(t, exists(target), "%s names %s", filepath.Base(path), target)
		}
	}
	should.Not(t, checked < 50, "only %d links were found", checked)
}

func everyCommand() []*cobra.Command {
	root := commands.Root(&cli.App{})
	root.InitDefaultHelpCmd()
	return withAll(root)
}

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
		should.Not(t, cmd.Long == "", "%s explains nothing", cmd.CommandPath())
		should.Has(t, text, cmd.Long, "Examples:\n", "Usage:\n", cmd.Example)
		should.Equal(t, strings.Contains(text, cli.ExitHelp), len(path) == 0, "%s: all exit statuses", cmd.CommandPath())
		should.Has(t, cmd.Example, cmd.CommandPath()+" ")
		should.Equal(t, mustRun(t, append([]string{"help"}, path...)...), text, "%s: help and --help differ", cmd.CommandPath())
		checkHelpLines(t, cmd, text)
	}
}

// checkHelpLines checks that help fits a terminal, without tabs or gaps.
func checkHelpLines(t *testing.T, cmd *cobra.Command, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		isExample := strings.Contains(cmd.Example, line) // to be copied in one piece
		should.Not(t, len([]rune(line)) > 80 && !isExample || strings.Contains(line, "\t"), "%s: %q", cmd.CommandPath(), line)
	}
	should.Not(t, strings.Contains(text, "\n\n\n") || strings.HasSuffix(text, "\n\n"), "%s: empty lines:\n%s", cmd.CommandPath(), text)
}
