package awari

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a board from one decimal number for each pit, the mover's pits
// first. It fails with ErrBoard when there are more or fewer numbers than pits,
// with ErrCount when a field is not a number from 0 up, and with ErrSeeds when
// the board holds more than MaxSeeds.
func (g Game) Parse(fields []string) (Board, error) {
	if len(fields) != g.pits {
		return Board{}, fmt.Errorf("%w: expected %d pits, got %d", ErrBoard, g.pits, len(fields))
	}
	var b Board
	total := 0
	for pit, field := range fields {
		seeds, err := parseCount(g.PitName(pit), field)
		if err != nil {
			return Board{}, err
		}
		if total += seeds; total > MaxSeeds {
			return Board{}, fmt.Errorf("%w: more than %d on the board", ErrSeeds, MaxSeeds)
		}
		b[pit] = uint8(seeds)
	}
	return b, nil
}

// parseCount reads the content of one pit, at most MaxSeeds.
func parseCount(pit, field string) (int, error) {
	seeds, err := strconv.ParseUint(field, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%w: pit %s %q: must be 0 to %d", ErrCount, pit, field, MaxSeeds)
	}
	if err != nil || seeds > MaxSeeds {
		return 0, fmt.Errorf("%w: pit %s %s: must be 0 to %d", ErrSeeds, pit, field, MaxSeeds)
	}
	return int(seeds), nil
}

// Text returns the pits separated by blanks, as Parse reads them once split.
func (g Game) Text(b Board) string {
	fields := make([]string, g.pits)
	for i := range fields {
		fields[i] = strconv.Itoa(int(b[i]))
	}
	return strings.Join(fields, " ")
}

// PitName returns the name of a pit of a player as players write it: A, B, ... for South, who is player 0, from his left to his
// right, a, b, ... for North, who is 1.
func PitName(player, pit int) string { return string(rune(int("Aa"[player]) + pit)) }

// PitName returns the name of a pit of the board, whose mover is South.
func (g Game) PitName(pit int) string { return PitName(pit/g.Half(), pit%g.Half()) }

// Draw returns the board in four lines for a terminal: the names of the
// opponent's pits, their seeds, the mover's seeds and the names of his pits. The mover is
// South, player 0, or North, player 1. Sowing runs counter-clockwise.
func (g Game) Draw(b Board, mover int) string {
	var names, seeds [2]strings.Builder
	for i := range g.Half() {
		across := g.Half() - 1 - i
		fmt.Fprintf(&names[0], "%4s", PitName(1-mover, across))
		fmt.Fprintf(&seeds[0], "%4d", b[g.Half()+across])
		fmt.Fprintf(&seeds[1], "%4d", b[i])
		fmt.Fprintf(&names[1], "%4s", PitName(mover, i))
	}
	return fmt.Sprintf("opponent%s\n        %s\n        %s\nmover   %s\n",
		&names[0], &seeds[0], &seeds[1], &names[1])
}

// Numbers returns the seeds of the pits; as bytes they would become base64 in JSON.
func (g Game) Numbers(b Board) []int {
	pits := make([]int, g.Pits())
	for i := range pits {
		pits[i] = int(b[i])
	}
	return pits
}

// Signed writes a score with its sign, and 0 without.
func Signed(score int) string {
	if score == 0 {
		return "0"
	}
	return fmt.Sprintf("%+d", score)
}
