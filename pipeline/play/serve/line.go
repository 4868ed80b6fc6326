package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"grenier/layers/awari"
	"grenier/pipeline/play/line"
	"grenier/pipeline/tables"
)

// lineTimeout is how long a best line may take to find.
const lineTimeout = 10 * time.Second

// linePositions bounds the memory for finding a best line, to some 25 MiB.
const linePositions = 1 << 18

// lineReport is a best line.
type lineReport struct {
	Rules string     `json:"rules"`
	Pits  []int      `json:"pits"`
	Value int        `json:"value"`
	Moves []lineMove `json:"moves"`
	// End is "finished" or "repetition".
	End string `json:"end"`
}

// lineMove is a move of the player whose turn it is.
type lineMove struct {
	Pit      int `json:"pit"`
	Captured int `json:"captured"`
	// Value of the board before the move, for the player who makes it.
	Value int `json:"value"`
}

// findLine answers GET /api/line?pits=1,2,...
func (s *Server) findLine(r *http.Request) (any, error) {
	board, err := s.boardOfQuery(r)
	if err != nil {
		return nil, err
	}
	return s.inTurn(r, s.searches, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, lineTimeout)
		defer cancel()
		return s.newLineReport(ctx, board)
	})
}

func (s *Server) newLineReport(ctx context.Context, b awari.Board) (*lineReport, error) {
	game := s.tables.Game()
	best, err := line.Best(ctx, s.tables, b, line.Options{Positions: linePositions})
	if err != nil {
		return nil, lineError(err)
	}
	report := &lineReport{Rules: game.Rules().String(), Pits: game.Numbers(b), Value: best.Value, Moves: []lineMove{}, End: best.End.String()}
	for _, m := range best.Moves {
		report.Moves = append(report.Moves, lineMove{Pit: m.Pit, Captured: m.Captured, Value: m.Value})
	}
	return report, nil
}

// distancesReport is how far away captures are.
type distancesReport struct {
	Rules string `json:"rules"`
	Pits  []int  `json:"pits"`
	// Plies to the next capture, or to the end of the game, after playing each pit, that move and that end included, if
	// both play best lines; null where the move is not legal, or nothing can be forced.
	Plies []*int `json:"plies"`
}

// findDistances answers GET /api/distances?pits=1,2,...
func (s *Server) findDistances(r *http.Request) (any, error) {
	board, err := s.boardOfQuery(r)
	if err != nil {
		return nil, err
	}
	return s.inTurn(r, s.searches, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, lineTimeout)
		defer cancel()
		return s.newDistancesReport(ctx, board)
	})
}

func (s *Server) newDistancesReport(ctx context.Context, b awari.Board) (*distancesReport, error) {
	game := s.tables.Game()
	report := &distancesReport{Rules: game.Rules().String(), Pits: game.Numbers(b), Plies: make([]*int, game.Half())}
	if _, err := s.tables.Score(ctx, b); err != nil {
		return nil, lineError(err)
	}
	plays := game.Plays(b)
	for pit, play := range plays[:game.Half()] {
		plies := 1
		switch {
		case !play.Legal:
			continue
		case play.Captured == 0:
			next, ok, err := line.Next(ctx, s.tables, play.Child, line.Options{Positions: linePositions})
			if err != nil {
				return nil, lineError(err)
			}
			if ok && next.Value == 0 && next.Captured == 0 {
				continue
			}
			plies += max(next.Plies, 1)
		}
		report.Plies[pit] = &plies
	}
	return report, nil
}

// lineError words errors that a client can understand.
func lineError(err error) error {
	if errors.Is(err, tables.ErrUnsolved) {
		return badRequest{http.StatusUnprocessableEntity, codeUnsolved, errors.New("the board has more seeds than are solved: there is no best line")}
	}
	if _, ok := errors.AsType[*line.LimitError](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return badRequest{http.StatusUnprocessableEntity, codeWork, errors.New("finding the best line takes more than this server spends on it")}
	}
	return err
}
