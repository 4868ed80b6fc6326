package chemin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/durable"
	"grenier/io/workfile"
	"grenier/layers/chemin"
)

// checkpointName is the file in a directory that says how far a search is.
const checkpointName = "search.state"

const (
	checkpointKind    = "chemin-search"
	checkpointVersion = 1
)

// checkpoint says which layer of which sweep is complete.
type checkpoint struct {
	Rows     int      `json:"rows"`
	Cols     int      `json:"cols"`
	Counting bool     `json:"counting"`
	Filled   int      `json:"filled"`
	File     string   `json:"file"` // of the layer; "" for layer 0
	Records  int      `json:"records"`
	Runs     int      `json:"runs"` // files made so far, for new names
	Order    []int    `json:"order"`
	States   []uint64 `json:"states"`
	Optimal  uint64   `json:"optimal"` // orders counted so far
}

// loadCheckpoint returns the checkpoint in a directory, nil if the directory is empty. It
// fails with errors that match corrupt.ErrForeign if there are other things, and
// corrupt.ErrMismatch if the search is of another board.
func loadCheckpoint(dir string, b *chemin.Board) (*checkpoint, error) {
	path := filepath.Join(dir, checkpointName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, onlyOurs(dir)
	}
	if err != nil {
		return nil, err
	}
	_, payload, err := workfile.Unseal(path, checkpointKind, checkpointVersion, data)
	if err != nil {
		return nil, err
	}
	var c checkpoint
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, corrupt.New(path, "", "%w", err)
	}
	if c.Rows != b.Rows() || c.Cols != b.Cols() {
		return nil, corrupt.New(path, "", "%w: a search of the %d x %d board, not %d x %d", corrupt.ErrMismatch, c.Rows, c.Cols, b.Rows(), b.Cols())
	}
	if _, err := b.Play(c.Order); err != nil || c.Filled < 0 || c.Filled >= b.Cells() || filepath.Base(c.File) != c.File && c.File != "" {
		return nil, corrupt.New(path, "", "contradicts itself")
	}
	return &c, nil
}

// onlyOurs refuses directories that hold other files than those of a search.
func onlyOurs(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !ours(e.Name()) {
			return corrupt.New(dir, e.Name(), "%w: a search needs a directory of its own", corrupt.ErrForeign)
		}
	}
	return err
}

func ours(name string) bool {
	return strings.HasPrefix(name, checkpointName) || strings.HasPrefix(name, maxName+"-") || strings.HasPrefix(name, countName+"-")
}

func (c *checkpoint) save(dir string) error {
	payload, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, checkpointName), workfile.Seal(checkpointKind, checkpointVersion, payload))
}

// clearRuns removes all files of a search but the checkpoint and the one named keep.
func clearRuns(dir, keep string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if ours(name) && name != keep && name != checkpointName {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("clearing %s: %w", dir, err)
			}
		}
	}
	return nil
}
