package line

import (
	"context"

	"grenier/layers/awari"
)

// Distances are Scores that may know distances of positions. *tables.Tables is one.
type Distances interface {
	// Distance returns the distance of a board; known is false if it is not known. It fails like Score.
	Distance(ctx context.Context, b awari.Board) (plies int, known bool, err error)
}

// stored is progress by distances that are known; known is false if that of the board is not.
func (p *player) stored(d Distances, b awari.Board) (m Move, ok, known bool, err error) {
	plies, known, err := d.Distance(p.ctx, b)
	if !known || err != nil {
		return Move{}, false, false, err
	}
	game := p.scores.Game()
	plays := game.Plays(b)
	if plies == 1 && !anyLegal(&plays) {
		return Move{}, false, true, nil
	}
	for pit, play := range plays[:game.Half()] {
		if !play.Legal || (plies == 1) != (play.Captured > 0) || ok && play.Captured <= m.Captured {
			continue
		}
		score, err := p.scores.Score(p.ctx, play.Child)
		if err != nil {
			return Move{}, false, true, err
		}
		if play.Captured-int(score) != p.value {
			continue
		}
		if plies > 1 {
			next, near, err := d.Distance(p.ctx, play.Child)
			if err != nil {
				return Move{}, false, true, err
			}
			if !near || next != plies-1 {
				continue
			}
		}
		m = Move{Pit: pit, Board: b, Child: play.Child, Captured: play.Captured, Value: p.value, Plies: plies}
		ok = true
	}
	if !ok {
		return Move{}, false, true, contradiction(game, b, p.value, "no move to the distance before keeps")
	}
	return m, true, true, nil
}
