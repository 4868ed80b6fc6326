package main

import (
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
)

// documentTable returns a table of document 001 as it is printed there.
func documentTable(t *testing.T, name string) string {
	t.Helper()
	text := must.Read(t, filepath.Join("../../pipeline/spaces/census/testdata", name))
	return string(text)
}

// TestLongDocumentTables compares the output of table with the document, character
// for character.
func TestLongDocumentTables(t *testing.T) {
	twelve := mustRun(t, "awari", "table", "--pits", "12", "--seeds", "48")
	want := documentTable(t, "12-pits.txt") + "\n" + documentTable(t, "cost.txt")
	must.Same(t, "12 pits", want, twelve)
	if !tries.Long() {
		return // a search of the game on 8 pits takes seconds, and package census makes it
	}
	want = documentTable(t, "8-pits.txt") + "\n"
	eight := mustRun(t, "awari", "table", "--pits", "8", "--rules", "strict", "--seeds", "24")
	must.Same(t, "8 pits", want, eight[:min(len(want), len(eight))])
}
