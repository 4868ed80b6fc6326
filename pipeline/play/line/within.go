package line

import (
	"context"
	"math"

	"grenier/layers/awari"
)

// never is a distance that is not known to be any number of plies.
const never = math.MaxInt32

// What is known about where a quiet move of a pit leads; other values are
// indices of nodes.
const (
	unknown = -1 // not looked up
	nowhere = -2 // the move is not quiet, not legal, or does not keep the score
)

// node is the knowledge of a position.
type node struct {
	board awari.Board
	// wins says that the player to move is the winner.
	wins bool
	// looked says that captures and hint are set.
	looked bool
	// capture is the pit whose capture keeps the score and takes most, -1 if
	// there is none.
	capture int8
	// hint is the pit that decided last time.
	hint int8
	// The distance is greater than above and at most within.
	above, within int32
	// quiet says where the quiet moves lead that keep the score.
	quiet [awari.MaxPits / 2]int32
}

// finder finds distances of positions of one layer with one score, seen by the
// winner.
type finder struct {
	ctx    context.Context
	scores Scores
	game   awari.Game
	seeds  int
	value  int // to the winner, positive
	limit  int
	index  map[awari.Board]int32
	nodes  []node
	ticks  int
}

func newFinder(ctx context.Context, scores Scores, seeds, value, limit int) *finder {
	if limit == 0 {
		limit = DefaultPositions
	}
	return &finder{
		ctx: ctx, scores: scores, game: scores.Game(), seeds: seeds, value: max(value, -value), limit: limit,
		index: map[awari.Board]int32{},
	}
}

// errFull says that the limit is reached.
type errFull struct{}

func (errFull) Error() string { return "limit reached" }

// distance returns the distance of a board with the given score. It asks for ever
// more plies. If it is known to exceed the number of positions that this knowledge
// rests on, it is infinite: let V(k) be the ones that are known to be more
// than k plies away. These sets shrink as k grows, so two in a row are equal, and
// in such a set the loser can stay for ever.
func (f *finder) distance(b awari.Board, value int) (int, error) {
	id, err := f.node(b, value > 0)
	for err == nil && f.nodes[id].within == never {
		if int(f.nodes[id].above) > len(f.nodes) {
			return 0, contradiction(f.game, b, value, "no capture ever grounds")
		}
		_, err = f.reaches(id, f.nodes[id].above+1)
	}
	if _, full := err.(errFull); full {
		return 0, &LimitError{Board: b, Positions: len(f.nodes), Plies: int(f.nodes[id].above)}
	}
	if err != nil {
		return 0, err
	}
	return int(f.nodes[id].within), nil
}

// node returns the index of the node of a board.
func (f *finder) node(b awari.Board, wins bool) (int32, error) {
	if id, ok := f.index[b]; ok {
		return id, nil
	}
	if len(f.nodes) >= f.limit {
		return 0, errFull{}
	}
	n := node{board: b, wins: wins, capture: -1, within: never}
	for pit := range n.quiet {
		n.quiet[pit] = unknown
	}
	id := int32(len(f.nodes))
	f.nodes = append(f.nodes, n)
	f.index[b] = id
	return id, nil
}

// reaches reports whether the distance of a node is at most plies.
func (f *finder) reaches(id, plies int32) (bool, error) {
	if plies == 0 {
		return false, nil
	}
	if !f.nodes[id].looked {
		if err := f.look(id); err != nil {
			return false, err
		}
	}
	switch n := &f.nodes[id]; {
	case n.within <= plies:
		return true, nil
	case n.above >= plies:
		return false, nil
	}
	done, err := f.expand(id, plies)
	if err != nil {
		return false, err
	}
	if done {
		f.nodes[id].within = plies
	} else {
		f.nodes[id].above = plies
	}
	return done, nil
}

// expand answers what the node does not know: whether one quiet move of the
// winner, or every one of the loser, leads to a distance of at most plies-1.
func (f *finder) expand(id, plies int32) (bool, error) {
	wins := f.nodes[id].wins
	if wins && plies == 1 {
		return false, nil
	}
	hint := int(f.nodes[id].hint)
	for i := range f.game.Half() {
		pit := i
		if i <= hint { // the hint first, then the others in order
			pit = (i + hint) % (hint + 1)
		}
		child, err := f.follow(id, pit)
		if err != nil {
			return false, err
		}
		if child == nowhere {
			continue
		}
		ok, err := f.reaches(child, plies-1)
		if err != nil {
			return false, err
		}
		if ok == wins {
			f.nodes[id].hint = int8(pit)
			return wins, nil
		}
	}
	return !wins, nil
}

// look finds out whether the player to move has a move, and whether a capture
// keeps the score.
func (f *finder) look(id int32) error {
	if err := f.tick(); err != nil {
		return err
	}
	n := f.nodes[id]
	value := f.valueOf(&n)
	plays := f.game.Plays(n.board)
	none, most := true, 0
	for pit, play := range plays[:f.game.Half()] {
		if !play.Legal {
			continue
		}
		none = false
		if play.Captured <= most {
			continue
		}
		score, err := f.scores.Score(f.ctx, play.Child)
		if err != nil {
			return err
		}
		if play.Captured-int(score) == value {
			n.capture, most = int8(pit), play.Captured
		}
	}
	n.looked = true
	switch {
	case none && f.game.Terminal(n.board) != value:
		return contradiction(f.game, n.board, value, "the end of the game contradicts")
	case none, n.wins && n.capture >= 0:
		n.within = 1
	}
	f.nodes[id] = n
	return nil
}

// valueOf returns the score of a node.
func (f *finder) valueOf(n *node) int {
	if n.wins {
		return f.value
	}
	return -f.value
}

// follow returns the node that a quiet move leads to, or nowhere.
func (f *finder) follow(id int32, pit int) (int32, error) {
	if to := f.nodes[id].quiet[pit]; to != unknown {
		return to, nil
	}
	n := &f.nodes[id]
	play := f.game.Plays(n.board)[pit]
	to := int32(nowhere)
	if play.Legal && play.Captured == 0 {
		score, err := f.scores.Score(f.ctx, play.Child)
		if err != nil {
			return 0, err
		}
		if -int(score) == f.valueOf(n) {
			if to, err = f.node(play.Child, !n.wins); err != nil {
				return 0, err
			}
		}
	}
	f.nodes[id].quiet[pit] = to
	return to, nil
}

// choose returns the pit of the best move on a board of the given distance.
func (f *finder) choose(b awari.Board, value, plies int) (pit int, err error) {
	id := f.index[b]
	n := &f.nodes[id]
	if plies == 1 {
		if n.capture >= 0 {
			return int(n.capture), nil
		}
		return 0, contradiction(f.game, b, value, "none of its moves keeps")
	}
	for pit := range f.game.Half() {
		child, err := f.follow(id, pit)
		if err != nil {
			return 0, err
		}
		if child == nowhere {
			continue
		}
		if far, err := f.far(child, plies-1); far || err != nil {
			return pit, err
		}
	}
	return 0, contradiction(f.game, b, value, "none of its moves keeps")
}

// far reports whether the distance of a node is as said, knowing that the winner can
// do no better and the loser no worse than that after the best move.
func (f *finder) far(id int32, plies int) (bool, error) {
	if !f.nodes[id].wins { // the winner has moved
		return f.reaches(id, int32(plies))
	}
	sooner, err := f.reaches(id, int32(plies-1))
	return !sooner, err
}

// tick looks at the context from time to time.
func (f *finder) tick() error {
	if f.ticks++; f.ticks%64 != 0 {
		return nil
	}
	return f.ctx.Err()
}
