package awari

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/awari/web"
	"grenier/cmd/grenier/cli"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/publish"
)

// publishFlags are the flags of publish as given.
type publishFlags struct {
	dir, out, address, progress string
	others                      othersFlag
	json                        bool
}

// published is the JSON of publish.
type published struct {
	*publish.Report
	Kept int `json:"kept"` // of the layers
	// Restarted names files of an earlier run that are not trusted, and says why.
	Restarted []string `json:"restarted,omitempty"`
	cli.Took
}

func (a *app) publish() *cobra.Command {
	var f publishFlags
	cmd := &cobra.Command{
		Use:   "publish --dir DIR --out SITE",
		Short: "Make a static site of the tables",
		Long: `Writes a static site to the directory SITE: the pages of "grenier awari serve"
with the layer files beside them. Any web server or object store that hands out
files and answers range requests can show it, in any folder; the pages read the
layer files in the browser, check their checksums, and compute values and best
lines there. Puzzles and positions worth seeing are searched for beforehand. A
page lists the files with sizes and SHA-256 for those who want a copy. See
docs/publish.md. With --address, links to the site show a picture wherever sites
show pictures of links. --also abapa=https://example.org/abapa/ has the pages
offer, before a game, the rules of another site.

Layer files, and those of distances, are copied, then all checksums of the
copies are compared. The same command goes on where one was interrupted: it
reads the files that are there, keeps the right ones and writes the others. It
also brings a site up to date that has fewer layers, or pages of an older
version of the program.

SITE must be empty, missing, or such a site of the same game and rules.
`,
		Example: `  grenier awari publish --dir data/awari --out site
  grenier awari publish --dir data/awari --out site --json --progress none
  rclone copy site remote:bucket/awari`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error { return a.runPublish(cmd.Context(), f) }),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	flags.Var((*cli.Directory)(&f.out), "out", "directory `SITE` to write")
	flags.StringVar(&f.address, "address", "", "`URL` of the folder where the site will be, such as https://example.org/awari/")
	flags.Var(&f.others, "also", othersUsage)
	cli.ProgressFlag(flags, &f.progress)
	flags.BoolVar(&f.json, "json", false, cli.JSONUsage)
	cli.Need(cmd, "out")
	return cmd
}

func (a *app) runPublish(ctx context.Context, f publishFlags) error {
	family, err := cli.Family()
	if err != nil {
		return err
	}
	if _, err := loadManifest(f.dir); err != nil {
		return err
	}
	if f.address != "" {
		if f.address, err = folder(f.address); err != nil {
			return cli.Usagef("--address %s: %w", cli.Quoted(f.address), err)
		}
	}
	shown, err := a.NewProgress(f.progress, f.json)
	if err != nil {
		return err
	}
	start := time.Now()
	a.Resume = "; what is done is kept, the same command continues"
	result := published{}
	o := publish.Options{
		Pages: web.Site(f.others...), Questions: web.Questions, Puzzles: web.Puzzles, Address: f.address,
		Job: job.Job{Family: family, Progress: shown.Show, Note: func(text string) {
			result.Restarted = append(result.Restarted, text)
			a.Telling(shown)(text)
		}},
		Done: func(l publish.Layer) {
			how := "written"
			if l.Kept {
				how = "there already"
				result.Kept++
			}
			if !f.json {
				shown.Pause(func() { fmt.Fprintf(a.Out, "%s: %s, %s\n", l.File, cli.Size(uint64(l.Bytes)), how) })
			}
		},
	}
	result.Report, err = publish.Run(ctx, f.dir, f.out, o)
	shown.Close()
	if err != nil {
		return err
	}
	result.Took = cli.TookSince(start)
	if f.json {
		return a.PrintJSON(result)
	}
	tables := cli.Count(len(result.Layers), "layer")
	if n := len(result.Distances); n > 0 {
		tables += " and " + cli.Count(n, "file") + " of distances"
	}
	a.Printf(2, "%s: %s, %d of them there already, and %s; %s (%.1f s)", f.out, tables,
		result.Kept, cli.Count(result.Files, "other file"), cli.Size(uint64(result.Bytes)), result.Seconds)
	return nil
}

// othersUsage is the help of --also.
const othersUsage = "link to pages by other rules, as `RULES=URL` of their folder; any number of times"

// othersFlag is --also.
type othersFlag []web.Other

func (f *othersFlag) String() string { return "" }
func (f *othersFlag) Type() string   { return "RULES=URL" }

func (f *othersFlag) Set(text string) error {
	name, address, _ := strings.Cut(text, "=")
	rules, err := awari.ParseRules(name)
	address, err2 := folder(address)
	if errors.Join(err, err2) != nil {
		return cli.Must("rules and the URL of the folder of their pages, such as abapa=https://example.org/abapa/")
	}
	*f = append(*f, web.Other{Rules: rules.String(), Address: address})
	return nil
}

// errFolder says what an address must be.
var errFolder = errors.New("must be the URL of a folder, such as https://example.org/awari/")

// folder returns the address of a folder with a slash at its end.
func folder(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return address, errFolder
	}
	return strings.TrimSuffix(u.String(), "/") + "/", nil
}
