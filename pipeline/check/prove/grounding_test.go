package prove_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/internal/marks"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// TestGrounding has any scores, few of them different, and any marks: passes must ground what follows from these by the words of the
// theorem, in memory and on disk. Rows of the layers with 12 pits are longer than a chunk.
func TestGrounding(t *testing.T) {
	random := tries.Rand(t)
	for _, c := range []struct{ pits, seeds int }{{4, 9}, {6, 8}, {8, 6}, {12, 7}} {
		for _, rules := range awari.RuleSets() {
			game := testrun.Game(t, c.pits, rules)
			t.Run(game.Name(), func(t *testing.T) {
				space, layers := testrun.Space(t, game, c.seeds), [][]int8{}
				for n := range c.seeds + 1 {
					layers = append(layers, make([]int8, space.Size(n)))
				}
				g, last := newGraph(t, game, layers, c.seeds), layers[c.seeds]
				marked := g.anyScores(random, last)
				tables := openTables(t, testrun.Write(t, game, layers, 1000))
				want := g.grounded(last)
				for _, o := range []verify.Options{
					{}, {Job: job.Job{Workers: 3}}, {MemoryBytes: 1}, {Job: job.Job{Workers: 2}, MemoryBytes: int64(len(last)) / 2},
				} {
					dir, err := vfs.OpenDir(t.TempDir())
					must.OK(t, err)
					onDisk, err := marks.Create(dir, rundir.MarksName, uint64(len(last)))
					must.OK(t, err)
					for name, m := range map[string]*marks.Set{"memory": marks.New(uint64(len(last))), "disk": onDisk} {
						must.OK(t, m.Add(marked, 0))
						ground(t, tables, c.seeds, o, m, dir)
						for i, is := range bits(t, m, len(last)) {
							if is != want[i] {
								t.Fatalf("%s, %d workers, %d bytes: position %d is grounded: %v", name, o.Workers, o.MemoryBytes, i, is)
							}
						}
						must.OK(t, m.Close())
					}
					must.OK(t, dir.Close())
				}
			})
		}
	}
}

// anyScores makes up scores, and says which positive ones captures give.
func (g *graph) anyScores(random *rand.Rand, scores []int8) (marked []byte) {
	marked = make([]byte, (len(scores)+7)/8)
	for p := range scores {
		scores[p], g.outside[p] = int8(random.IntN(5)-2), math.MinInt
		if scores[p] > 0 && random.IntN(4) == 0 {
			g.outside[p] = int(scores[p])
			marked[p/8] |= 1 << (p % 8)
		}
	}
	return marked
}

// openTables opens the tables of a directory.
func openTables(t *testing.T, dir string) *tables.Tables {
	t.Helper()
	all, err := tables.Open(t.Context(), dir, catalog.Listed(testrun.Manifest(t, dir)))
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, all.Close()) })
	return all
}

// ground makes passes until one marks nothing.
func ground(t *testing.T, tables *tables.Tables, n int, o verify.Options, m *marks.Set, dir vfs.Dir) {
	t.Helper()
	g, err := verify.NewGrounding(t.Context(), tables, n, o, m, func() (vfs.Dir, error) { return dir, nil })
	must.OK(t, err)
	for {
		more, err := g.Pass(t.Context())
		must.OK(t, err)
		if more == 0 {
			break
		}
	}
	must.OK(t, g.Close())
}

// bits returns which of some positions are marked.
func bits(t *testing.T, m *marks.Set, positions int) []bool {
	t.Helper()
	all, is := make([]byte, (positions+7)/8), make([]bool, positions)
	must.OK(t, m.Read(all, 0))
	for i := range is {
		is[i] = all[i/8]>>(i%8)&1 != 0
	}
	return is
}
