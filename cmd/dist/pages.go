package main

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/commands"
	"grenier/io/vfs"
)

// completionFiles names the file of completions for each shell as the shell looks for it.
var completionFiles = map[string]string{
	"bash": "completions/bash/grenier", "zsh": "completions/zsh/_grenier", "fish": "completions/fish/grenier.fish",
	"powershell": "completions/powershell/grenier.ps1",
}

// generated returns the man pages of all commands, of that time, and completions.
func generated(at time.Time) (all []entry, err error) {
	root := commands.Root(&cli.App{})
	for _, shell := range cli.Shells {
		var text strings.Builder
		if err := cli.WriteCompletion(root, shell, &text); err != nil {
			return nil, err
		}
		all = append(all, entry{name: completionFiles[shell], data: []byte(text.String())})
	}
	return append(all, manPages(root, at)...), nil
}

// written returns the texts of the repository that users read: all of docs but the page about sources, and what
// stands beside. They lead to each other only.
func written(ctx context.Context) (all []entry, err error) {
	list, err := output(ctx, "git", "ls-files", "README.md", "CHANGELOG.md", "LICENSE", "docs", ":!docs/house.md")
	if err != nil {
		return nil, err
	}
	names := strings.Split(list, "\n")
	for _, name := range names {
		data, err := vfs.ReadFile(name, maxText)
		if err != nil {
			return nil, err
		}
		if path.Ext(name) == ".md" {
			data = []byte(alone(name, string(data), names))
		}
		all = append(all, entry{name: name, data: data})
	}
	return all, nil
}

var (
	forClones   = regexp.MustCompile(`(?s)<!-- clone -->\n.*?<!-- /clone -->\n`)
	forReleases = regexp.MustCompile(`(?s)<!-- release\n(.*?)-->\n`)
	link        = regexp.MustCompile(`(!?)\[([^]\n]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)`)
)

// alone returns a page as it is in a release, beside files of these names: without what is about a clone, with what a
// comment keeps for releases, and with the texts of links alone where these lead elsewhere.
func alone(page, text string, names []string) string {
	text = forReleases.ReplaceAllString(forClones.ReplaceAllString(text, ""), "$1")
	return link.ReplaceAllStringFunc(text, func(found string) string {
		parts := link.FindStringSubmatch(found)
		target := path.Join(path.Dir(page), parts[3])
		if slices.ContainsFunc(names, func(name string) bool { return name == target || strings.HasPrefix(name, target+"/") }) {
			return found
		}
		return parts[2]
	})
}
