package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

// cut is tables of which only the lower layers are shown.
type cut struct {
	*tables.Tables
	shown int
}

func (c cut) MaxSeeds() int { return c.shown }

// number reads an environment variable.
func number(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAbove measures what is solved of random boards that have 2 to 8 seeds more than
// tables that are cut at GRENIER_ABOVE_SHOWN seeds. The layers of the boards must be solved too:
// what is claimed is compared with them.
func TestAbove(t *testing.T) {
	dir := os.Getenv("GRENIER_ABOVE")
	if dir == "" {
		t.Skip("GRENIER_ABOVE names no run directory")
	}
	tab, err := tables.Open(dir, tables.Options{Family: cpu.Best(), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	shown, boards := number(t, "GRENIER_ABOVE_SHOWN", 21), number(t, "GRENIER_ABOVE_BOARDS", 200)
	limit := time.Duration(number(t, "GRENIER_ABOVE_MS", 10000)) * time.Millisecond
	space, err := awari.NewSpace(tab.Game(), shown+8)
	if err != nil {
		t.Fatal(err)
	}
	blocks := search.NewBlocks(cut{tab, shown}, 1<<30)
	random := rand.New(rand.NewPCG(19, 4))
	var exact, all, width [9]int
	var nodes, spent float64
	for i := range boards {
		above := 2 + i%7
		b := space.Unrank(shown+above, random.Uint64N(space.Size(shown+above)))
		e := search.New(blocks, search.Options{Bytes: 1 << 30, Workers: number(t, "GRENIER_ABOVE_WORKERS", 1)})
		r, err := e.Search(t.Context(), b, search.Limits{Time: limit})
		if err != nil {
			t.Fatal(err)
		}
		truth, err := tab.Score(b)
		if err != nil {
			t.Fatal(err)
		}
		if r.Lower > int(truth) || r.Upper < int(truth) {
			t.Errorf("board %s: %d to %d, the score is %d", space.Text(b), r.Lower, r.Upper, truth)
		}
		all[above]++
		width[above] += r.Upper - r.Lower
		if r.Exact() {
			exact[above]++
		}
		nodes += float64(r.Nodes)
		spent += r.Elapsed.Seconds()
		fmt.Printf("%d +%d %s: %d..%d est %d truth %d depth %d nodes %d hits %d %.2fs %.2f Mn/s %s\n", i, above, space.Text(b),
			r.Lower, r.Upper, r.Estimate, truth, r.Depth, r.Nodes, r.TableHits, r.Elapsed.Seconds(), r.NodesPerSecond()/1e6, r.Reason)
	}
	total := 0
	for above := 2; above <= 8; above++ {
		fmt.Printf("+%d: %d of %d exact, mean width %.1f\n", above, exact[above], all[above], float64(width[above])/float64(max(1, all[above])))
		total += exact[above]
	}
	fmt.Printf("%d of %d exact, %.2f M nodes/s\n", total, boards, nodes/spent/1e6)
}
