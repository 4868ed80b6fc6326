package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/dustin/go-humanize"

	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/play/serve"
)

// Pages of a site, and the script that keeps its files for times without the network.
const (
	indexName    = "index.html"
	downloadName = "download.html"
	workerName   = "sw.js"
	// readerName is the module that reads tables, for pages of others.
	readerName = "awari.js"
)

// filesLine is where that script has the names of the files.
const filesLine = `["files of the site"]`

// wholeLayer is how many bytes a layer file may have that the pages read as a whole.
const wholeLayer = 65536

// policy allows a page to use the files of the site, and nothing else.
const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'">`

// encodingLine is the line of a page behind which the policy stands.
const encodingLine = "<meta charset=\"utf-8\">\n"

var (
	pageLink = regexp.MustCompile(`href="(puzzles|explore|learn|layers|download)"`)
	navLine  = regexp.MustCompile(`(?m)^ *<a href="(?:puzzles|explore|learn|layers)" data-t>.*</a>\n`)
	homeLink = regexp.MustCompile(`href="\./`)
	script   = regexp.MustCompile(`<script type="module" src="([^"]+)"></script>\n`)
	titled   = regexp.MustCompile(`<title[^>]*>(.*)</title>`)
	about    = regexp.MustCompile(`<meta name="description" content="([^"]*)"`)
	footEnd  = regexp.MustCompile(`(?m)^ *</footer>$`)
)

// early has the list of layers fetched while the script that asks for it is on its way.
const early = "<link rel=\"preload\" href=\"" + TablesName + "/" + rundir.ManifestName + "\" as=\"fetch\" crossorigin>\n"

// asking is the module of pages that ask for the list of layers.
const asking = "api.js"

// downloadLink leads to the page that only a site has. It stands at the end of the footer.
const downloadLink = "    <p><a href=\"download\" data-t>Download the tables</a></p>\n"

// scriptName is the script of all pages (bundle.go).
const scriptName = "pages.js"

// pages writes the pages, index.html last, and their script.
func (p *publisher) pages(report *Report) error {
	scripts, err := p.scripts()
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(p.options.Pages))
	names = slices.DeleteFunc(append(names, scriptName), func(name string) bool {
		return name == indexName || path.Ext(name) == ".js" && scripts[name] == nil && name != workerName && name != enterName
	})
	for _, name := range append(names, indexName) {
		data := scripts[name]
		if data == nil {
			if data, err = p.page(name, report); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if name == workerName {
			if data, err = p.worker(data, names, report.Layers); err != nil {
				return err
			}
		}
		if path.Ext(name) == ".html" {
			if err := p.writeForms(name); err != nil {
				return err
			}
		}
		if err := p.write(p.site, name, data); err != nil {
			return err
		}
	}
	return nil
}

// scripts returns the script of all pages, and the module for pages of others, with all that they import.
func (p *publisher) scripts() (map[string][]byte, error) {
	var begin []string
	for name, page := range p.options.Pages {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range script.FindAllSubmatch(page, -1) {
			begin = append(begin, string(m[1]))
		}
	}
	slices.Sort(begin)
	text, err := bundle(p.options.Pages, slices.Compact(begin)...)
	scripts := map[string][]byte{scriptName: text}
	if err == nil && p.options.Pages[readerName] != nil {
		scripts[readerName], err = library(p.options.Pages, readerName)
	}
	return scripts, err
}

// page returns a file of the pages as it is in the site.
func (p *publisher) page(name string, report *Report) (data []byte, err error) {
	data, ok := p.options.Pages[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if name == downloadName {
		if data, err = p.download(data, report); err != nil {
			return nil, err
		}
	}
	if path.Ext(name) == ".html" {
		return p.adapt(name, data)
	}
	return data, nil
}

// adapt makes a page of the server one of a site: its links are names of files, those to pages
// that the site does not have are left out, and the policy, which the server sends as a header,
// is part of it. It says what sites may show of a link to it.
func (p *publisher) adapt(name string, page []byte) ([]byte, error) {
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
	page = script.ReplaceAllFunc(page, func(element []byte) []byte {
		begin := script.FindSubmatch(element)[1]
		element = fmt.Appendf(nil, "<script type=\"module\" src=%q data-begin=%q></script>\n", scriptName, begin)
		if bytes.Contains(p.options.Pages[string(begin)], []byte(`"./`+asking+`"`)) {
			return slices.Concat([]byte(early), []byte("  "), element)
		}
		return element
	})
	page = homeLink.ReplaceAll(page, []byte(`href="`+indexName))
	page = bytes.Replace(page, []byte(headEnd), []byte(serve.Properties(p.link(english, name, textOf(titled, page), textOf(about, page)))+headEnd), 1)
	return bytes.Replace(page, []byte(encodingLine), []byte(encodingLine+"  "+policy+"\n"), 1), nil
}

// headEnd is where the properties of a link go into a page.
const headEnd = "</head>"

// worker returns the script that keeps files, with the names of those that are worth it: the pages, what
// was prepared for them, and small layers.
func (p *publisher) worker(text []byte, pages []string, layers []Layer) ([]byte, error) {
	files := slices.DeleteFunc(slices.Concat(pages, []string{indexName, styleName, iconName, pictureName, TablesName + "/" + rundir.ManifestName}),
		func(name string) bool { return name == workerName || name == readerName })
	for _, l := range layers {
		if l.Bytes <= wholeLayer {
			files = append(files, TablesName+"/"+l.File)
		}
	}
	for _, name := range p.prepared {
		files = append(files, dataName+"/"+name)
	}
	list, err := json.Marshal(files)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(text, []byte(filesLine)) {
		return nil, fmt.Errorf("%s: no %q in it", workerName, filesLine)
	}
	return bytes.Replace(text, []byte(filesLine), list, 1), nil
}

// row is a file on the page of downloads.
type row struct {
	Layer
	Positions, Size string
}

// download fills in the page that says what there is to fetch.
func (p *publisher) download(page []byte, report *Report) ([]byte, error) {
	t, err := template.New(downloadName).Parse(string(page))
	if err != nil {
		return nil, err
	}
	var total int64
	var rows []row
	for _, l := range slices.Concat(report.Layers, report.Distances) {
		total += l.Bytes
		rows = append(rows, row{l, humanize.Comma(int64(p.manifest.Layers[l.Seeds].Positions)), humanize.IBytes(uint64(l.Bytes))})
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Identity manifest.Identity
		Last     int
		Rows     []row
		Total    string
	}{p.manifest.Identity, len(p.manifest.Layers) - 1, rows, humanize.IBytes(uint64(total))})
	return b.Bytes(), err
}
