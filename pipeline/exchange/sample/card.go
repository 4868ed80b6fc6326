package sample

import (
	"fmt"

	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/tally"
	"grenier/pipeline/tables/catalog"
)

// CardSuffix is what the name of a card has behind that of the file.
const CardSuffix = ".card.json"

// DefaultLicence is that of the program.
const DefaultLicence = "MIT"

// cardHeader is what a card begins with.
var cardHeader = jsonfile.Header{Format: "grenier-sample-card", Version: 1}

// Card says what is in the files of a sample, and where it comes from.
type Card struct {
	jsonfile.Header
	manifest.Identity
	// Layers are those that positions were drawn from.
	Layers []CardLayer `json:"layers"`
	// By is what is uniform: "position" or "score".
	By        string `json:"by"`
	Seed      uint64 `json:"seed"`
	Positions uint64 `json:"positions"`
	// Split is nil without one.
	Split   *CardSplit `json:"split"`
	Encoded Format     `json:"encoded"`
	Columns []Column   `json:"columns"`
	Licence string     `json:"licence"`
	Files   []File     `json:"files"`
}

// CardLayer is a layer: its scores have the hash, its file the checksum, as in the manifest of the run.
type CardLayer struct {
	Seeds     int               `json:"seeds"`
	Positions uint64            `json:"positions"`
	Hash      tally.Hash        `json:"fnv1a64"`
	Checksum  manifest.Checksum `json:"checksum"`
	// Distances is the hash of its distances, 0 if it has none.
	Distances tally.Hash `json:"distances_fnv1a64,omitzero"`
}

// CardSplit says which part a board is in.
type CardSplit struct {
	Hash  string `json:"hash"`
	Parts []Part `json:"parts"`
}

// Column is a column of csv, a member of jsonl, or a field of npy with so many values.
type Column struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Length int    `json:"length"`
	About  string `json:"about"`
}

// splitHash describes bucket.
const splitHash = "SplitMix64 finalizer (of the hash plus 0x9e3779b97f4a7c15) of the FNV-1a-64 hash of the pits as bytes, modulo 100; the parts take these numbers in their order"

// card describes files.
func (d *draw) card(files []File) Card {
	game := d.tables.Game()
	c := Card{
		Header: cardHeader, Identity: manifest.Identity{Game: catalog.GameName, Rules: game.Rules().String(), Pits: game.Pits()}, By: "position", Seed: d.Seed, Positions: d.Count,
		Encoded: d.Format, Columns: newEncoder(game, d.Format, d.plies).columns(), Licence: d.Licence, Files: files,
	}
	if c.Licence == "" {
		c.Licence = DefaultLicence
	}
	if d.ByScore {
		c.By = "score"
	}
	if len(d.Split) > 0 {
		c.Split = &CardSplit{splitHash, d.Split}
	}
	for _, l := range d.tables.Layers()[d.From : d.To+1] {
		c.Layers = append(c.Layers, CardLayer{l.Seeds, l.Positions, l.Hash, l.Checksum, l.Distances.Hash})
	}
	return c
}

// columns describes what the encoder writes of a position.
func (e *encoder) columns() []Column {
	about := map[string]string{
		"pits": "seeds, the mover's pits first", "value": "for the mover: seeds that he takes from now on minus those of the opponent",
		"moves": "value of each move of the mover; of a pit that cannot be played " + map[Format]string{Npy: "-128", CSV: "empty", JSONL: "null"}[e.format],
		"best":  "the moves with that value",
	}
	var plies []Column
	if e.plies {
		kind := map[Format]string{Npy: "<i2", CSV: "integer", JSONL: "integer"}[e.format]
		unknown := map[Format]string{Npy: "-1", CSV: "empty", JSONL: "null"}[e.format]
		plies = []Column{{"plies", kind, 1, "to the next capture or the end of the game, 0 if the value is 0, " + unknown + " if not known"}}
	}
	kind := map[Format][2]string{Npy: {"i1", "b1"}, CSV: {"integer", "pits with blanks between"}, JSONL: {"integer", "list of pits"}}[e.format]
	if e.format != CSV {
		all := []Column{{"pits", kind[0], e.pits, about["pits"]}, {"value", kind[0], 1, about["value"]}, {"moves", kind[0], e.q, about["moves"]}, {"best", kind[1], e.q, about["best"]}}
		return append(all, plies...)
	}
	var all []Column
	for pit := range e.pits {
		all = append(all, Column{fmt.Sprint("p", pit), kind[0], 1, about["pits"]})
	}
	all = append(all, Column{"value", kind[0], 1, about["value"]})
	for pit := range e.q {
		all = append(all, Column{fmt.Sprint("m", pit), kind[0], 1, about["moves"]})
	}
	return append(append(all, Column{"best", kind[1], 1, about["best"]}), plies...)
}
