package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"grenier/io/manifest"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/find"
	"grenier/pipeline/play/line"
)

// Question is a search of layers that pages ask for (package find). A site has its answer
// prepared.
type Question struct {
	From, To int    // layers, by seeds
	Where    string // the condition
	// Most is the fact of which the largest are wanted; without it positions are drawn at
	// random.
	Most  string
	Count int
}

// key names a question about its layers: as the page that asks it does.
func (q Question) key() string {
	if q.Most == "" {
		return q.Where
	}
	return q.Where + " most " + q.Most
}

// file names the file with all answers about its layers.
func (q Question) file() string { return fmt.Sprintf("find-%d-%d.json", q.From, q.To) }

// found is the contents of such a file.
type found struct {
	Rules     string            `json:"rules"`
	Positions uint64            `json:"positions"` // of these layers
	Answers   map[string]answer `json:"answers"`   // by key
}

type answer struct {
	Hits   uint64  `json:"hits"`
	Boards [][]int `json:"boards"`
	// Of positions in the order of their best lines: the plies of each line, and how many positions
	// were left out because theirs take too much to find.
	Plies      []int  `json:"plies,omitempty"`
	Unmeasured uint64 `json:"unmeasured,omitempty"`
}

// prepare begins the search for answers and puzzles.
func (p *publisher) prepare() {
	if p.options.Questions != nil {
		p.questions = p.options.Questions(p.manifest.Layers)
	}
	for _, q := range p.questions {
		p.expect += p.expected(q)
	}
	for _, n := range p.manifest.Sealed() {
		p.expect += p.drawing(n)
	}
	p.since = time.Now()
}

// searches answers the questions, and writes a file for each range of layers.
func (p *publisher) searches(ctx context.Context) error {
	files := map[string]*found{}
	var names []string
	for _, q := range p.questions {
		part := p.expected(q)
		a, err := p.ask(ctx, q, func(share float64) { p.searching("positions", q.To, share*part) })
		if err != nil {
			return err
		}
		p.done += part
		p.searching("positions", q.To, 0)
		f, ok := files[q.file()]
		if !ok {
			f = &found{Rules: p.manifest.Rules, Positions: positions(p.manifest.Layers[q.From : q.To+1]), Answers: map[string]answer{}}
			files[q.file()] = f
			names = append(names, q.file())
		}
		f.Answers[q.key()] = a
	}
	for _, name := range names {
		text, err := json.Marshal(files[name])
		if err != nil {
			return err
		}
		if err := p.write(p.data, name, text); err != nil {
			return err
		}
		p.prepared = append(p.prepared, name)
	}
	return nil
}

// expected returns about the seconds that a question takes: as on one core of a server, but only proportions matter.
func (p *publisher) expected(q Question) float64 {
	const drawing, scanned, measured = 5e-3, 0.1e-6, 130e-6 // all of it; a position; one with its best line
	all := float64(positions(p.manifest.Layers[q.From : q.To+1]))
	switch q.Most {
	case "":
		return drawing
	case "line":
		return drawing + measured*all
	}
	return drawing + scanned*all
}

// searching tells how far answers and puzzles are: some seconds of the part at hand are done.
func (p *publisher) searching(what string, seeds int, into float64) {
	s := job.OfLayer(seeds, 0, p.done+into, p.expect)
	s.Doing, s.Unit = what+", "+s.Doing, job.Items
	pace := s.PaceAfter(time.Since(p.since)) // the time of the copies says nothing
	s.Pace = &pace
	p.options.Tell(s)
}

func positions(layers []manifest.Layer) (sum uint64) {
	for i := range layers {
		sum += layers[i].Positions
	}
	return sum
}

// ask searches the copies of the layers: the run may have replaced its own since. It tells which share is done.
func (p *publisher) ask(ctx context.Context, q Question, share func(float64)) (a answer, err error) {
	share(0)
	o := find.Options{From: q.From, To: q.To, Count: q.Count, Order: find.Random, Seed: 1, Job: job.Job{
		Workers: 1, Family: p.options.Family, Progress: func(s job.Step) { share(s.Done / max(s.Total, 1)) },
	}}
	if o.Condition, err = find.Parse(q.Where); err != nil {
		return a, err
	}
	if q.Most != "" {
		if o.Order, err = find.Most(q.Most); err != nil {
			return a, err
		}
	}
	result, err := find.Run(ctx, p.path(TablesName), o)
	if err != nil {
		return a, err
	}
	a = answer{Hits: result.Hits, Boards: [][]int{}, Unmeasured: result.Unmeasured}
	for _, hit := range result.Found {
		if q.Most == "line" {
			plies, err := p.plies(ctx, hit.Board)
			if err != nil {
				return a, err
			}
			if plies < 0 { // those that were not measured come last
				break
			}
			a.Plies = append(a.Plies, plies)
		}
		a.Boards = append(a.Boards, result.Game.Numbers(hit.Board))
	}
	return a, nil
}

// linePositions bounds the memory for finding a best line, to some 25 MiB.
const linePositions = 1 << 18

// plies returns the length of the best line from a board, -1 if it takes too much to find.
func (p *publisher) plies(ctx context.Context, b awari.Board) (int, error) {
	best, err := line.Best(ctx, p.tables, b, line.Options{Positions: linePositions})
	if _, tooMuch := errors.AsType[*line.LimitError](err); tooMuch {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	return len(best.Moves), nil
}
