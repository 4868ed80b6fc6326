package solitaire

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/layers/solitaire"
	"grenier/pipeline/internal/resume"
	"grenier/pipeline/internal/runs"
)

// Kind and version of a checkpoint. See docs/format/solitaire-search.md.
const (
	checkpointKind    = "solitaire-search"
	checkpointVersion = 2 // blocks of positions are gaps
)

// checkpoint is all complete layers of a search.
type checkpoint struct {
	Picture    string             `json:"picture"` // of the start
	Symmetries int                `json:"symmetries"`
	Ends       solitaire.Position `json:"ends"` // of the winning layers
	Done       bool               `json:"done"` // no layer follows
	Layers     []savedLayer       `json:"layers"`
	Winning    []savedLayer       `json:"winning"` // from one peg on
}

// savedLayer is a layer in a checkpoint.
type savedLayer struct {
	Words  int          `json:"words"` // of a record
	Blocks []runs.Block `json:"blocks"`
}

func save(list []*runs.Run) []savedLayer {
	saved := make([]savedLayer, len(list))
	for i, r := range list {
		saved[i] = savedLayer{r.Stride, r.Blocks}
	}
	return saved
}

// checkpoint returns the checkpoint of all complete layers.
func (s *search) checkpoint() ([]byte, error) {
	return json.Marshal(&checkpoint{
		Picture: s.Board.Picture(s.Start), Symmetries: s.group.Size(), Ends: s.ends(), Done: s.done,
		Layers: save(s.layers), Winning: save(s.winning),
	})
}

// identity names the game of a run directory. Another board, start or set of symmetries
// makes layers of another search.
func (s *search) identity() manifest.Identity {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s%d", s.Board.Picture(s.Start), s.group.Size())
	if s.group.Size() < len(s.Board.Symmetries()) {
		fmt.Fprintf(h, " %d", s.ends())
	}
	name := "picture"
	if solitaire.Named(s.Board.Name()) != nil {
		name = s.Board.Name()
	}
	return manifest.Identity{Game: "solitaire", Rules: fmt.Sprintf("%s-%08x", name, h.Sum32()), Pits: s.Board.Holes()}
}

// openDir opens the run directory, for blocks, and takes over its checkpoint if there is one.
func (s *search) openDir() (err error) {
	search := resume.Search{Identity: s.identity(), Kind: checkpointKind, Version: checkpointVersion, Work: s.work}
	err = s.store.OpenDir(s.Dir, search, func(path string, payload []byte) ([]*runs.Run, error) {
		c := &checkpoint{}
		err := json.Unmarshal(payload, c)
		if err == nil {
			err = s.load(c)
		}
		if err != nil {
			return nil, corrupt.New(path, "", "%w", err)
		}
		return slices.Concat(s.layers, s.winning, s.stale), nil
	})
	if err != nil || len(s.stale) == 0 {
		return err
	}
	for _, r := range s.stale {
		s.store.Drop(r)
	}
	// Before their space is used again: until then the old checkpoint holds.
	payload, err := s.checkpoint()
	if err == nil {
		err = s.store.Commit(payload)
	}
	if err != nil {
		return errors.Join(err, s.store.Dir.Close())
	}
	return nil
}

// load takes over a checkpoint. It fails if that contradicts itself or is of another game.
func (s *search) load(c *checkpoint) error {
	if want := s.Board.Picture(s.Start); c.Picture != want || c.Symmetries != s.group.Size() {
		return fmt.Errorf("the picture %q with %d symmetries %w the expected %q with %d",
			strings.TrimSpace(c.Picture), c.Symmetries, corrupt.ErrMismatch, strings.TrimSpace(want), s.group.Size())
	}
	if len(c.Layers) < 1 || len(c.Layers) > s.first || len(c.Winning) > s.first || len(c.Winning) > 0 && (!c.Done || len(c.Layers) != s.first) {
		return fmt.Errorf("%d layers and %d winning ones of %d", len(c.Layers), len(c.Winning), s.first)
	}
	for i := range c.Layers {
		r, err := c.Layers[i].load(func(words int) bool { return words == keyWords })
		if err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
		if r.N == 0 || i == 0 && r.N != 1 {
			return fmt.Errorf("layer %d: %d positions", i, r.N)
		}
		s.layers = append(s.layers, r)
	}
	s.done = c.Done
	for i := range c.Winning {
		r, err := c.Winning[i].load(func(words int) bool { return words > countAt && words <= mostWords })
		if err == nil && (r.N > s.layerOf(i+1).N || r.N == 0 && i < len(c.Winning)-1) {
			err = fmt.Errorf("%d positions of %d", r.N, s.layerOf(i+1).N)
		}
		if err != nil {
			return fmt.Errorf("winning layer %d: %w", i, err)
		}
		s.winning = append(s.winning, r)
	}
	if c.Ends != s.ends() {
		s.winning, s.stale = nil, s.winning
	}
	return nil
}

// mostWords bounds the words of a record: no game has more jumps than holes, and there are 2^MaxHoles
// positions.
const mostWords = countAt + (solitaire.MaxHoles+(solitaire.MaxHoles+1)*jumpsBits)/wordBits + 1

// load returns the run of a layer. It fails if the blocks cannot be.
func (l *savedLayer) load(possible func(words int) bool) (*runs.Run, error) {
	if !possible(l.Words) {
		return nil, fmt.Errorf("records of %d words", l.Words)
	}
	r := runs.Of(l.Words, l.Blocks)
	return r, runs.CheckAll(l.Words, l.Blocks)
}
