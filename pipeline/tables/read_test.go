package tables_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

// TestBoards: all boards of each layer come, in order, with their scores, from a disk and from a server.
func TestBoards(t *testing.T) {
	f := newFar(t)
	for name, tab := range map[string]*tables.Tables{"near": f.near, "far": f.there} {
		for _, n := range []int{0, 1, 5, 8} {
			rank := uint64(0)
			for e, err := range tab.Boards(t.Context(), n) {
				must.OK(t, err)
				if want := f.space.Unrank(n, rank); e.Board != want || e.Score != farLayers(t)[n][rank] {
					t.Fatalf("%s, layer %d, rank %d: %+v, want %v", name, n, rank, e, want)
				}
				rank++
			}
			should.Hold(t, rank == f.space.Size(n), "%s, layer %d: %d boards", name, n, rank)
		}
	}
}

// TestBoardsEnd: a sequence ends where its user stops, at damage, and with its context, and leaves nothing behind.
func TestBoardsEnd(t *testing.T) {
	f := newFar(t)
	for range f.there.Boards(t.Context(), 8) {
		break
	}
	count := func(ctx context.Context, tab *tables.Tables, n int, stop func()) (good int, last error) {
		for e, err := range tab.Boards(ctx, n) {
			should.Hold(t, last == nil, "something comes after an error")
			if last = err; err == nil {
				good++
				stop()
			} else if e != (tables.Entry{}) {
				t.Errorf("an error has %+v", e)
			}
		}
		return good, last
	}
	n, err := count(t.Context(), f.near, farSeeds+1, func() {})
	should.Hold(t, n == 0 && errors.Is(err, tables.ErrUnsolved), "not solved: %d boards, %v", n, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, err = count(ctx, f.there, farSeeds, cancel)
	should.Not(t, n == 0 || uint64(n) >= f.space.Size(farSeeds) || !errors.Is(err, context.Canceled), "cancelled: %d boards, %v", n, err)
	path := f.near.Path(7)
	data := must.Read(t, path)
	data[len(data)/3] ^= 1
	must.Write(t, path, data)
	fresh := open(t, f.dir)
	if n, err := count(t.Context(), fresh, 7, func() {}); uint64(n) >= f.space.Size(7) || !errors.Is(err, tables.ErrCorrupt) || !strings.Contains(err.Error(), path) {
		t.Errorf("damaged: %d boards, %v", n, err)
	}
}

// TestRemoteReadsAhead: a read, and an iteration, asks for several blocks at a time.
func TestRemoteReadsAhead(t *testing.T) {
	f := newFar(t)
	for name, read := range map[string]func() error{
		"Read": func() error {
			got := make([]int8, 333)
			err := f.there.Read(t.Context(), farSeeds, 70_001, got)
			should.Hold(t, err == nil && slices.Equal(got, farLayers(t)[farSeeds][70_001:][:333]), "other scores, %v", err)
			return nil
		},
		"Boards": func() error {
			rank := 0
			for e, err := range f.there.Boards(t.Context(), farSeeds) {
				must.Hold(t, err == nil && e.Score == farLayers(t)[farSeeds][rank], "rank %d: %+v, %v", rank, e, err)
				rank++
			}
			return nil
		},
	} {
		for rank := uint64(0); rank < f.space.Size(farSeeds); rank += 1024 * tinyBlock { // reads the index
			must.OK(t, must.Err(f.there.ScoreAt(t.Context(), farSeeds, rank)))
		}
		var mu sync.Mutex
		waiting, all := 0, make(chan bool)
		f.Hook(func(http.ResponseWriter, *http.Request) bool {
			mu.Lock()
			if waiting++; waiting == 8 {
				close(all)
			}
			mu.Unlock()
			<-all // eight requests wait, or none is answered
			return false
		})
		must.OK(t, read())
		f.Hook(nil)
		should.Not(t, waiting < 8, "%s: %d requests", name, waiting)
	}
	for _, start := range []uint64{f.space.Size(farSeeds), 1 << 63} {
		should.Be(t, f.there.Read(t.Context(), farSeeds, start, make([]int8, 1)), tables.ErrRange, "rank %d", start)
	}
}

// TestDeadline: whatever waits for a server that never answers ends with its context, an opening too, and
// says nothing about the files. What was opened with a context that has ended since works on.
func TestDeadline(t *testing.T) {
	f := newFar(t)
	opening, cancel := context.WithCancel(t.Context())
	tab := must.Get(tables.Open(opening, f.URL, tables.Server(tables.ServerOptions{Timeout: time.Hour})))(t)
	defer tab.Close()
	cancel()
	b := awari.Board{3, 3, 3, 3}
	must.OK(t, must.Err(tab.Score(t.Context(), b)))
	well := make(chan bool)
	f.Hook(func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-r.Context().Done():
			return true
		case <-well: // also for a request that is about to be given up, and which the last call shares
			return false
		}
	})
	last := tab.MaxSeeds()
	for name, call := range map[string]func(ctx context.Context) error{
		"Open": func(ctx context.Context) error {
			_, err := tables.Open(ctx, f.URL, tables.Server(tables.ServerOptions{Timeout: time.Hour}))
			return err
		},
		"Score, layer not open": func(ctx context.Context) error { _, err := tab.Score(ctx, awari.Board{2, 2, 3, 3, 3}); return err },
		"Score, layer open":     func(ctx context.Context) error { _, err := tab.ScoreAt(ctx, 12, 40_000); return err },
		"Probe":                 func(ctx context.Context) error { _, err := tab.Probe(ctx, awari.Board{1, 3, 3, 1, 4}); return err },
		"Scores": func(ctx context.Context) error {
			return tab.Scores(ctx, []awari.Board{{1, 3, 3, 1, 4}}, make([]int8, 1))
		},
		"Probes":  func(ctx context.Context) error { _, err := tab.Probes(ctx, []awari.Board{{1, 3, 3, 1, 4}}); return err },
		"Read":    func(ctx context.Context) error { return tab.Read(ctx, last, 0, make([]int8, 1000)) },
		"ReadOne": func(ctx context.Context) error { _, err := tab.ReadOne(ctx, last, 70_000); return err },
		"line.Best": func(ctx context.Context) error {
			_, err := line.Best(ctx, tab, awari.Board{1, 3, 3, 1, 4}, line.Options{})
			return err
		},
		"search.Search": func(ctx context.Context) error {
			_, err := search.New(search.NewBlocks(tab, 1<<20), search.Options{Bytes: 1 << 20}).Search(ctx, awari.Board{4, 4, 4, 2, 3}, search.Limits{})
			return err
		},
		"File": func(ctx context.Context) error { _, err := tab.File(ctx, last); return err },
		"Boards": func(ctx context.Context) error {
			for _, err := range tab.Boards(ctx, last) {
				return err
			}
			return nil
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := call(ctx)
		should.Not(t, !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, corrupt.ErrCorrupt), "%s: %v", name, err)
		cancel()
	}
	should.Be(t, must.Err(tab.Score(t.Context(), b)), nil, "a score in the cache")
	close(well)
	should.Be(t, must.Err(tab.Probe(t.Context(), awari.Board{1, 3, 3, 1, 4})), nil, "afterwards")
}

// TestEndedContext: near tables decode nothing for a context that has ended.
func TestEndedContext(t *testing.T) {
	f := newFar(t)
	ctx := must.Ended(t)
	_, score := f.near.Score(ctx, awari.Board{3, 3, 3})
	_, probe := f.near.Probe(ctx, awari.Board{3, 3, 3})
	_, one := f.near.ReadOne(ctx, 9, 1000)
	for _, err := range []error{score, probe, one, f.near.Read(ctx, 9, 0, make([]int8, 100))} {
		should.Not(t, !errors.Is(err, context.Canceled) || errors.Is(err, corrupt.ErrCorrupt), "%v", err)
	}
}

// TestResize changes the size of the cache while others read.
func TestResize(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 8)
	tab := open(t, testrun.Write(t, game, layers, 128))
	space := testrun.Space(t, game, 8)
	var group sync.WaitGroup
	for i := range uint64(4) {
		group.Go(func() {
			for rank := i; rank < space.Size(8); rank += 3 {
				if got, err := tab.Score(t.Context(), space.Unrank(8, rank)); err != nil || got != layers[8][rank] {
					t.Errorf("rank %d: %d, %v, want %d", rank, got, err, layers[8][rank])
					return
				}
				if rank%100 == 0 {
					tab.Resize(rank * 1000)
				}
			}
		})
	}
	group.Wait()
}

// TestPath: a layer that is not solved has no file.
func TestPath(t *testing.T) {
	dir := testrun.Dir(t, 4, awari.Awari, 5, 64)
	tab := open(t, dir)
	should.Equal(t, tab.Path(5), filepath.Join(dir, rundir.LayerName(5)))
	for _, n := range []int{-1, 6, 99} {
		should.Equal(t, tab.Path(n), "", "layer %d", n)
	}
}

// BenchmarkRemoteRead opens tables and reads layer 15 of 12 pits through a server that takes 20 ms for each request.
func BenchmarkRemoteRead(b *testing.B) {
	dir := solveRun(b, testrun.Game(b, 12, awari.Awari), 15)
	handler := http.FileServerFS(os.DirFS(dir))
	server := slowServer(b, handler, 20*time.Millisecond)
	scores := make([]int8, testrun.Space(b, testrun.Game(b, 12, awari.Awari), 15).Size(15))
	for b.Loop() {
		tab := must.Get(tables.Open(b.Context(), server))(b)
		must.OK(b, tab.Read(b.Context(), 15, 0, scores))
		must.OK(b, tab.Close())
	}
}

// BenchmarkRead reads it from the disk.
func BenchmarkRead(b *testing.B) {
	tab := open(b, solveRun(b, testrun.Game(b, 12, awari.Awari), 15))
	scores := make([]int8, tab.Layers()[15].Positions)
	b.SetBytes(int64(len(scores)))
	for b.Loop() {
		must.OK(b, tab.Read(b.Context(), 15, 0, scores))
	}
}

// BenchmarkBoards iterates over its boards.
func BenchmarkBoards(b *testing.B) {
	tab := open(b, solveRun(b, testrun.Game(b, 12, awari.Awari), 15))
	sum := 0
	b.SetBytes(int64(tab.Layers()[15].Positions))
	for b.Loop() {
		for e, err := range tab.Boards(b.Context(), 15) {
			must.OK(b, err)
			sum += int(e.Score)
		}
	}
}
