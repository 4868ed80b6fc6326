package puzzle

import (
	"grenier/layers/awari"
)

// theme is something that a line is about.
type theme struct {
	name string
	has  func(game awari.Game, plies []ply) bool
}

// themes are in the order in which puzzles list them. docs/find.md describes them.
var themes = []theme{
	{"capturing", func(_ awari.Game, plies []ply) bool { return anyOf(plies, func(m *ply) bool { return m.Captured > 0 }) }},
	{"restraint", func(game awari.Game, plies []ply) bool {
		return plies[0].Captured == 0 && threat(game, plies[0].board) >= 2
	}},
	{"sacrifice", func(_ awari.Game, plies []ply) bool { return plies[0].Captured == 0 && plies[1].Captured >= 3 }},
	{"defending", defends},
	{"counting", func(game awari.Game, plies []ply) bool {
		return anyOf(plies, func(m *ply) bool { return m.pit+int(m.board[m.pit]) >= game.Pits() })
	}},
	{"tempo", func(_ awari.Game, plies []ply) bool {
		for i := range plies {
			if plies[i].Captured > 0 {
				return false
			}
		}
		return true
	}},
	{"starving", func(game awari.Game, plies []ply) bool {
		return anyOf(plies, func(m *ply) bool { return empty(m.board[game.Half():game.Pits()]) || over(game, m.Child) })
	}},
}

// Themes returns the names of all themes.
func Themes() []string {
	var names []string
	for _, x := range themes {
		names = append(names, x.name)
	}
	return names
}

// themesOf returns the themes of a line.
func themesOf(game awari.Game, plies []ply) []string {
	found := []string{}
	for _, x := range themes {
		if x.has(game, plies) {
			found = append(found, x.name)
		}
	}
	return found
}

// anyOf reports whether a move of the solver is so.
func anyOf(plies []ply, is func(m *ply) bool) bool {
	for i := 0; i < len(plies); i += 2 {
		if is(&plies[i]) {
			return true
		}
	}
	return false
}

// threat returns the most seeds that a move takes.
func threat(game awari.Game, b awari.Board) (most int) {
	for _, play := range game.Plays(b) {
		most = max(most, play.Captured)
	}
	return most
}

// defends reports whether the first move takes nothing, and leaves the other player less to take than if it were his turn
// already.
func defends(game awari.Game, plies []ply) bool {
	m := &plies[0]
	before := threat(game, game.Turn(m.board))
	return m.Captured == 0 && before >= 2 && threat(game, m.Child) < before
}

func empty(pits []uint8) bool {
	for _, n := range pits {
		if n > 0 {
			return false
		}
	}
	return true
}

// over reports whether the player to move has no move.
func over(game awari.Game, b awari.Board) bool {
	for _, play := range game.Plays(b) {
		if play.Legal {
			return false
		}
	}
	return true
}
