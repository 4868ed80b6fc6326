package main

import (
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
)

// pegs is a small board of peg solitaire.
const pegs = "o.oo\noooo\noooo\noooo\n"

// pegBoard returns a file with it.
func pegBoard(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "board.txt")
	must.Write(t, path, []byte(pegs))
	return path
}
