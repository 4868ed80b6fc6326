package tables_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// draw returns random boards of all layers, some of them several times, and their true scores.
func draw(space *awari.Space, layers [][]int8, n int, seed uint64) (boards []awari.Board, scores []int8) {
	random := rand.New(rand.NewPCG(seed, 7))
	for range n {
		seeds := random.IntN(len(layers))
		rank := random.Uint64N(space.Size(seeds))
		boards = append(boards, space.Unrank(seeds, rank))
		scores = append(scores, layers[seeds][rank])
	}
	return boards, scores
}

func TestScores(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 8)
	space := testrun.Space(t, game, 8)
	dir := testrun.Write(t, game, layers, 64)
	for _, bytes := range []int64{1, 5 * layerfile.MaxBlockSize, 0} {
		tab := open(t, dir, tables.CacheBytes(bytes))
		for i, n := range []int{0, 1, 3, 5000} {
			boards, want := draw(space, layers, n, uint64(i))
			got := make([]int8, n)
			must.OK(t, tab.Scores(t.Context(), boards, got))
			checkScores(t, game, boards, got, want)
		}
	}
}

func checkScores(t *testing.T, game awari.Game, boards []awari.Board, got, want []int8) {
	t.Helper()
	for i := range want {
		must.Equal(t, got[i], want[i], "score of %s", game.Text(boards[i]))
	}
}

func TestProbes(t *testing.T) {
	for _, r := range rules {
		game := testrun.Game(t, 8, r)
		layers := testrun.Solve(t, game, 8)
		space := testrun.Space(t, game, 8)
		tab := open(t, testrun.Write(t, game, layers, 64), tables.CacheBytes(1))
		boards, _ := draw(space, layers, 3000, 5)
		probes, err := tab.Probes(t.Context(), boards)
		must.Hold(t, err == nil && len(probes) == len(boards), "%d probes, %v", len(probes), err)
		for i, p := range probes {
			must.Hold(t, p.Board == boards[i], "probe %d is of another board", i)
			checkProbe(t, space, layers, p)
		}
	}
}

func TestRefusedBatches(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	tab := open(t, testrun.Write(t, game, testrun.Solve(t, game, 5), 64))
	good := awari.Board{1, 1, 1}
	err := tab.Scores(t.Context(), []awari.Board{good}, nil)
	should.Not(t, err == nil || !strings.Contains(err.Error(), "1 boards, but room for 0 scores"), "no room: %v", err)
	for _, c := range []struct {
		bad  awari.Board
		want error
	}{{awari.Board{6}, tables.ErrUnsolved}, {awari.Board{5: 1}, awari.ErrBoard}, {awari.Board{255, 255, 255, 255, 255}, awari.ErrBoard}} {
		boards := []awari.Board{good, good, c.bad, good}
		scoresErr := tab.Scores(t.Context(), boards, make([]int8, 4))
		_, probesErr := tab.Probes(t.Context(), boards)
		for _, err := range []error{scoresErr, probesErr} {
			should.Hold(t, errors.Is(err, c.want) && strings.HasPrefix(err.Error(), "boards[2]: "), "%v: %v", c.bad, err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	should.Be(t, tab.Scores(canceled, []awari.Board{good}, make([]int8, 1)), context.Canceled, "canceled")
	should.Be(t, must.Err(tab.Probes(canceled, []awari.Board{good})), context.Canceled, "canceled")
	must.OK(t, tab.Close())
	should.Be(t, tab.Scores(t.Context(), []awari.Board{good}, make([]int8, 1)), os.ErrClosed, "closed")
}

// TestDamagedBatch has one damaged block and one false score: the first fails Scores, both fail Probes.
func TestDamagedBatch(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 6)
	space := testrun.Space(t, game, 6)
	layers[6][100]++
	dir := testrun.Write(t, game, layers, 64)
	tab := open(t, dir)
	false100 := space.Unrank(6, 100)
	should.OK(t, tab.Scores(t.Context(), []awari.Board{false100}, make([]int8, 1)))
	want := fmt.Sprintf("block 1: the score of board %s is", game.Text(false100))
	_, err := tab.Probes(t.Context(), []awari.Board{{1}, false100})
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), want), "a false score: %v", err)
	path := tab.Path(5)
	data := must.Read(t, path)
	data[len(data)/2] ^= 1
	must.Write(t, path, data)
	boards, _ := draw(space, layers, 1000, 1)
	tab = open(t, dir)
	err = tab.Scores(t.Context(), boards, make([]int8, len(boards)))
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), path), "a damaged block: %v", err)
}
