package publish

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/dustin/go-humanize"

	"grenier/io/manifest"
)

// Pages of a site.
const (
	indexName    = "index.html"
	downloadName = "download.html"
)

// policy is what a page may do: nothing but use the files of the site.
const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'">`

// encodingLine is the line of a page behind which the policy stands.
const encodingLine = "<meta charset=\"utf-8\">\n"

var (
	pageLink = regexp.MustCompile(`href="(puzzles|explore|learn|layers|download)"`)
	navLine  = regexp.MustCompile(`(?m)^ *<a href="(?:puzzles|explore|learn|layers)" data-t>.*</a>\n`)
	homeLink = regexp.MustCompile(`href="\./`)
	script   = regexp.MustCompile(`<script type="module" src="([^"]+)"></script>\n`)
	imported = regexp.MustCompile(`(?m)^import (?:[^"]* from )?"\./([^"]+)";$`)
	footEnd  = regexp.MustCompile(`(?m)^ *</footer>$`)
)

// downloadLink leads to the page that only a site has. It stands at the end of the footer.
const downloadLink = "    <p><a href=\"download\" data-t>Download the tables</a></p>\n"

// pages writes the pages, index.html last.
func (p *publisher) pages(layers []Layer) error {
	names := slices.Sorted(maps.Keys(p.options.Pages))
	names = slices.DeleteFunc(names, func(name string) bool { return name == indexName })
	for _, name := range append(names, indexName) {
		data, err := p.page(name, layers)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := p.write(data, name); err != nil {
			return err
		}
	}
	return nil
}

// page returns a file of the pages as it is in the site.
func (p *publisher) page(name string, layers []Layer) (data []byte, err error) {
	data, ok := p.options.Pages[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if name == downloadName {
		if data, err = p.download(data, layers); err != nil {
			return nil, err
		}
	}
	if path.Ext(name) == ".html" {
		return p.adapt(data)
	}
	return data, nil
}

// adapt makes a page of the server one of a site: its links are names of files, those to pages
// that the site does not have are left out, and the policy, which the server sends as a header,
// is part of it.
func (p *publisher) adapt(page []byte) ([]byte, error) {
	place := footEnd.FindIndex(page)
	if place == nil || !bytes.Contains(page, []byte(encodingLine)) {
		return nil, fmt.Errorf("a page without %q or a footer", encodingLine)
	}
	if !bytes.Contains(page, []byte(downloadLink)) {
		page = slices.Insert(slices.Clone(page), place[0], []byte(downloadLink)...)
	}
	page = navLine.ReplaceAllFunc(page, func(line []byte) []byte {
		if _, ok := p.options.Pages[string(pageLink.FindSubmatch(line)[1])+".html"]; ok {
			return line
		}
		return nil
	})
	page = pageLink.ReplaceAll(page, []byte(`href="$1.html"`))
	page = p.preload(page)
	page = homeLink.ReplaceAll(page, []byte(`href="`+indexName))
	return bytes.Replace(page, []byte(encodingLine), []byte(encodingLine+"  "+policy+"\n"), 1), nil
}

// preload has all modules that the script of a page needs fetched at once: otherwise each is
// asked for when the one that imports it is there.
func (p *publisher) preload(page []byte) []byte {
	return script.ReplaceAllFunc(page, func(element []byte) []byte {
		names := []string{string(script.FindSubmatch(element)[1])}
		links := slices.Clone(element)
		for i := 0; i < len(names); i++ {
			for _, m := range imported.FindAllSubmatch(p.options.Pages[names[i]], -1) {
				if name := string(m[1]); !slices.Contains(names, name) {
					names = append(names, name)
					links = fmt.Appendf(links, "  <link rel=\"modulepreload\" href=\"%s\">\n", name)
				}
			}
		}
		return links
	})
}

// row is a layer on the page of downloads.
type row struct {
	Layer
	Positions, Size string
}

// download fills in the page that says what there is to fetch.
func (p *publisher) download(page []byte, layers []Layer) ([]byte, error) {
	t, err := template.New(downloadName).Parse(string(page))
	if err != nil {
		return nil, err
	}
	var total int64
	var rows []row
	for i, l := range layers {
		total += l.Bytes
		rows = append(rows, row{l, humanize.Comma(int64(p.manifest.Layers[i].Positions)), humanize.IBytes(uint64(l.Bytes))})
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Identity manifest.Identity
		Last     int
		Rows     []row
		Total    string
	}{p.manifest.Identity, len(layers) - 1, rows, humanize.IBytes(uint64(total))})
	return b.Bytes(), err
}
