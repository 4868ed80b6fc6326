package serve

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"grenier/layers/awari"
)

// maxMoves is more than a game takes that people write down.
const maxMoves = 1000

// gameReport is the answer of /api/game.
type gameReport struct {
	Rules string `json:"rules"`
	// Positions are the start and those after each move, each seen by its mover.
	Positions []*probeReport `json:"positions"`
	// Illegal is the first move that cannot be played, null if all can. Positions then
	// end before it.
	Illegal *illegalMove `json:"illegal"`
}

// illegalMove is a move that the rules do not allow.
type illegalMove struct {
	Index int `json:"index"` // from 0
	Pit   int `json:"pit"`
	// Starves says that it would leave the opponent without seeds; if not, the pit is empty.
	Starves bool `json:"starves"`
}

// walkGame answers GET /api/game?pits=1,2,...&moves=2,0,...
func (s *Server) walkGame(r *http.Request) (any, error) {
	board, moves, err := s.readGame(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	return s.inTurn(r, s.quick, func(ctx context.Context) (any, error) { return s.newGameReport(ctx, board, moves) })
}

// readGame reads the parameters pits and moves.
func (s *Server) readGame(raw string) (board awari.Board, moves []int, err error) {
	query, err := parseQuery(raw, "pits", "moves")
	if err != nil {
		return board, nil, err
	}
	if board, err = s.boardOf(query); err != nil || query["moves"] == "" {
		return board, nil, err
	}
	fields := strings.Split(query["moves"], ",")
	if len(fields) > maxMoves {
		return board, nil, bad("%d moves: must be at most %d", len(fields), maxMoves)
	}
	half := s.tables.Game().Half()
	for i, text := range fields {
		pit, err := strconv.ParseUint(text, 10, 8)
		if err != nil || int(pit) >= half {
			return board, nil, bad("move %d is %.20q: must be a pit, 0 to %d", i+1, text, half-1)
		}
		moves = append(moves, int(pit))
	}
	return board, moves, nil
}

func (s *Server) newGameReport(ctx context.Context, board awari.Board, moves []int) (*gameReport, error) {
	game := s.tables.Game()
	report := &gameReport{Rules: game.Rules().String()}
	for i := 0; ; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := s.newProbeReport(ctx, board)
		if err != nil {
			return nil, err
		}
		report.Positions = append(report.Positions, p)
		if i == len(moves) {
			return report, nil
		}
		pit := moves[i]
		play := game.Plays(board)[pit]
		if !play.Legal {
			report.Illegal = &illegalMove{Index: i, Pit: pit, Starves: play.Starves}
			return report, nil
		}
		board = play.Child
	}
}
