package serve

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"grenier/layers/awari"
	"grenier/pipeline/play/search"
)

// How long a search takes.
const (
	defaultSearchTime = time.Second
	maxSearchTime     = 5 * time.Second
)

// searchReport is what a search found out about a board.
type searchReport struct {
	Rules string `json:"rules"`
	Seeds int    `json:"seeds"`
	Pits  []int  `json:"pits"`
	// Exact says that the score is known: Lower and Upper are equal.
	Exact bool `json:"exact"`
	// Lower and Upper are proven, Estimate is a guess between them.
	Lower    int `json:"lower"`
	Upper    int `json:"upper"`
	Estimate int `json:"estimate"`
	// Best is the pit to play, null when there is no legal move.
	Best *int `json:"best"`
	// Line lists the pits of the best line as far as it was seen, those of the
	// mover at even indices.
	Line         []int        `json:"line"`
	Moves        []searchMove `json:"moves"`
	Depth        int          `json:"depth"`
	Nodes        uint64       `json:"nodes"`
	TableHits    uint64       `json:"table_hits"`
	Rate         float64      `json:"nodes_per_second"`
	Milliseconds int64        `json:"milliseconds"`
	// Reason is "exact", "depth" or "time".
	Reason search.Reason `json:"reason"`
}

// searchMove is a pit of the mover; what follows Legal is null when it cannot be
// played.
type searchMove struct {
	Pit      int  `json:"pit"`
	Legal    bool `json:"legal"`
	Captured *int `json:"captured"`
	Lower    *int `json:"lower"`
	Upper    *int `json:"upper"`
	Estimate *int `json:"estimate"`
}

// boardToSearch is a board and how long to search it.
type boardToSearch struct {
	awari.Board
	time time.Duration
}

// searchBoard answers GET /api/search?pits=1,2,...&ms=1000
func (s *Server) searchBoard(w http.ResponseWriter, r *http.Request) {
	board, err := s.readSearch(r.URL.RawQuery)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.compute(w, r, s.searches, func(ctx context.Context) (any, error) {
		result, err := s.search(ctx, board)
		if err != nil {
			return nil, err
		}
		return newSearchReport(s.tables.Game(), result), nil
	})
}

// readSearch reads the parameters pits and ms.
func (s *Server) readSearch(raw string) (boardToSearch, error) {
	query, err := parseQuery(raw, "pits", "ms")
	if err != nil {
		return boardToSearch{}, err
	}
	board, err := s.boardOf(query)
	if err != nil {
		return boardToSearch{}, err
	}
	limit := defaultSearchTime
	if text, given := query["ms"]; given {
		ms, err := strconv.ParseUint(text, 10, 32)
		limit = time.Duration(ms) * time.Millisecond
		if err != nil || limit == 0 || limit > maxSearchTime {
			return boardToSearch{}, bad("ms is %.20q: 1 to %d are possible", text, maxSearchTime.Milliseconds())
		}
	}
	return boardToSearch{board, limit}, nil
}

func newSearchReport(game awari.Game, r *search.Result) *searchReport {
	report := &searchReport{
		Rules: game.Rules().String(), Seeds: r.Seeds, Pits: widen(r.Board[:game.Pits()]),
		Exact: r.Exact(), Lower: r.Lower, Upper: r.Upper, Estimate: r.Estimate, Line: append([]int{}, r.Line...),
		Depth: r.Depth, Nodes: r.Nodes, TableHits: r.TableHits, Rate: r.NodesPerSecond, Milliseconds: r.Elapsed.Milliseconds(), Reason: r.Reason,
	}
	if r.Best >= 0 {
		report.Best = &r.Best
	}
	for pit := range game.Half() {
		m := searchMove{Pit: pit, Legal: r.Moves[pit].Legal}
		if found := &r.Moves[pit]; m.Legal {
			m.Captured, m.Lower, m.Upper, m.Estimate = &found.Captured, &found.Lower, &found.Upper, &found.Estimate
		}
		report.Moves = append(report.Moves, m)
	}
	return report
}
