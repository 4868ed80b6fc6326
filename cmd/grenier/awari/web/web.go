// Package web holds the pages that grenier awari serve shows: plain HTML, CSS and
// JavaScript modules, embedded in the program, without a build step and without
// anything from elsewhere.
//
// The pages know how to draw a board, not how awari is played: which moves are
// legal, where seeds go, what is taken and what it is worth comes from the server
// (package serve). static/app.js, the page on which one plays, is where to begin reading;
// tree.js has the tree of a game, address.js and notation.js what it looks like as an
// address and as text, values.js what is known about values. puzzles.js, explore.js,
// learn.js (the lessons are in lessons.js) and layers.js are the other pages. Texts are in English where they are used;
// fr.js translates them. sw.js keeps what was seen for times without the server.
//
// The pages in HTML are templates: what they share is in parts.html. Their actions stand in [[ ]], since download.html
// is also a template of package publish.
//
// What a published site has instead of the server (package publish) is in the folder site:
// source.js answers the questions of the pages, with what Questions had prepared, and with scores from the layer files (awari.js,
// layerfile.js), the rules (rules.js) and what follows from them (line.js, search.js). awari.js and what it imports know
// nothing of pages and their language: publish also writes them as one module for others. Its sw.js and
// parts.js keep what was fetched for times without the network.
package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"path"
	"sync"

	"grenier/io/manifest"
	"grenier/pipeline/play/publish"
)

//go:embed parts.html static site
var files embed.FS

// page holds the texts in the head of a page.
type page struct{ Script, Title, Description string }

// parts are what pages share.
var parts = sync.OnceValue(func() *template.Template {
	head := func(script, title, description string) page { return page{script, title, description} }
	return template.Must(template.New("").Delims("[[", "]]").Funcs(template.FuncMap{"head": head}).ParseFS(files, "parts.html"))
})

// Other is where one plays by other rules: the address of the folder of their pages.
type Other struct{ Rules, Address string }

// Files returns the files of the pages that a server shows, by name, index.html among them, which links to the others.
func Files(others ...Other) map[string][]byte { return folder("static", others) }

// serverOnly are files that are of no use without the server.
var serverOnly = []string{"sw.js", "refusals.js"}

// Site is Files for a published site.
func Site(others ...Other) map[string][]byte {
	all := folder("static", others)
	for _, name := range serverOnly {
		delete(all, name)
	}
	maps.Copy(all, folder("site", nil)) // what the site has for itself
	return all
}

// folder returns the files of a folder by name. What can fail, a test has tried: the files are part of the program.
func folder(dir string, others []Other) map[string][]byte {
	entries, err := files.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	all := map[string][]byte{}
	for _, e := range entries {
		if all[e.Name()], err = file(dir, e.Name(), others); err != nil {
			panic(err)
		}
	}
	return all
}

// file returns a file; a page is put together with what pages share.
func file(dir, name string, others []Other) ([]byte, error) {
	text, err := files.ReadFile(dir + "/" + name)
	if err != nil || path.Ext(name) != ".html" {
		return text, err
	}
	t, err := parts().Clone()
	if err != nil {
		return nil, err
	}
	if t, err = t.New(name).Parse(string(text)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, others)
	return b.Bytes(), err
}

// What explore.js asks for.
const (
	explored = 12 // seeds of the last layer that a site lets explore
	hardest  = 8  // seeds of the last layer whose hardest positions are found, in some seconds
	shown    = 12 // positions on the page that explores
)

// Puzzles is how many puzzles of each layer a site has.
const Puzzles = 50

// Questions returns the searches that the pages of a published site ask for, as far as the layers
// are there.
func Questions(layers []manifest.Layer) []publish.Question {
	var all []publish.Question
	for n := 1; n <= min(explored, len(layers)-1); n++ {
		if layers[n].LeftOut() {
			continue
		}
		all = append(all, publish.Question{From: n, To: n, Where: "moves>=2", Most: "margin", Count: shown})
		if n <= hardest {
			all = append(all, publish.Question{From: n, To: n, Where: "only-win", Most: "line", Count: shown})
		}
		for value := -n; value <= n; value++ {
			if layers[n].Histogram.Count(int8(value)) > 0 {
				all = append(all, publish.Question{From: n, To: n, Where: fmt.Sprintf("value=%d", value), Count: shown})
			}
		}
	}
	return all
}
