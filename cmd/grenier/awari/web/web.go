// Package web holds the pages that grenier awari serve shows: plain HTML, CSS and
// JavaScript modules, embedded in the program, without a build step and without
// anything from elsewhere.
//
// The pages know how to draw a board, not how awari is played: which moves are
// legal, where seeds go, what is taken and what it is worth comes from the server
// (package serve). static/app.js, the page on which one plays, is where to begin reading;
// tree.js has the tree of a game, address.js and notation.js what it looks like as an
// address and as text, values.js what is known about values. puzzles.js, explore.js,
// learn.js and layers.js are the other pages. Texts are in English where they are used;
// fr.js translates them. sw.js keeps what was seen for times without the server.
//
// What a published site has instead of the server (package publish) is in the folder site:
// source.js answers the questions of the pages, with scores from the layer files (tables.js,
// layerfile.js), the rules (rules.js) and what follows from them (line.js, search.js).
package web

import (
	"embed"
	"io/fs"
	"slices"
)

//go:embed static site
var files embed.FS

// Files returns the files of the page, index.html among them.
func Files() fs.FS {
	static, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // the directory is embedded
	}
	return static
}

// serverOnly are files that are of no use without the server.
var serverOnly = []string{"sw.js", "puzzles.html", "puzzles.js", "explore.html", "explore.js", "refusals.js"}

// Site returns the files of the pages of a published site, by name.
func Site() map[string][]byte {
	all := map[string][]byte{}
	for _, folder := range []string{"static", "site"} { // what the site has for itself comes last
		entries, err := files.ReadDir(folder)
		if err != nil {
			panic(err) // the directory is embedded
		}
		for _, e := range entries {
			if slices.Contains(serverOnly, e.Name()) {
				continue
			}
			if all[e.Name()], err = files.ReadFile(folder + "/" + e.Name()); err != nil {
				panic(err)
			}
		}
	}
	return all
}
