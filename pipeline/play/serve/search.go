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

// searchReport is the answer of /api/search.
type searchReport struct {
	search.Report
	// Line lists the pits of the best line as far as it was seen, the pits of the
	// mover at even indices.
	Line         []int         `json:"line"`
	Depth        int           `json:"depth"`
	Nodes        uint64        `json:"nodes"`
	TableHits    uint64        `json:"table_hits"`
	Rate         float64       `json:"nodes_per_second"`
	Milliseconds int64         `json:"milliseconds"`
	Reason       search.Reason `json:"reason"` // never search.Interrupted
}

// searchBoard answers GET /api/search?pits=1,2,...&ms=1000
func (s *Server) searchBoard(r *http.Request) (any, error) {
	board, limit, err := s.readSearch(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	return s.inTurn(r, s.searches, func(ctx context.Context) (any, error) {
		r, err := s.search(ctx, board, limit)
		if err != nil {
			return nil, err
		}
		return &searchReport{
			Report: search.NewReport(s.tables.Game(), r), Line: append([]int{}, r.Line...), Depth: r.Depth, Nodes: r.Nodes, TableHits: r.TableHits,
			Rate: r.NodesPerSecond, Milliseconds: r.Elapsed.Milliseconds(), Reason: r.Reason,
		}, nil
	})
}

// readSearch reads the parameters pits and ms.
func (s *Server) readSearch(raw string) (board awari.Board, limit time.Duration, err error) {
	query, err := parseQuery(raw, "pits", "ms")
	if err != nil {
		return board, 0, err
	}
	if board, err = s.boardOf(query); err != nil {
		return board, 0, err
	}
	limit = defaultSearchTime
	if text, given := query["ms"]; given {
		ms, err := strconv.ParseUint(text, 10, 32)
		limit = time.Duration(ms) * time.Millisecond
		if err != nil || limit == 0 || limit > maxSearchTime {
			return board, 0, bad("ms is %.20q: must be 1 to %d", text, maxSearchTime.Milliseconds())
		}
	}
	return board, limit, nil
}
