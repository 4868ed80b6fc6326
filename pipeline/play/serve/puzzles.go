package serve

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"grenier/pipeline/play/puzzle"
	"grenier/pipeline/tables"
)

const (
	puzzlesTimeout = 10 * time.Second
	puzzlesCount   = 50
)

// puzzlesReport is the answer of /api/puzzles, and what a site keeps of a layer.
type puzzlesReport struct {
	Rules   string          `json:"rules"`
	Puzzles []puzzle.Puzzle `json:"puzzles"`
}

// findPuzzles answers GET /api/puzzles?seeds=5..8&theme=tempo&rating=40..80&random=7&count=20, and ?pits=1,2,... for the puzzle that a
// board is.
func (s *Server) findPuzzles(r *http.Request) (any, error) {
	query, err := parseQuery(r.URL.RawQuery, "seeds", "theme", "rating", "random", "count", "pits")
	if err != nil {
		return nil, err
	}
	if _, one := query["pits"]; one {
		if len(query) > 1 {
			return nil, bad("pits asks for one puzzle: give it alone")
		}
		return s.puzzleOf(r, query)
	}
	o, err := s.readPuzzles(query)
	if err != nil {
		return nil, err
	}
	return s.inTurn(r, s.searches, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, puzzlesTimeout)
		defer cancel()
		return s.reportPuzzles(puzzle.Draw(ctx, s.tables, o))
	})
}

// puzzleOf answers about one board.
func (s *Server) puzzleOf(r *http.Request, query map[string]string) (any, error) {
	board, err := s.boardOf(query)
	if err != nil {
		return nil, err
	}
	return s.inTurn(r, s.searches, func(ctx context.Context) (any, error) {
		p, err := puzzle.Of(ctx, s.tables, board)
		if p == nil || errors.Is(err, tables.ErrUnsolved) {
			return s.reportPuzzles(nil, nil)
		}
		return s.reportPuzzles([]puzzle.Puzzle{*p}, err)
	})
}

// readPuzzles reads which puzzles are wanted.
func (s *Server) readPuzzles(query map[string]string) (o puzzle.Options, err error) {
	o.Theme, o.Most = query["theme"], 100
	if o.From, o.To, err = s.layersWithin(query["seeds"], true); err != nil {
		return o, err
	}
	if rating, given := query["rating"]; given {
		least, most, ranged := strings.Cut(rating, "..")
		o.Least, err = strconv.Atoi(least)
		var err2 error
		o.Most, err2 = strconv.Atoi(most)
		if errors.Join(err, err2) != nil || !ranged {
			return o, bad("rating is %.20q: want two numbers from 0 to 100, as 40..80", rating)
		}
	}
	if o.Count, err = number(query, "count", 20, puzzlesCount); err != nil {
		return o, err
	}
	seed, err := number(query, "random", 0, 1<<31-1)
	o.Seed = uint64(seed)
	return o, err
}

// reportPuzzles words what a client can understand.
func (s *Server) reportPuzzles(puzzles []puzzle.Puzzle, err error) (*puzzlesReport, error) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, badRequest{http.StatusUnprocessableEntity, codeWork, errors.New("such puzzles are too rare for the time that this server spends on them: ask for fewer, or for others")}
	case errors.Is(err, puzzle.ErrOptions), errors.Is(err, tables.ErrUnsolved):
		return nil, badRequest{http.StatusBadRequest, codeRequest, err}
	case err != nil:
		return nil, err
	}
	if puzzles == nil {
		puzzles = []puzzle.Puzzle{}
	}
	return &puzzlesReport{s.tables.Game().Rules().String(), puzzles}, nil
}
