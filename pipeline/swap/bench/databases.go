package bench

import (
	"context"
	"fmt"
	"time"

	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/patterns"
)

// Database is a pattern database of the result table of document 004.
type Database struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // apdb or gadb
	Rows  int    `json:"rows"`
	Cols  int    `json:"cols"`
	Tiles []int  `json:"tiles,omitempty"` // from 1
	K     int    `json:"k"`
	// Entries is the number of values, one byte each in memory.
	Entries int `json:"entries"`
	// Seconds is the time to build it and to pack the file.
	Seconds float64 `json:"seconds"`
	// Bytes is the length of the file.
	Bytes int64 `json:"bytes"`
	// Document has the figures of the document.
	Document Documented `json:"document"`
	// Faster is the seconds there over those here, Smaller the bytes.
	Faster  float64 `json:"times_faster"`
	Smaller float64 `json:"times_smaller"`
}

// Documented is a row of the result table of document 004. MB are 10^6 bytes.
type Documented struct {
	Seconds  float64 `json:"seconds"`
	MemoryMB float64 `json:"memory_mb"`
	DiskMB   float64 `json:"disk_mb"`
}

// documented lists the databases of document 004, section 6.1.
var documented = []Database{
	{Name: "gadb 4x4 k=3", Kind: "gadb", Rows: 4, Cols: 4, K: 3, Document: Documented{3.27, 1.9, 0.4}},
	{Name: "gadb 4x4 k=4", Kind: "gadb", Rows: 4, Cols: 4, K: 4, Document: Documented{241, 79.4, 16.7}},
	{Name: "apdb 3x3 1-9", Kind: "apdb", Rows: 3, Cols: 3, Tiles: []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, Document: Documented{16.6, 387.4, 1.2}},
	{Name: "apdb 4x4 1,2,3,5,6", Kind: "apdb", Rows: 4, Cols: 4, Tiles: []int{1, 2, 3, 5, 6}, Document: Documented{24, 1.0, 0.2}},
	{Name: "apdb 4x4 1-7", Kind: "apdb", Rows: 4, Cols: 4, Tiles: []int{1, 2, 3, 4, 5, 6, 7}, Document: Documented{3652, 268.4, 26.3}},
	{Name: "apdb 4x4 9,10,13-16", Kind: "apdb", Rows: 4, Cols: 4, Tiles: []int{9, 10, 13, 14, 15, 16}, Document: Documented{313, 16.8, 2.3}},
}

func (b *bench) databaseParts() (parts []part, err error) {
	for _, d := range documented {
		g, err := swap.NewGrid(d.Rows, d.Cols)
		if err != nil {
			return nil, err
		}
		d.K = max(d.K, len(d.Tiles))
		entries := heuristic.Entries(g, d.K)
		if d.Kind == "gadb" {
			entries *= uint64(len(heuristic.Sets(g, d.K)))
		}
		parts = append(parts, part{"database " + d.Name, float64(entries) * 7e-8, func(ctx context.Context, tick func(float64)) error {
			if err := b.build(ctx, g, &d, tick); err != nil {
				return fmt.Errorf("database %s: %w", d.Name, err)
			}
			b.report.Databases = append(b.report.Databases, d)
			return nil
		}})
	}
	return parts, nil
}

// build builds a database and measures it, and calls tick with the share that is done.
func (b *bench) build(ctx context.Context, g *swap.Grid, d *Database, tick func(float64)) error {
	o := b.patternOptions(heuristic.Unit)
	o.Progress = func(s job.Step) { tick(s.Done / s.Total) }
	var numbers []int
	for _, t := range d.Tiles {
		numbers = append(numbers, t-1)
	}
	start := time.Now()
	file, err := patterns.Build(ctx, g, numbers, d.K, o)
	if err != nil {
		return err
	}
	data, err := file.Encode()
	d.Seconds = time.Since(start).Seconds()
	d.Entries, d.Bytes = len(file.Values), int64(len(data))
	d.Faster = d.Document.Seconds / d.Seconds
	d.Smaller = d.Document.DiskMB * 1e6 / float64(d.Bytes)
	return err
}
