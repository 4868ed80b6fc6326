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
package web

import (
	"embed"
	"io/fs"
)

//go:embed static
var files embed.FS

// Files returns the files of the page, index.html among them.
func Files() fs.FS {
	static, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // the directory is embedded
	}
	return static
}
