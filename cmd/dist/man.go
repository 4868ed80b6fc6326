package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grenier/cmd/grenier/cli"
)

// manPages returns the man pages of cmd and all commands below, of that time.
func manPages(cmd *cobra.Command, at time.Time) []entry {
	all := []entry{{name: "man/man1/" + pageName(cmd) + ".1", data: []byte(manPage(cmd, at))}}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, manPages(sub, at)...)
		}
	}
	return all
}

// pageName returns the name of the man page of a command.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// whereDocs says where the documents are that help texts name.
const whereDocs = `Folder docs is beside folder man in a release. "make install" puts it into share/doc/grenier, beside share/man.`

// manPage returns the man page of a command, in the macros of man(7).
func manPage(cmd *cobra.Command, at time.Time) string {
	var p roff
	fmt.Fprintf(&p, ".TH \"%s\" \"1\" \"%s\" \"grenier %s\" \"Grenier\"\n", plain(strings.ToUpper(pageName(cmd))), at.Format("Jan 2006"), cli.Release)
	p.section("NAME", plain(pageName(cmd))+` \- `+plain(cmd.Short)+"\n")
	p.section("SYNOPSIS", `\fB`+plain(cmd.UseLine())+`\fP`+"\n")
	sections := sectionsOf(withStatuses(cmd.Long))
	p.section("DESCRIPTION", laidOut(sections[0].text))
	p.section("OPTIONS", options(cmd))
	for _, s := range sections[1:] {
		p.section(s.name, laidOut(s.text))
	}
	p.section("EXAMPLES", laidOut(cmd.Example))
	if strings.Contains(cmd.Long, "docs/") {
		p.section("FILES", laidOut(whereDocs))
	}
	p.section("SEE ALSO", seeAlso(cmd))
	return p.String()
}

// roff is a page that is written.
type roff struct{ strings.Builder }

func (p *roff) section(name, text string) {
	if text != "" {
		fmt.Fprintf(p, ".SH %s\n%s", name, text)
	}
}

// section is a part of help text.
type section struct{ name, text string }

// sectionsOf divides help text at its headings, lines of capitals. The first part has none.
func sectionsOf(text string) []section {
	all := []section{{}}
	for line := range strings.Lines(text) {
		if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(line, " ") && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ") == "" {
			all = append(all, section{name: name})
			continue
		}
		all[len(all)-1].text += line
	}
	return all
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

// laidOut returns help text for man: lines that begin with blanks stay as they are, others are paragraphs.
func laidOut(text string) string {
	var b strings.Builder
	fixed, gap := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimSpace(line) == "" {
			gap = b.Len() > 0
			continue
		}
		if now := strings.HasPrefix(line, "  "); now != fixed {
			b.WriteString(map[bool]string{true: ".sp\n.EX\n", false: ".EE\n.PP\n"}[now])
			fixed, gap = now, false
		} else if gap && fixed {
			b.WriteString("\n")
		} else if gap {
			b.WriteString(".PP\n")
		}
		gap = false
		b.WriteString(plain(line) + "\n")
	}
	if fixed {
		b.WriteString(".EE\n")
	}
	return b.String()
}

// options describes the flags of a command as its help does.
func options(cmd *cobra.Command) string {
	var b strings.Builder
	cmd.InitDefaultHelpFlag()
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(&b, `\fB\-%s\fP, `, f.Shorthand)
		}
		fmt.Fprintf(&b, `\fB\-\-%s\fP`, plain(f.Name))
		if value != "" {
			fmt.Fprintf(&b, ` \fI%s\fP`, plain(value))
		}
		fmt.Fprintf(&b, "\n%s%s\n", plain(usage), plain(defaultOf(f)))
	})
	return b.String()
}

// defaultOf returns what a page says about the default of a flag. That of --threads depends on the machine.
func defaultOf(f *pflag.Flag) string {
	switch {
	case f.Name == "threads":
		return " (default: all)"
	case slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue):
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// seeAlso names the pages of the commands above and below.
func seeAlso(cmd *cobra.Command) string {
	var names []string
	if cmd.HasParent() {
		names = append(names, pageName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, pageName(sub))
		}
	}
	text := ""
	for i, name := range names {
		text += ".BR " + plain(name) + " (1)" + map[bool]string{true: ",", false: ""}[i < len(names)-1] + "\n"
	}
	return text
}

// plain returns text that roff shows as it is.
func plain(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`").Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
