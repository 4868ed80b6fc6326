package publish

import (
	"context"
	"encoding/json"
	"fmt"

	"grenier/pipeline/job"
	"grenier/pipeline/play/puzzle"
	"grenier/pipeline/tables"
)

// drawn is the contents of a file with the puzzles of a layer.
type drawn struct {
	Rules   string          `json:"rules"`
	Puzzles []puzzle.Puzzle `json:"puzzles"`
}

// puzzles draws puzzles of each layer, of the copies, and writes a file for each.
func (p *publisher) puzzles(ctx context.Context) error {
	if p.options.Puzzles == 0 {
		return nil
	}
	t, err := tables.Open(ctx, p.path(TablesName), tables.Kernel(p.options.Family))
	if err != nil {
		return err
	}
	defer t.Close()
	for n := range p.manifest.Layers {
		found, err := puzzle.Draw(ctx, t, puzzle.Options{From: n, To: n, Most: 100, Count: p.options.Puzzles, Seed: 1})
		if err != nil {
			return err
		}
		text, err := json.Marshal(drawn{p.manifest.Rules, found})
		if err != nil {
			return err
		}
		name := fmt.Sprintf("puzzles-%d.json", n)
		if err := p.write(p.data, name, text); err != nil {
			return err
		}
		p.prepared = append(p.prepared, name)
		s := job.OfLayer(n, 0, float64(n+1), float64(len(p.manifest.Layers)))
		s.Doing, s.Unit = "puzzles, "+s.Doing, job.Items
		p.options.Tell(s)
	}
	return nil
}
