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

// gameReport is what is known about the positions of a game.
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

// gameToWalk is a board and the pits that are played from it, in turn.
type gameToWalk struct {
	awari.Board
	moves []int
}

// walkGame answers GET /api/game?pits=1,2,...&moves=2,0,...
func (s *Server) walkGame(w http.ResponseWriter, r *http.Request) {
	g, err := s.readGame(r.URL.RawQuery)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.compute(w, r, s.quick, func(ctx context.Context) (any, error) { return s.newGameReport(ctx, g) })
}

// readGame reads the parameters pits and moves.
func (s *Server) readGame(raw string) (gameToWalk, error) {
	query, err := parseQuery(raw, "pits", "moves")
	if err != nil {
		return gameToWalk{}, err
	}
	board, err := s.boardOf(query)
	if err != nil || query["moves"] == "" {
		return gameToWalk{board, nil}, err
	}
	fields := strings.Split(query["moves"], ",")
	if len(fields) > maxMoves {
		return gameToWalk{}, bad("%d moves: at most %d are possible", len(fields), maxMoves)
	}
	half := s.tables.Game().Half()
	g := gameToWalk{Board: board}
	for i, text := range fields {
		pit, err := strconv.ParseUint(text, 10, 8)
		if err != nil || int(pit) >= half {
			return gameToWalk{}, bad("move %d is %.20q: pits 0 to %d are possible", i+1, text, half-1)
		}
		g.moves = append(g.moves, int(pit))
	}
	return g, nil
}

func (s *Server) newGameReport(ctx context.Context, g gameToWalk) (*gameReport, error) {
	game := s.tables.Game()
	report := &gameReport{Rules: game.Rules().String()}
	board := g.Board
	for i := 0; ; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := s.newProbeReport(board)
		if err != nil {
			return nil, err
		}
		report.Positions = append(report.Positions, p)
		if i == len(g.moves) {
			return report, nil
		}
		pit := g.moves[i]
		play := game.Plays(board)[pit]
		if !play.Legal {
			report.Illegal = &illegalMove{Index: i, Pit: pit, Starves: play.Starves}
			return report, nil
		}
		board = play.Child
	}
}
