// Package web holds the page that grenier awari serve shows: plain HTML, CSS and
// JavaScript modules, embedded in the program, without a build step and without
// anything from elsewhere.
//
// The page knows how to draw a board, not how awari is played: which moves are
// legal, where seeds go, what is taken and what it is worth comes from the server
// (package serve). static/app.js is where to begin reading.
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
