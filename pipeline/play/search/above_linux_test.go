package search_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/crew"
	"grenier/pipeline/job"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

// cut is tables of which only the lower layers are shown.
type cut struct {
	*tables.Tables
	shown int
}

func (c cut) MaxSeeds() int { return c.shown }

func number(t *testing.T, name string, usual int) int {
	return must.Get(strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(usual))))(t)
}

// processorTime returns the time that this process has used, of all processors.
func processorTime(t *testing.T) time.Duration {
	var used unix.Rusage
	must.OK(t, unix.Getrusage(unix.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// within returns a context that ends when this process has used some more processor time: other
// processes make a search slower, but change little of what it finds.
func within(t *testing.T, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	end := processorTime(t) + limit
	crew.Go(func() error {
		for left := limit; ctx.Err() == nil && left > 0; left = end - processorTime(t) {
			select {
			case <-ctx.Done():
			case <-time.After(max(5*time.Millisecond, left/time.Duration(runtime.NumCPU()))):
			}
		}
		return nil
	}, func(error) { cancel() })
	return ctx, cancel
}

// TestAbove measures what is solved of random boards that have 2 to 8 seeds more than tables that are cut at GRENIER_ABOVE_SHOWN seeds, in
// GRENIER_ABOVE_MS of processor time each and GRENIER_ABOVE_MB of memory. They are GRENIER_ABOVE_BOARDS. What is claimed is compared with the
// layers of the boards, as far as they are solved.
func TestAbove(t *testing.T) {
	dir := os.Getenv("GRENIER_ABOVE")
	tries.SkipIf(t, dir == "", "GRENIER_ABOVE names no run directory")
	tab := must.Get(tables.Open(t.Context(), dir, tables.CacheBytes(1<<20)))(t)
	defer tab.Close()
	shown, boards := number(t, "GRENIER_ABOVE_SHOWN", 21), number(t, "GRENIER_ABOVE_BOARDS", 200)
	limit := time.Duration(number(t, "GRENIER_ABOVE_MS", 10000)) * time.Millisecond
	space := testrun.Space(t, tab.Game(), shown+8)
	blocks := search.NewBlocks(cut{tab, shown}, 1<<30)
	random := rand.New(rand.NewPCG(19, 4))
	var exact, all, width [9]int
	total := 0
	for i := range boards {
		above := 2 + i%7
		b := space.Unrank(shown+above, random.Uint64N(space.Size(shown+above)))
		e := search.New(blocks, search.Options{Bytes: int64(number(t, "GRENIER_ABOVE_MB", 1024)) << 20, Job: job.Job{Workers: number(t, "GRENIER_ABOVE_WORKERS", 1)}})
		before := processorTime(t)
		ctx, cancel := within(t, limit)
		r, err := e.Search(ctx, b, search.Limits{})
		cancel()
		must.Not(t, r == nil, "%v", err)
		used := (processorTime(t) - before).Seconds()
		score := "unknown"
		if shown+above <= tab.MaxSeeds() {
			truth := must.Get(tab.Score(t.Context(), b))(t)
			should.Not(t, r.Lower > int(truth) || r.Upper < int(truth), "board %s: %d to %d, the score is %d", space.Text(b), r.Lower, r.Upper, truth)
			score = strconv.Itoa(int(truth))
		}
		all[above]++
		width[above] += r.Upper - r.Lower
		if r.Exact() {
			exact[above]++
			total++
		}
		fmt.Printf("%d +%d %s: %d to %d, estimate %d, score %s, depth %d, %d nodes, %.1f s, %.2f M nodes/s\n", i, above, space.Text(b),
			r.Lower, r.Upper, r.Estimate, score, r.Depth, r.Nodes, used, float64(r.Nodes)/1e6/used)
	}
	for above := 2; above <= 8; above++ {
		fmt.Printf("+%d: %d of %d exact, upper minus lower %.1f\n", above, exact[above], all[above], float64(width[above])/float64(max(1, all[above])))
	}
	fmt.Printf("%d of %d exact\n", total, boards)
}
