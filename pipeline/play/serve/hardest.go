package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"grenier/io/crew"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/find"
	"grenier/pipeline/play/line"
)

const (
	// hardestPositions bounds the layers whose hardest positions are looked for: each takes about a
	// millisecond for a position in ten, and is looked through once while the server runs.
	hardestPositions = 5_000_000
	hardestCount     = 12
	hardestWhere     = "only-win"
)

// hardestReport tells the positions of a layer that are hardest to win: one move wins, no other
// even draws, and the best line is longest.
type hardestReport struct {
	Rules string `json:"rules"`
	Seeds int    `json:"seeds"`
	// Complete says that all positions were looked at; Found is empty before.
	Complete  bool   `json:"complete"`
	Done      uint64 `json:"done"`      // positions that were looked at
	Positions uint64 `json:"positions"` // of the layer
	Hits      uint64 `json:"hits"`      // of those looked at, with one winning move
	// Unmeasured is how many of them have a best line that takes too much to find: they are left out.
	Unmeasured uint64         `json:"unmeasured"`
	Found      []hardPosition `json:"found"`
}

// hardPosition is a position with the plies of its best line.
type hardPosition struct {
	probeReport
	Line int `json:"line"`
}

// hardest looks through layers in the background, one at a time, in the order in which they were
// asked for, and keeps what it finds.
type hardest struct {
	wanted chan int // layers; there is room for all of them

	mu     sync.Mutex
	layers map[int]*hardestReport // those that were asked for
	failed map[int]error
}

// ask returns what is known about a layer, and begins a search if there is none. It fails as the
// search did; then the next one who asks begins another.
func (h *hardest) ask(empty hardestReport) (hardestReport, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := empty.Seeds
	if err := h.failed[n]; err != nil {
		delete(h.failed, n)
		delete(h.layers, n)
		return hardestReport{}, err
	}
	if h.layers[n] == nil {
		h.layers[n] = &empty
		h.wanted <- n
	}
	return *h.layers[n], nil
}

// note changes what is known about a layer.
func (h *hardest) note(n int, change func(*hardestReport)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h.layers[n])
}

// fail takes note of a search that failed.
func (h *hardest) fail(n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed[n] = err
}

// findHardest answers GET /api/hardest?seeds=8, with status 202 while the search goes on.
func (s *Server) findHardest(w http.ResponseWriter, r *http.Request) {
	query, err := parseQuery(r.URL.RawQuery, "seeds")
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	n, _, err := s.fewLayers(query["seeds"], false, hardestPositions)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	report, err := s.hardest.ask(hardestReport{
		Rules: s.tables.Game().Rules().String(), Seeds: n, Positions: s.tables.Layers()[n].Positions, Found: []hardPosition{},
	})
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	status := http.StatusOK
	if !report.Complete {
		status = http.StatusAccepted
	}
	answer(w, r, status, report)
}

// seekHardest looks through the layers that are asked for until ctx ends.
func (s *Server) seekHardest(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-s.hardest.wanted:
			err := crew.Run(func() error { return s.seekHardestOf(ctx, n) })
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				s.hardest.fail(n, err)
			}
		}
	}
}

// seekHardestOf looks through a layer.
func (s *Server) seekHardestOf(ctx context.Context, n int) error {
	condition, err := find.Parse(hardestWhere)
	if err != nil {
		return err
	}
	order, err := find.Most("line")
	if err != nil {
		return err
	}
	result, err := find.Run(ctx, s.dir, find.Options{
		From: n, To: n, Condition: condition, Count: hardestCount, Order: order, Job: job.Job{Workers: 1, Memory: findMemory, Family: s.family, Progress: func(p job.Step) {
			s.hardest.note(n, func(r *hardestReport) { r.Done, r.Hits = uint64(p.Done), p.Found })
		}},
	})
	if err != nil {
		return err
	}
	found := []hardPosition{}
	for _, hit := range result.Found {
		p, err := s.newHardPosition(ctx, hit.Board)
		if err != nil {
			return err
		}
		if p.Line > 0 { // of few hits, those whose best lines were not found are listed too
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b hardPosition) int { return b.Line - a.Line })
	s.hardest.note(n, func(r *hardestReport) {
		r.Complete, r.Done, r.Hits, r.Unmeasured, r.Found = true, result.Positions, result.Hits, result.Unmeasured, found
	})
	return nil
}

// newHardPosition describes a position; Line is 0 if its best line takes too much to find.
func (s *Server) newHardPosition(ctx context.Context, b awari.Board) (hardPosition, error) {
	report, err := s.newProbeReport(ctx, b)
	if err != nil {
		return hardPosition{}, err
	}
	best, err := line.Best(ctx, s.tables, b, line.Options{Positions: linePositions})
	if _, tooMuch := errors.AsType[*line.LimitError](err); tooMuch {
		return hardPosition{*report, 0}, nil
	}
	if err != nil {
		return hardPosition{}, err
	}
	return hardPosition{*report, len(best.Moves)}, nil
}
