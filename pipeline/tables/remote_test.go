package tables_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/writetest"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/remote"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

// tinyBlock makes the index of a small layer long, and all blocks plain.
const tinyBlock = 4

// far is a run directory, and the same from a server. Layer 14 is longer than what
// is read when it is opened, and its index than what is read as a whole.
type far struct {
	*remotetest.Server
	dir         string
	layers      [][]int8
	space       *awari.Space
	near, there *tables.Tables
}

const farSeeds = 14

func newFar(t *testing.T) *far {
	t.Helper()
	game := testrun.Game(t, 8, awari.Awari)
	f := &far{space: testrun.Space(t, game, farSeeds)}
	f.dir = farRun.Copy(t, func(dir string) {
		solved := tabletest.Solve(t, game, farSeeds)
		for n := range farLayers {
			_, farLayers[n] = writetest.Read(t, filepath.Join(solved, rundir.LayerName(n)))
		}
		testrun.WriteTo(t, dir, game, farLayers[:], tinyBlock)
	})
	f.layers = slices.Clone(farLayers[:])
	for n := range farSeeds + 1 { // files of long ago, whose dates prove something
		date(t, filepath.Join(f.dir, rundir.LayerName(n)), time.Unix(1e9, 0))
	}
	f.Server = remotetest.Serve(t, f.dir, false)
	f.near = tabletest.Open(t, f.dir)
	f.there = openFar(t, f.Server, remote.Options{Pause: time.Nanosecond})
	return f
}

// farRun has the files of far tables, farLayers their scores.
var (
	farRun    testrun.Fixture
	farLayers [farSeeds + 1][]int8
)

func openFar(t *testing.T, s *remotetest.Server, o remote.Options) *tables.Tables {
	t.Helper()
	return tabletest.Open(t, s.URL, tables.Server(o))
}

// randomBoard returns a board of one of the layers from least to farSeeds.
func (f *far) randomBoard(random *rand.Rand, least int) awari.Board {
	n := least + random.IntN(farSeeds+1-least)
	return f.space.Unrank(n, random.Uint64N(f.space.Size(n)))
}

// needs returns the requests that cold tables make to probe boards: manifest, head and end of each layer, parts of the index, blocks, each once.
func (f *far) needs(t *testing.T, boards ...awari.Board) []string {
	t.Helper()
	all := map[string]bool{rundir.ManifestName + " ": true}
	for _, b := range boards {
		f.needsScore(t, all, b)
		for _, play := range f.space.Plays(b) {
			if play.Legal {
				f.needsScore(t, all, play.Child)
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (f *far) needsScore(t *testing.T, all map[string]bool, b awari.Board) {
	t.Helper()
	n, rank := f.space.Rank(b)
	info := must.Get(os.Stat(f.near.Path(n)))(t)
	need := func(from, length int64) {
		all[fmt.Sprintf("%s bytes=%d-%d", rundir.LayerName(n), from, from+length-1)] = true
	}
	need(0, remote.HeadBytes)
	size, positions := info.Size(), int64(f.space.Size(n))
	blocks, block := (positions+tinyBlock-1)/tinyBlock, int64(rank/tinyBlock)
	if size <= remote.HeadBytes {
		return
	}
	const entry, footer, page = 24, 76, 1024
	index := size - footer - blocks*entry
	if blocks*entry <= layerfile.WholeIndex {
		need(index, size-index)
	} else {
		need(size-footer, footer)
		from, to := block/page*page, min((block/page+1)*page, blocks)
		need(index+from*entry, (to-from)*entry)
	}
	start := index - positions + block*tinyBlock // all blocks are plain
	if length := min(tinyBlock, positions-block*tinyBlock); start+length > remote.HeadBytes {
		need(start, length)
	}
}

func (f *far) asked() (list []string) {
	for _, r := range f.Take() {
		list = append(list, r.File+" "+r.Range)
	}
	slices.Sort(list)
	return list
}

// TestLongRemoteRequests probes boards, each with cold tables, and wants just the requests that docs/remote.md promises.
func TestLongRemoteRequests(t *testing.T) {
	f := newFar(t)
	f.Take()
	random := rand.New(rand.NewPCG(5, 7))
	most := 0
	for range tries.More(12, 25) {
		b := f.randomBoard(random, 10)
		tab := openFar(t, f.Server, remote.Options{})
		want := must.Get(f.near.Probe(t.Context(), b))(t)
		must.Equal(t, must.Get(tab.Probe(t.Context(), b))(t), want, "board %s", f.space.Text(b))
		asked := f.asked()
		should.Equal(t, cmp.Diff(f.needs(t, b), asked), "", "board %s", f.space.Text(b))
		most = max(most, len(asked))
		must.OK(t, must.Err(tab.Probe(t.Context(), b)))
		should.List(t, f.asked(), nil, "board %s: asked again", f.space.Text(b))
	}
	should.Not(t, most < 9, "%d requests at most: the boards are too easy", most)
}

// TestLongRemoteBatch asks for many boards: no byte is asked for twice. Boards that are not there are refused without a request.
func TestLongRemoteBatch(t *testing.T) {
	f := newFar(t)
	asked := f.asked()
	for board, want := range map[awari.Board]error{{farSeeds + 1}: tables.ErrUnsolved, {8: 1}: awari.ErrBoard} {
		should.Be(t, must.Err(f.there.Probe(t.Context(), board)), want)
		should.Be(t, must.Err(f.there.Probes(t.Context(), []awari.Board{{3, 3}, board})), want)
		should.Be(t, f.there.Scores(t.Context(), []awari.Board{{3, 3}, board}, make([]int8, 2)), want)
	}
	should.List(t, f.asked(), nil, "asked for boards that are not there")
	random := rand.New(rand.NewPCG(7, 8))
	boards := make([]awari.Board, tries.More(60, 200))
	for i := range boards {
		boards[i] = f.randomBoard(random, 0)
	}
	want := must.Get(f.near.Probes(t.Context(), boards))(t)
	must.Same(t, "another result", want, must.Get(f.there.Probes(t.Context(), boards))(t))
	must.Same(t, "other requests", f.needs(t, boards...), slices.Sorted(slices.Values(slices.Concat(asked, f.asked()))))
	for i, b := range boards {
		must.Equal(t, must.Get(f.there.Probe(t.Context(), b))(t), want[i], "board %s", f.space.Text(b))
		must.Equal(t, int(must.Get(f.there.Score(t.Context(), b))(t)), want[i].Value, "board %s", f.space.Text(b))
	}
	should.List(t, f.asked(), nil, "asked again")
}

// TestLongOnce looks up boards of a layer in random order, with a cache for one block, and wants no part of the file to be read twice.
func TestLongOnce(t *testing.T) {
	f := newFar(t)
	f.Take()
	tab := tabletest.Open(t, f.URL, tables.Server(remote.Options{}), tables.CacheBytes(1))
	random := rand.New(rand.NewPCG(8, 9))
	n := tries.More(500, 2000)
	boards, want := make([]awari.Board, n), make([]int8, n)
	for i := range boards { // of blocks that are not in the head of the file, three or four of each
		rank := remote.HeadBytes + random.Uint64N(uint64(n*3/10*tinyBlock))
		boards[i], want[i] = f.space.Unrank(farSeeds, rank), f.layers[farSeeds][rank]
	}
	got := make([]int8, len(boards))
	must.OK(t, tab.Scores(t.Context(), boards, got))
	should.List(t, got, want)
	asked := f.asked()
	should.List(t, slices.Compact(slices.Clone(asked)), asked, "read twice")
	should.Not(t, len(asked) < n*3/20, "%d requests", len(asked))
}

// TestRemoteFailures: a server that fails for a while is no damage, and what it answers later is right.
func TestRemoteFailures(t *testing.T) {
	f := newFar(t)
	var n atomic.Int32
	busy := func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return true
	}
	f.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		switch n.Add(1) % 3 {
		case 0:
			return busy(w, r)
		case 1:
			panic(http.ErrAbortHandler)
		}
		return false
	})
	tab := openFar(t, f.Server, remote.Options{Pause: time.Nanosecond, Attempts: 100})
	f.Hook(busy)
	b := awari.Board{3, 2, 2, 2, 1, 1, 1, 2}
	err := must.Err(f.there.Probe(t.Context(), b))
	should.Hold(t, must.As[*remote.StatusError](t, err).Code == 503 && !errors.Is(err, corrupt.ErrCorrupt), "a busy server: %v", err)
	f.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		if n.Add(1)%2 == 0 {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	want := must.Get(f.near.Probe(t.Context(), b))(t)
	for _, far := range []*tables.Tables{tab, f.there} {
		for range 100 { // attempts of f.there may all fall on failures
			if p, err := far.Probe(t.Context(), b); err == nil {
				should.Equal(t, p, want)
				break
			}
		}
	}
}

// TestLongRemoteReplaced replaces an open layer file by one of the same length with other scores, and no wrong score may
// come of it, even if the server gives both files the same validators, as long as it does not claim that these are
// strong: the index of one does not fit the blocks of the other.
func TestLongRemoteReplaced(t *testing.T) {
	var other []byte
	old, never, soon := time.Unix(1e9, 0), time.Unix(0, 0), time.Now().Add(time.Hour) // package http does not send 0
	for name, c := range map[string]struct {
		before, after time.Time
		want          error
	}{
		"seen by date": {old, old.Add(time.Second), remote.ErrChanged}, "not seen": {never, never, corrupt.ErrCorrupt},
		"too new to tell": {soon, soon, corrupt.ErrCorrupt},
	} {
		f := newFar(t)
		f.Hook(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("ETag", `W/"always"`)
			return false
		})
		right := f.layers[farSeeds]
		if other == nil {
			f.layers[farSeeds] = slices.Clone(right)
			for i := range right {
				f.layers[farSeeds][i] ^= 1
			}
			other = must.Read(t, filepath.Join(testrun.Write(t, f.space.Game, f.layers, tinyBlock), rundir.LayerName(farSeeds)))
		}
		path := f.near.Path(farSeeds)
		date(t, path, c.before)
		must.OK(t, must.Err(f.there.Probe(t.Context(), awari.Board{4, 4, 4, 2})))
		must.Write(t, path, other)
		date(t, path, c.after)
		random, refused := rand.New(rand.NewPCG(10, 11)), 0
		for range tries.More(50, 100) {
			rank := random.Uint64N(f.space.Size(farSeeds))
			got, err := f.there.ScoreAt(t.Context(), farSeeds, rank)
			switch {
			case err == nil && got == right[rank]:
			case errors.Is(err, c.want) && errors.Is(err, remote.ErrChanged) != errors.Is(err, corrupt.ErrCorrupt):
				refused++
			default:
				t.Fatalf("%s, rank %d: %d, %v", name, rank, got, err)
			}
		}
		should.Not(t, refused < tries.More(15, 30), "%s: refused %d times", name, refused)
		// The new file is not the one that the manifest lists.
		should.Be(t, must.Err(openFar(t, f.Server, remote.Options{}).ScoreAt(t.Context(), farSeeds, 0)), corrupt.ErrMismatch, "opened again")
	}
}

func date(t *testing.T, path string, when time.Time) {
	t.Helper()
	must.OK(t, os.Chtimes(path, when, when))
}

// TestBoards: all boards of each layer come, in order, with their scores, from a disk and from a server. A sequence ends where its user stops,
// at damage, and with its context, and leaves nothing behind.
func TestBoards(t *testing.T) {
	f := newFar(t)
	for range f.there.Boards(t.Context(), 8) {
		break
	}
	count := func(ctx context.Context, tab *tables.Tables, n int, stop func()) (good int, last error) {
		for e, err := range tab.Boards(ctx, n) {
			should.Hold(t, last == nil, "something comes after an error")
			want := tables.Entry{}
			if last = err; err == nil {
				want = tables.Entry{Board: f.space.Unrank(n, uint64(good)), Score: f.layers[n][good]}
				good++
				stop()
			}
			must.Equal(t, e, want, "layer %d, board %d", n, good)
		}
		return good, last
	}
	for _, tab := range []*tables.Tables{f.near, f.there} {
		for _, n := range []int{0, 1, 5, 8} {
			boards, err := count(t.Context(), tab, n, func() {})
			should.Hold(t, err == nil && boards == len(f.layers[n]), "layer %d: %d boards, %v", n, boards, err)
		}
	}
	n, err := count(t.Context(), f.near, farSeeds+1, func() {})
	should.Hold(t, n == 0 && errors.Is(err, tables.ErrUnsolved), "not solved: %d boards, %v", n, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, err = count(ctx, f.there, farSeeds, cancel)
	should.Not(t, n == 0 || n >= len(f.layers[farSeeds]) || !errors.Is(err, context.Canceled), "cancelled: %d boards, %v", n, err)
	path := f.near.Path(7)
	testrun.Flip(t, path, len(must.Read(t, path))/3)
	n, err = count(t.Context(), tabletest.Open(t, f.dir), 7, func() {}) // not in the cache
	should.Not(t, n >= len(f.layers[7]), "damaged: %d boards", n)
	should.Says(t, err, tables.ErrCorrupt, path)
}

// TestRemoteReadsAhead: a read, and an iteration, asks for several blocks at a time.
func TestRemoteReadsAhead(t *testing.T) {
	f := newFar(t)
	scores := f.layers[farSeeds]
	for name, read := range map[string]func(){
		"Read": func() {
			got := make([]int8, 333)
			err := f.there.Read(t.Context(), farSeeds, 70_001, got)
			should.Hold(t, err == nil && slices.Equal(got, scores[70_001:][:333]), "other scores, %v", err)
		},
		"Boards": func() {
			rank := 0
			for e, err := range f.there.Boards(t.Context(), farSeeds) {
				must.Hold(t, err == nil && e.Score == scores[rank], "rank %d: %+v, %v", rank, e, err)
				if rank++; rank == remote.HeadBytes+300 {
					break
				}
			}
		},
	} {
		for rank := 0; rank < len(scores); rank += 1024 * tinyBlock { // reads the index
			must.OK(t, must.Err(f.there.ScoreAt(t.Context(), farSeeds, uint64(rank))))
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
		read()
		f.Hook(nil)
		should.Not(t, waiting < 8, "%s: %d requests", name, waiting)
	}
	should.Equal(t, f.there.Path(8), f.URL+"/layer-08.gl")
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
	last, c := tab.MaxSeeds(), awari.Board{1, 3, 3, 1, 4}
	searcher := search.New(search.NewBlocks(tab, 1<<20), search.Options{Bytes: 1 << 20})
	for name, call := range map[string]func(ctx context.Context) error{
		"Open": func(ctx context.Context) error {
			return must.Err(tables.Open(ctx, f.URL, tables.Server(tables.ServerOptions{Timeout: time.Hour})))
		},
		"Score, layer not open": func(ctx context.Context) error { return must.Err(tab.Score(ctx, awari.Board{2, 2, 3, 3, 3})) },
		"Score, layer open":     func(ctx context.Context) error { return must.Err(tab.ScoreAt(ctx, 12, 40_000)) },
		"Probe":                 func(ctx context.Context) error { return must.Err(tab.Probe(ctx, c)) },
		"Scores":                func(ctx context.Context) error { return tab.Scores(ctx, []awari.Board{c}, make([]int8, 1)) },
		"Probes":                func(ctx context.Context) error { return must.Err(tab.Probes(ctx, []awari.Board{c})) },
		"Read":                  func(ctx context.Context) error { return tab.Read(ctx, last, 0, make([]int8, 1000)) },
		"ReadOne":               func(ctx context.Context) error { return must.Err(tab.ReadOne(ctx, last, 70_000)) },
		"line.Best":             func(ctx context.Context) error { return must.Err(line.Best(ctx, tab, c, line.Options{})) },
		"search.Search": func(ctx context.Context) error {
			return must.Err(searcher.Search(ctx, awari.Board{4, 4, 4, 2, 3}, search.Limits{}))
		},
		"File": func(ctx context.Context) error { return must.Err(tab.File(ctx, last)) },
		"Boards": func(ctx context.Context) error {
			for _, err := range tab.Boards(ctx, last) {
				return err
			}
			return nil
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		err := call(ctx)
		should.Not(t, !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, corrupt.ErrCorrupt), "%s: %v", name, err)
		cancel()
	}
	should.Be(t, must.Err(tab.Score(t.Context(), b)), nil, "a score in the cache")
	close(well)
	should.Be(t, must.Err(tab.Probe(t.Context(), c)), nil, "afterwards")
}
