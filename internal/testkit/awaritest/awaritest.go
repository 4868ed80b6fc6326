// Package awaritest has the helpers of tests of the awari engine: random games, the scores that the document's
// algorithm gives them, a judge of single positions, and what looks at memory.
package awaritest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/memory"
	"grenier/layers/awari"
	"grenier/pipeline/spaces/retro"
)

// Shuffled returns the items in random order.
func Shuffled[T any](rng *rand.Rand, items []T) []T {
	items = slices.Clone(items)
	rng.Shuffle(len(items), func(i, k int) { items[i], items[k] = items[k], items[i] })
	return items
}

// Game returns a game that exists.
func Game(t testing.TB, pits int, rules awari.Rules) awari.Game {
	t.Helper()
	return must.Get(awari.New(pits, rules))(t)
}

// AnyRules draws a rule set.
func AnyRules(rng *rand.Rand) awari.Rules {
	sets := awari.RuleSets()
	return sets[rng.IntN(len(sets))]
}

// AskMoves asks another program what the moves of random boards do, and compares its answers with the plain rules. Each
// line of questions has the rules and a board, "abapa 0 0 0 1 2 1 0 0"; a line of answers has for each pit of the mover the
// seeds captured, the board afterwards and a blank, "0:3,1,0,0,0,0,0,0 ", or "- " if it may not be played.
func AskMoves(t testing.TB, rng *rand.Rand, boards int, ask func(questions string) (answers string)) {
	t.Helper()
	var questions, want []string
	slams := 0
	for range boards {
		game := Game(t, awari.MinPits+2*rng.IntN(5), AnyRules(rng))
		b := fewOpposite(rng, game)
		questions = append(questions, fmt.Sprintf("%v %s", game.Rules(), game.Text(b)))
		answer := ""
		for pit, play := range game.Plays(b) {
			switch {
			case pit >= game.Half():
			case play.Legal:
				answer += fmt.Sprintf("%d:%s ", play.Captured, strings.ReplaceAll(game.Text(play.Child), " ", ","))
			default:
				answer += "- "
			}
			if play.Starves && game.Sow(b, pit).Captured > 0 {
				slams++
			}
		}
		want = append(want, answer)
	}
	must.Not(t, slams < boards/100, "%d grand slams on %d boards", slams, boards)
	got := strings.Split(strings.TrimSuffix(ask(strings.Join(questions, "\n")), "\n"), "\n")
	for i := range questions {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("%s: answers %q, want %q", questions[i], got[min(i, len(got)):min(i+1, len(got))], want[i])
		}
	}
}

// fewOpposite draws a board with few seeds in the half of the opponent, so that grand slams are not rare.
func fewOpposite(rng *rand.Rand, game awari.Game) (b awari.Board) {
	left := 1 + rng.IntN(awari.MaxSeeds)
	for pit := range game.Pits() {
		if rng.IntN(2) == 0 {
			continue
		}
		most := left
		if pit >= game.Half() {
			most = min(left, 2)
		}
		b[pit] = uint8(rng.IntN(most + 1))
		left -= int(b[pit])
	}
	return b
}

// Top is the largest layer of random games of a number of pits: far enough on
// small boards for sowings of several laps.
func Top(pits int) int {
	return tries.More(map[int]int{4: 22, 6: 15, 8: 10, 10: 7, 12: 6}, map[int]int{4: 30, 6: 19, 8: 13, 10: 9, 12: 8})[pits]
}

// Layer draws a game and a layer of it.
func Layer(t testing.TB, rng *rand.Rand) (game awari.Game, seeds int) {
	t.Helper()
	pits := awari.MinPits + 2*rng.IntN(5)
	game = Game(t, pits, AnyRules(rng))
	return game, rng.IntN(Top(pits) + 1)
}

// oracles are the layers that the document's algorithm has solved so far, for
// all tests together.
var oracles = struct {
	mu     sync.Mutex
	layers map[awari.Game][][]int8
}{layers: map[awari.Game][][]int8{}}

// Oracle returns layers 0 to n, or more of them.
func Oracle(t testing.TB, game awari.Game, n int) [][]int8 {
	t.Helper()
	oracles.mu.Lock()
	defer oracles.mu.Unlock()
	space := must.Get(awari.NewSpace(game, awari.MaxSeeds))(t)
	layers := oracles.layers[game]
	for len(layers) <= n {
		scores, _, err := retro.SolveLayer(t.Context(), space, layers, len(layers), nil)
		must.OK(t, err)
		layers = append(layers, scores)
	}
	oracles.layers[game] = layers
	return layers
}

// Lower gives the scores of layers in memory.
type Lower struct{ Layers [][]int8 }

// Read reads scores of a layer.
func (l *Lower) Read(n int, start uint64, dst []int8) error {
	if copy(dst, l.Layers[n][start:]) < len(dst) {
		return fmt.Errorf("layer %d has no %d scores from %d on", n, len(dst), start)
	}
	return nil
}

// Ahead does nothing.
func (l *Lower) Ahead(n int, start uint64, length int) {}

// Close does nothing.
func (l *Lower) Close() error { return nil }

// LowerOf gives the layers below the layer of n seeds, by the oracle.
func LowerOf(t testing.TB, game awari.Game, n int) *Lower {
	t.Helper()
	return &Lower{Oracle(t, game, n)[:n]}
}

// Counting counts the scores that are read of layers.
type Counting struct {
	*Lower
	Scores [awari.MaxSeeds + 1]atomic.Uint64
	Closed atomic.Int64
}

// Read counts scores by layer.
func (l *Counting) Read(n int, start uint64, dst []int8) error {
	l.Scores[n].Add(uint64(len(dst)))
	return l.Lower.Read(n, start, dst)
}

// Close counts calls.
func (l *Counting) Close() error {
	l.Closed.Add(1)
	return l.Lower.Close()
}

// A Judge plays moves by the rules of package awari.
type Judge struct {
	Space  *awari.Space
	layers [][]int8 // below
}

// NewJudge returns a judge of the layer of n seeds.
func NewJudge(t testing.TB, game awari.Game, n int) *Judge {
	t.Helper()
	space := must.Get(awari.NewSpace(game, n))(t)
	return &Judge{space, LowerOf(t, game, n).Layers}
}

// Offer returns the score of the best move of board that captures, or the score of the end
// of the game if there is no ordinary move; false if there is neither.
func (j *Judge) Offer(board awari.Board) (score int, ok bool) {
	score, quiet := j.Space.Terminal(board), false
	for _, play := range j.Space.Plays(board) {
		switch {
		case !play.Legal:
		case play.Starves: // takes all
			score = max(score, play.Captured)
		case play.Captured == 0:
			quiet = true
		default:
			n, rank := j.Space.Rank(play.Child)
			score, ok = max(score, play.Captured-int(j.layers[n][rank])), true
		}
	}
	return score, ok || !quiet
}

// Quiet returns where the moves of board without captures lead.
func (j *Judge) Quiet(board awari.Board) (children []awari.Board) {
	for _, play := range j.Space.Plays(board) {
		if play.Legal && play.Captured == 0 {
			children = append(children, play.Child)
		}
	}
	return children
}

// FailAt returns a function that fails when it is called for the n-th time.
func FailAt(err error, n int) func() error {
	var calls atomic.Int64
	return func() error {
		if calls.Add(1) == int64(n) {
			return err
		}
		return nil
	}
}

// HeapInUse returns the bytes of the heap that are in use, without garbage.
func HeapInUse() int64 {
	runtime.GC()
	runtime.GC() // memory that finalizers let go of
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// virtualMemory returns the bytes of address space that the process has. Tests
// that need it are skipped where the system does not say.
func virtualMemory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages := must.Get(strconv.Atoi(string(bytes.Fields(text)[0])))(t)
	return pages * os.Getpagesize()
}

// Bounded bounds the memory of the Go runtime. Returned lifts the bound, and fails unless all memory that was taken outside of
// the runtime meanwhile was returned, as far as the runtime knows.
func Bounded(t *testing.T) (returned func()) {
	unbound := memory.Bound(1 << 50)
	before := debug.SetMemoryLimit(-1)
	return func() {
		t.Helper()
		should.Equal(t, debug.SetMemoryLimit(-1), before, "bytes that the runtime may take")
		unbound()
	}
}

// ReturnsMemory fails if calls of f, which each take size bytes, leave memory
// behind.
func ReturnsMemory(t *testing.T, size int, f func()) {
	t.Helper()
	calls := 1 + 1<<29/size // the Go heap grows by far less
	f()                     // threads begin, each with memory of its own
	before, returned := virtualMemory(t), Bounded(t)
	for range calls {
		f()
	}
	grown := virtualMemory(t) - before
	returned()
	should.Not(t, grown > calls*size/4, "%d MiB more after %d calls", grown>>20, calls)
}

// Sample draws the pieces of a layer that are read first, see the engine: a few, in any places, or all of
// small layers.
func Sample(rng *rand.Rand) func(positions uint64) ([]uint64, uint64) {
	s := rng.Uint64()
	return func(positions uint64) (starts []uint64, length uint64) {
		rng := rand.New(rand.NewPCG(s, positions))
		length = 1 + rng.Uint64N(min(positions, 5000))
		for range 1 + rng.IntN(20) {
			starts = append(starts, rng.Uint64N(positions-length+1))
		}
		slices.Sort(starts)
		return starts, length
	}
}
