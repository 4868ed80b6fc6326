package awari

// Sown is a board after one pit was sown and the captures were made. The board
// is not turned: pits 0..Q-1 still belong to the player who sowed.
type Sown struct {
	Board Board
	// Captured is the number of seeds taken off the board.
	Captured int
	// Starves says that the opponent is left without a seed, because every
	// one was captured (a grand slam, unless that captures nothing) or because
	// none was sown to him.
	Starves bool
}

// Sow empties a pit of the mover, sows its seeds and captures. It does not ask
// whether the rules allow the move. The pit must be one of 0..Q-1 and hold a
// seed.
func (g Game) Sow(b Board, pit int) Sown {
	after, last := g.scatter(b, pit)
	captured := g.capture(&after, last)
	return Sown{Board: after, Captured: captured, Starves: after.empty(g.Half(), g.pits)}
}

// scatter sows pit seed by seed, skipping the origin on every lap, and returns
// the pit that got the last seed.
func (g Game) scatter(b Board, pit int) (after Board, last int) {
	seeds := b[pit]
	b[pit] = 0
	last = pit
	for ; seeds > 0; seeds-- {
		last = (last + 1) % g.pits
		if last == pit {
			last = (last + 1) % g.pits
		}
		b[last]++
	}
	return b, last
}

// capture removes the runs of 2 and 3 that end at pit last, backwards and
// inside the opponent's half only, and returns how many seeds they held. It
// removes nothing if these are all seeds of the opponent and the rules say so.
func (g Game) capture(b *Board, last int) int {
	sown, captured := *b, 0
	for i := last; i >= g.Half() && captures(b[i]); i-- {
		captured += int(b[i])
		b[i] = 0
	}
	if captured > 0 && g.rules.SlamIsQuiet() && b.empty(g.Half(), g.pits) {
		*b = sown
		return 0
	}
	return captured
}

// captures reports whether a pit that holds x seeds after sowing can be captured.
func captures(x uint8) bool { return x == 2 || x == 3 }

// Unsow takes back a sowing without capture: it returns the board on which
// sowing the given number of seeds from pit leads to after. There is one at
// most; ok is false when there is none, because pit is not empty or a pit it
// sowed into has too few seeds. Boards are seen by the player who sowed, seeds
// is positive. Unsow does not ask whether the sowing would have captured.
func (g Game) Unsow(after Board, pit, seeds int) (before Board, ok bool) {
	if after[pit] != 0 {
		return Board{}, false
	}
	laps, rest := seeds/(g.pits-1), seeds%(g.pits-1)
	before = after
	for step := 1; step < g.pits; step++ {
		i, sown := (pit+step)%g.pits, laps
		if step <= rest {
			sown++
		}
		if int(after[i]) < sown {
			return Board{}, false
		}
		before[i] -= uint8(sown)
	}
	before[pit] = uint8(seeds)
	return before, true
}

// lastPit returns the pit that gets the last of seeds sown from pit.
func (g Game) lastPit(pit, seeds int) int {
	return (pit + 1 + (seeds-1)%(g.pits-1)) % g.pits
}

// CapturesLeadTo returns the numbers of seeds, from least to most, that a board of n seeds can
// have after a move that captures; most is less than least if there is no such move. The opponent
// keeps a seed: at least one of his Q pits is not emptied, and the others give 2 or 3 each.
func (g Game) CapturesLeadTo(n int) (least, most int) { return max(1, n-3*(g.Half()-1)), n - 2 }
