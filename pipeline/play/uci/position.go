package uci

import (
	"fmt"
	"strconv"
	"strings"

	"grenier/layers/awari"
	"grenier/pipeline/play/match"
)

// position is where a game is.
type position struct {
	board awari.Board // seen by the player whose turn it is
	turn  match.Side
	taken [2]int // by side
}

// startOf returns the position that startpos means.
func startOf(game awari.Game) (position, error) {
	board, err := game.Start(awari.MaxSeeds / awari.MaxPits)
	return position{board: board}, err
}

// parsePosition reads the words after "position": startpos or a board, then the moves, which are of the game that the
// interface plays, with as many pits as the tables.
func parsePosition(pits int, words []string) (p position, err error) {
	game, err := awari.New(pits, awari.Abapa)
	if err != nil {
		return p, err
	}
	var moves []string
	for i, word := range words {
		if word == "moves" {
			words, moves = words[:i], words[i+1:]
			break
		}
	}
	switch {
	case len(words) == 1 && words[0] == "startpos":
		p, err = startOf(game)
	case len(words) == 2 && words[0] == "fen":
		p, err = parseBoard(game, words[1])
	case len(words) == 1:
		p, err = parseBoard(game, words[0])
	default:
		err = fmt.Errorf("expected startpos, or fen and a board")
	}
	for i, letter := range []byte(strings.Join(moves, "")) {
		if err == nil {
			if err = p.play(game, letter); err != nil {
				err = fmt.Errorf("move %d, %q: %w", i+1, letter, err)
			}
		}
	}
	return p, err
}

// parseBoard reads a board: the seeds in the houses of South and of North, the seeds they have
// taken, and S or N for the player whose turn it is, with dashes between.
func parseBoard(game awari.Game, text string) (p position, err error) {
	pits := game.Pits()
	parts := strings.Split(text, "-")
	if len(parts) != pits+3 {
		return p, fmt.Errorf("board %.60q: expected %d numbers and S or N, with dashes between", text, pits+2)
	}
	total := 0
	var seeds [awari.MaxPits + 2]int
	for i, part := range parts[:pits+2] {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || n > awari.MaxSeeds {
			return p, fmt.Errorf("board %.60q: %.20q is no number of seeds from 0 to %d", text, part, awari.MaxSeeds)
		}
		seeds[i] = int(n)
		total += int(n)
	}
	if total > awari.MaxSeeds {
		return p, fmt.Errorf("board %.60q: %d seeds: must be at most %d", text, total, awari.MaxSeeds)
	}
	for i := range pits {
		p.board[i] = uint8(seeds[i])
	}
	p.taken = [2]int{seeds[pits], seeds[pits+1]}
	switch parts[pits+2] {
	case "S":
	case "N":
		p.turn, p.board = match.North, game.Turn(p.board)
	default:
		return p, fmt.Errorf("board %.60q: the turn is %.20q, expected S or N", text, parts[pits+2])
	}
	return p, nil
}

// play makes a move.
func (p *position) play(game awari.Game, letter byte) error {
	first := p.turn.PitName(0)[0]
	pit := int(letter) - int(first)
	if pit < 0 || pit >= game.Half() {
		return fmt.Errorf("%v has the houses %c to %c", p.turn, first, int(first)+game.Half()-1)
	}
	if p.board[pit] == 0 {
		return fmt.Errorf("the house is empty")
	}
	sown := game.Sow(p.board, pit)
	if sown.Starves {
		return fmt.Errorf("the move gives the opponent no seed")
	}
	p.taken[p.turn] += sown.Captured
	p.board, p.turn = game.Turn(sown.Board), p.turn.Other()
	return nil
}

// Names returns moves in turn, side moving first.
func Names(side match.Side, pits []int) string {
	var b strings.Builder
	for _, pit := range pits {
		b.WriteString(side.PitName(pit))
		side = side.Other()
	}
	return b.String()
}
