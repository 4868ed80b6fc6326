// Package publish makes a static site of solved layers: the pages of package serve with the
// layer files beside them, for any web server that hands out files. Nothing of this program
// runs there: the pages read the files and compute in the browser.
//
//	report, err := publish.Run(ctx, dir, out, publish.Options{Pages: web.Site()})
//
// What is in the directory out:
//
//	index.html, ...     the pages (pages.go), and download.html with what there is to fetch
//	index.fr.html, ...  what sites show of links to them in other languages (languages.go)
//	data/               answers that were prepared: charts, positions that were found
//	                    (find.go), and puzzles (puzzles.go)
//	tables/             layer files, distances, their manifest, and SHA256SUMS (layers.go): a run
//	                    directory that others can ask with --url, or copy
//	grenier-site.json   the list of our files (list.go)
//
// Layer files come first and are in the list as soon as they are complete, checked and on disk;
// so the same call resumes an interrupted one. The manifest names only layers that
// are there; index.html comes last. docs/publish.md describes a site for those who run one.
package publish

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"grenier/io/listed"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/pipeline/job"
	"grenier/pipeline/play/serve"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// Directories of a site.
const (
	TablesName = "tables"
	dataName   = "data"
)

// Files that are made, not given.
const (
	styleName   = "chart.css"
	iconName    = "icon.png"
	pictureName = "preview.png"
	chartsName  = "charts.json"
)

// ErrEmpty reports a run directory that has no solved layer.
var ErrEmpty = fault.New(fault.Usage, "no layer is solved: there is nothing to publish")

// Options say what is published and how.
type Options struct {
	// Of the job, Family decodes blocks, and Progress gets bytes of all layer files, twice, then the
	// searches as job.Items.
	job.Job
	// Pages are the files of the pages by name, index.html and the template download.html
	// among them.
	Pages map[string][]byte
	// Questions returns the searches that the pages ask for, if it is not nil.
	Questions func(layers []manifest.Layer) []Question
	// Puzzles is how many are drawn of each layer.
	Puzzles int
	// Address is where the site will be, for those who show links to it with a picture; it ends
	// with a slash. Without one pages name the picture relative to their own.
	Address string
	// Done is told of each file of a layer, if it is not nil.
	Done func(Layer)
}

// Layer is a file of a site, with the scores or the distances of a layer.
type Layer struct {
	File   string `json:"file"` // in the directory tables
	Seeds  int    `json:"seeds"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Kept says that the file was there already: it was read, and is right.
	Kept bool `json:"kept"`
}

// Report says what was published.
type Report struct {
	Directory string  `json:"directory"`
	Rules     string  `json:"rules"`
	Pits      int     `json:"pits"`
	Layers    []Layer `json:"layers"`
	Distances []Layer `json:"distances"` // of the layers that have some
	Files     int     `json:"files"`     // besides these
	Bytes     int64   `json:"bytes"`     // of all files
}

// Run makes the directory out a site with the layers of the run directory dir, or brings the
// site there up to date. It fails with ErrEmpty; with ErrForeign, without having changed
// anything, if out has something else in it; with a *rundir.RoomError; with an error that
// matches corrupt.ErrCorrupt if a layer is damaged, or with one of the operating system or
// of ctx.
func Run(ctx context.Context, dir, out string, o Options) (*Report, error) {
	t, m, err := open(ctx, dir, o.Family)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	p := &publisher{options: o, dir: dir, out: out, tables: t, manifest: m}
	defer p.close()
	if err := p.begin(); err != nil {
		return nil, err
	}
	report := &Report{Directory: out, Rules: m.Rules, Pits: m.Pits}
	if err := p.layers(ctx, report); err != nil {
		return nil, err
	}
	if err := p.listing(slices.Concat(report.Layers, report.Distances)); err != nil {
		return nil, err
	}
	if err := p.answers(); err != nil {
		return nil, err
	}
	p.prepare()
	if err := p.searches(ctx); err != nil {
		return nil, err
	}
	if err := p.puzzles(ctx); err != nil {
		return nil, err
	}
	if err := p.pages(report); err != nil {
		return nil, err
	}
	report.Files, report.Bytes = p.files, p.bytes
	for _, l := range slices.Concat(report.Layers, report.Distances) {
		report.Bytes += l.Bytes
	}
	return report, nil
}

// open opens the tables of a run directory, all as one manifest lists them.
func open(ctx context.Context, dir string, family cpu.Family) (*tables.Tables, *manifest.Manifest, error) {
	run, err := rundir.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	m, err := catalog.Manifest(run)
	if err != nil {
		return nil, nil, err
	}
	if len(m.Layers) == 0 {
		return nil, nil, fmt.Errorf("%s: %w", dir, ErrEmpty)
	}
	t, err := tables.Open(ctx, dir, catalog.Listed(m), tables.Kernel(family))
	return t, m, err
}

// publisher makes one site.
type publisher struct {
	options  Options
	dir, out string
	tables   *tables.Tables
	manifest *manifest.Manifest
	list     *listed.List // of the layer files
	site     vfs.Dir      // out, open
	copies   vfs.Dir      // and in it the directory of the layers
	data     vfs.Dir      // and the directory of answers
	prepared []string     // files in data that every visitor may want
	files    int          // written besides the layers
	bytes    int64        // of these

	// Of the answers to questions, and puzzles:
	questions    []Question
	since        time.Time // they are searched for
	done, expect float64   // seconds, as expected
}

// path returns the path of a file of the site.
func (p *publisher) path(names ...string) string {
	return filepath.Join(append([]string{p.out}, names...)...)
}

// write writes a small file in a directory of the site, unless it is there with these contents.
func (p *publisher) write(d vfs.Dir, name string, data []byte) error {
	p.files++
	p.bytes += int64(len(data))
	if there, err := vfs.Read(d, name, int64(len(data))); err == nil && string(there) == string(data) {
		return nil
	}
	return vfs.Write(d, name, data)
}

// answers writes what the pages would ask a server for and cannot compute.
func (p *publisher) answers() error {
	fixed, err := serve.NewFixed(p.tables)
	if err != nil {
		return err
	}
	for n, text := range fixed.Scores {
		if text == nil {
			continue // left out
		}
		if err := p.write(p.data, fmt.Sprintf("scores-%d.json", n), text); err != nil {
			return err
		}
	}
	if err := p.write(p.data, chartsName, fixed.Charts); err != nil {
		return err
	}
	p.prepared = append(p.prepared, chartsName)
	if err := p.write(p.site, styleName, fixed.Style); err != nil {
		return err
	}
	if err := p.write(p.site, iconName, fixed.Icon); err != nil {
		return err
	}
	for _, l := range append([]language{english}, p.languages()...) {
		png, err := p.picture(l)
		if err != nil {
			return err
		}
		if err := p.write(p.site, l.named(pictureName), png); err != nil {
			return err
		}
	}
	return nil
}
