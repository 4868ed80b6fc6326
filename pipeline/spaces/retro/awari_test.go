package retro_test

import (
	"fmt"
	"strconv"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/spaces/retro"
)

// truth holds the figures of an independent program for one layer of awari.
type truth struct {
	seeds                      int
	positions, win, draw, loss int
	mean                       string
	hash                       string
}

func readTruth(t *testing.T) map[string][]truth {
	records := must.Rows(t, "../../../layers/awari/testdata/layers.csv")
	byGame := map[string][]truth{}
	for _, r := range records {
		var numbers [7]int
		for i := 1; i < 7; i++ {
			n := must.Get(strconv.Atoi(r[i]))(t)
			numbers[i] = n
		}
		game := mustGame(t, r[0], numbers[1]).Name()
		byGame[game] = append(byGame[game], truth{numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], r[7], r[8]})
	}
	return byGame
}

func mustGame(t testing.TB, rules string, pits int) awari.Game {
	t.Helper()
	r := must.Get(awari.ParseRules(rules))(t)
	return must.Get(awari.New(pits, r))(t)
}

// The truth was hashed with FNV-1a of 64 bits started from truthBasis, which is the basis of the standard without its
// last decimal digit: package hash/fnv gives other values.
const (
	truthBasis = 1469598103934665603
	fnvPrime   = 1099511628211
)

// summarise reduces the scores of a layer to what the truth says of it. The hash is over the scores as bytes, in rank order.
func summarise(seeds int, scores []int8) truth {
	s := truth{seeds: seeds, positions: len(scores)}
	hash, sum := uint64(truthBasis), 0
	for _, score := range scores {
		hash = (hash ^ uint64(uint8(score))) * fnvPrime
		sum += int(score)
		switch {
		case score > 0:
			s.win++
		case score < 0:
			s.loss++
		default:
			s.draw++
		}
	}
	s.mean = fmt.Sprintf("%.6f", float64(sum)/float64(len(scores)))
	s.hash = fmt.Sprintf("%016x", hash)
	return s
}

// largestLayer bounds the layers that a run solves: GRENIER_LONG=1 asks for all that are known.
func largestLayer() int {
	switch {
	case tries.Long():
		return 1 << 30
	case testing.Short():
		return 20_000
	default:
		return 120_000
	}
}

func TestLongAwariEqualsTruth(t *testing.T) {
	known := readTruth(t)
	for _, c := range []struct {
		rules     string
		pits, top int
	}{{"awari", 12, 12}, {"strict", 12, 10}, {"awari", 8, 16}, {"strict", 8, 16}} {
		game := mustGame(t, c.rules, c.pits)
		rows := known[game.Name()]
		must.Hold(t, len(rows) == c.top+1, "%s: %d layers known, want 0 to %d", game.Name(), len(rows), c.top)
		t.Run(game.Name(), func(t *testing.T) {
			t.Parallel()
			checkLayers(t, game, rows)
		})
	}
}

func checkLayers(t *testing.T, game awari.Game, rows []truth) {
	space := testrun.Space(t, game, len(rows)-1)
	var table [][]int8
	for n, want := range rows {
		if want.positions > largestLayer() {
			t.Logf("layers %d to %d need GRENIER_LONG=1", n, len(rows)-1)
			return
		}
		scores, _, err := retro.SolveLayer(t.Context(), space, table, n, nil)
		must.OK(t, err)
		should.Equal(t, summarise(n, scores), want, "layer %d", n)
		table = append(table, scores)
	}
}
