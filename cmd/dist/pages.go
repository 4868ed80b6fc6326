package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/commands"
)

// completionFiles names the file of completions for each shell as the shell looks for it.
var completionFiles = map[string]string{
	"bash": "completions/bash/grenier", "zsh": "completions/zsh/_grenier", "fish": "completions/fish/grenier.fish",
	"powershell": "completions/powershell/grenier.ps1",
}

// documents returns the man pages of all commands, of that time or else of now, and completions.
func documents(at *time.Time) (all []entry, err error) {
	root := commands.Root(&cli.App{})
	for _, shell := range cli.Shells {
		var text bytes.Buffer
		if err := cli.WriteCompletion(root, shell, &text); err != nil {
			return nil, err
		}
		all = append(all, entry{name: completionFiles[shell], data: text.Bytes()})
	}
	root.DisableAutoGenTag = true
	pages, err := manPages(root, at)
	return append(all, pages...), err
}

// manPages returns the man pages of cmd and all commands below.
func manPages(cmd *cobra.Command, at *time.Time) (all []entry, err error) {
	forMan(cmd)
	var text bytes.Buffer
	header := doc.GenManHeader{Section: "1", Source: "grenier " + cli.Release, Manual: "Grenier", Date: at}
	if err := doc.GenMan(cmd, &header, &text); err != nil {
		return nil, err
	}
	all = []entry{{name: "man/man1/" + strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1", data: text.Bytes()}}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		pages, err := manPages(sub, at)
		if err != nil {
			return nil, err
		}
		all = append(all, pages...)
	}
	return all, nil
}

// forMan turns the help of cmd into Markdown, as package doc expects. Text that is laid out,
// which begins with blanks, stays so, and exit statuses have a section of their own. Defaults
// that depend on the machine are left out.
func forMan(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.Long = markdown(withStatuses(cmd.Long))
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		flag.Usage = escape(strings.ReplaceAll(flag.Usage, "`", ""))
		flag.DefValue = escape(flag.DefValue)
		if flag.Name == "threads" {
			flag.DefValue = "N"
		}
	})
}

// withStatuses adds the exit statuses that all commands have, which only the help of the root
// lists, to help text that may have some of its own.
func withStatuses(text string) string {
	const own = "\nEXIT STATUS\n"
	switch {
	case strings.Contains(text, cli.ExitHelp):
		return text
	case strings.Contains(text, own):
		return strings.Replace(text, own, cli.ExitHelp+"\n", 1)
	}
	return text + cli.ExitHelp
}

// markdown returns help text as Markdown.
func markdown(text string) string {
	var b strings.Builder
	laidOut := false
	for line := range strings.Lines(text + "\n") {
		switch was := laidOut; {
		case line == "EXIT STATUS\n":
			line = "# EXIT STATUS\n"
			laidOut = false
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "  "):
			laidOut = true
			if !was {
				b.WriteString("\n")
			}
			line = "    " + line
		default:
			laidOut = false
			if was {
				b.WriteString("\n")
			}
			line = escape(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// escape returns text as Markdown that shows it.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>|#", r) {
			fmt.Fprint(&b, "\\")
		}
		b.WriteRune(r)
	}
	return b.String()
}
