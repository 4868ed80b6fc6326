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
	for _, n := range p.manifest.Sealed() {
		part := p.drawing(n)
		tell := func(s job.Step) { p.searching("puzzles", n, part*s.Done/max(s.Total, 1)) }
		found, err := puzzle.Draw(ctx, t, puzzle.Options{Job: job.Job{Progress: tell}, From: n, To: n, Most: 100, Count: p.options.Puzzles, Seed: 1})
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
		p.done += part
		p.searching("puzzles", n, 0)
	}
	return nil
}

// drawing returns about the seconds that the puzzles of a layer take, like expected.
func (p *publisher) drawing(n int) float64 {
	const each = 1e-3
	return each * float64(p.options.Puzzles)
}
