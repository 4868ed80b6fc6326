package tables_test

import (
	"context"
	"errors"
	"fmt"
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
	space       *awari.Space
	near, there *tables.Tables
}

const farSeeds = 14

var (
	solveFar sync.Once
	solved   [][]int8
)

// farLayers returns the layers, which are solved once.
func farLayers(t *testing.T) [][]int8 {
	t.Helper()
	solveFar.Do(func() { solved = testrun.Solve(t, testrun.Game(t, 8, awari.Awari), farSeeds) })
	return solved
}

func newFar(t *testing.T) *far {
	t.Helper()
	game := testrun.Game(t, 8, awari.Awari)
	layers := farLayers(t)
	f := &far{dir: farRun.Copy(t, func(dir string) { testrun.WriteTo(t, dir, game, layers, tinyBlock) }), space: testrun.Space(t, game, farSeeds)}
	for n := range farSeeds + 1 { // files of long ago, whose dates prove something
		date(t, filepath.Join(f.dir, rundir.LayerName(n)), time.Unix(1e9, 0))
	}
	f.Server = remotetest.Serve(t, f.dir, false)
	f.near = tabletest.Open(t, f.dir)
	f.there = openFar(t, f.Server, remote.Options{Pause: time.Nanosecond})
	return f
}

// farRun has the files of far tables, otherRun those with other scores of the last layer.
var farRun, otherRun testrun.Fixture

func openFar(t *testing.T, s *remotetest.Server, o remote.Options) *tables.Tables {
	t.Helper()
	return tabletest.Open(t, s.URL, tables.Server(o))
}

// randomBoard returns a board of one of the layers from least to farSeeds.
func (f *far) randomBoard(random *rand.Rand, least int) awari.Board {
	n := least + random.IntN(farSeeds+1-least)
	return f.space.Unrank(n, random.Uint64N(f.space.Size(n)))
}

// needs returns the requests that cold tables make to probe boards: manifest, head
// and end of each layer, parts of the index, blocks, each once.
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
	return sorted(all)
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
	if whole := blocks*entry <= layerfile.WholeIndex; whole {
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

func sorted(all map[string]bool) []string {
	var list []string
	for s := range all {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

func (f *far) asked() []string {
	var list []string
	for _, r := range f.Take() {
		list = append(list, r.File+" "+r.Range)
	}
	slices.Sort(list)
	return list
}

// TestRemoteRequests probes boards, each with cold tables, and wants just the requests that docs/remote.md promises.
func TestRemoteRequests(t *testing.T) {
	f := newFar(t)
	f.Take()
	random := rand.New(rand.NewPCG(5, 6))
	most := 0
	for range 50 {
		b := f.randomBoard(random, 10)
		tab := openFar(t, f.Server, remote.Options{})
		want := must.Get(f.near.Probe(t.Context(), b))(t)
		got, err := tab.Probe(t.Context(), b)
		must.Hold(t, got == want && err == nil, "board %s: %+v, %v, want %+v", f.space.Text(b), got, err, want)
		asked := f.asked()
		should.Equal(t, cmp.Diff(f.needs(t, b), asked), "", "board %s", f.space.Text(b))
		most = max(most, len(asked))
		_, err = tab.Probe(t.Context(), b)
		should.Hold(t, err == nil && f.asked() == nil, "board %s: asked again, %v", f.space.Text(b), err)
	}
	should.Not(t, most < 9, "%d requests at most: the boards are too easy", most)
}

// TestRemoteBatch asks for many boards: no byte is asked for twice.
func TestRemoteBatch(t *testing.T) {
	f := newFar(t)
	random := rand.New(rand.NewPCG(7, 8))
	boards := make([]awari.Board, 400)
	for i := range boards {
		boards[i] = f.randomBoard(random, 0)
	}
	want := must.Get(f.near.Probes(t.Context(), boards))(t)
	must.Same(t, "another result", want, must.Get(f.there.Probes(t.Context(), boards))(t))
	must.Same(t, "another result", f.needs(t, boards...), f.asked())
	for i, b := range boards {
		p, err := f.there.Probe(t.Context(), b)
		must.Hold(t, p == want[i] && err == nil, "board %s: %+v, %v", f.space.Text(b), p, err)
		s, err := f.there.Score(t.Context(), b)
		must.Hold(t, int(s) == want[i].Value && err == nil, "board %s: %d, %v", f.space.Text(b), s, err)
	}
	asked := f.asked()
	should.Hold(t, asked == nil, "asked again: %v", asked)
}

// TestRemoteUnsolved asks nothing of the server.
func TestRemoteUnsolved(t *testing.T) {
	f := newFar(t)
	f.Take()
	for board, want := range map[awari.Board]error{{farSeeds + 1}: tables.ErrUnsolved, {8: 1}: awari.ErrBoard} {
		should.Be(t, must.Err(f.there.Probe(t.Context(), board)), want)
		should.Be(t, must.Err(f.there.Probes(t.Context(), []awari.Board{{3, 3}, board})), want)
		should.Be(t, f.there.Scores(t.Context(), []awari.Board{{3, 3}, board}, make([]int8, 2)), want)
	}
	asked := f.asked()
	should.Hold(t, asked == nil, "asked: %v", asked)
}

// TestRemoteFailures: a server that fails for a while is no damage, and what it answers later is right.
func TestRemoteFailures(t *testing.T) {
	f := newFar(t)
	var n atomic.Int32
	f.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		switch n.Add(1) % 3 {
		case 0:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case 1:
			panic(http.ErrAbortHandler)
		default:
			return false
		}
		return true
	})
	tab := openFar(t, f.Server, remote.Options{Pause: time.Nanosecond, Attempts: 100})
	f.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return true
	})
	b := awari.Board{3, 2, 2, 2, 1, 1, 1, 2}
	_, err := f.there.Probe(t.Context(), b)
	should.Not(t, !isStatus(err, 503) || errors.Is(err, corrupt.ErrCorrupt), "a busy server: %v", err)
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

func isStatus(err error, code int) bool {
	s, ok := errors.AsType[*remote.StatusError](err)
	return ok && s.Code == code
}

// TestRemoteReplaced replaces an open layer file by one of the same length with other scores, and no wrong score may
// come of it, even if the server gives both files the same validators, as long as it does not claim that these are
// strong: the index of one does not fit the blocks of the other.
func TestRemoteReplaced(t *testing.T) {
	old := time.Unix(1e9, 0)
	t.Run("seen by date", func(t *testing.T) { replaceLayer(t, old, old.Add(time.Second), remote.ErrChanged) })
	never := time.Unix(0, 0) // which package http does not send
	t.Run("not seen", func(t *testing.T) { replaceLayer(t, never, never, corrupt.ErrCorrupt) })
	soon := time.Now().Add(time.Hour)
	t.Run("too new to tell", func(t *testing.T) { replaceLayer(t, soon, soon, corrupt.ErrCorrupt) })
}

func replaceLayer(t *testing.T, before, after time.Time, want error) {
	f := newFar(t)
	f.Hook(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("ETag", `W/"always"`)
		return false
	})
	layers := slices.Clone(farLayers(t))
	layers[farSeeds] = slices.Clone(layers[farSeeds])
	for i := range layers[farSeeds] {
		layers[farSeeds][i] ^= 1
	}
	other := otherRun.Copy(t, func(dir string) { testrun.WriteTo(t, dir, testrun.Game(t, 8, awari.Awari), layers, tinyBlock) })
	path := f.near.Path(farSeeds)
	date(t, path, before)
	must.OK(t, must.Err(f.there.Probe(t.Context(), awari.Board{4, 4, 4, 2})))
	must.Write(t, path, must.Read(t, filepath.Join(other, rundir.LayerName(farSeeds))))
	date(t, path, after)
	random := rand.New(rand.NewPCG(10, 11))
	refused := 0
	for range 300 {
		rank := random.Uint64N(f.space.Size(farSeeds))
		got, err := f.there.ScoreAt(t.Context(), farSeeds, rank)
		switch {
		case err == nil && got == farLayers(t)[farSeeds][rank]:
		case errors.Is(err, want) && errors.Is(err, remote.ErrChanged) != errors.Is(err, corrupt.ErrCorrupt):
			refused++
		default:
			t.Fatalf("rank %d: %d, %v", rank, got, err)
		}
	}
	should.Not(t, refused < 100, "refused %d times", refused)
	// The new file is not the one that the manifest lists.
	should.Be(t, must.Err(openFar(t, f.Server, remote.Options{}).ScoreAt(t.Context(), farSeeds, 0)), corrupt.ErrMismatch, "opened again")
}

func date(t *testing.T, path string, when time.Time) {
	t.Helper()
	must.OK(t, os.Chtimes(path, when, when))
}

// TestRemoteManifest refuses manifests of others, as Open does.
func TestRemoteManifest(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 5)
	layers[5] = layers[5][1:]
	for _, c := range map[string]struct {
		dir  string
		want error
		text string
	}{
		"none":         {t.TempDir(), rundir.ErrMissing, "404"},
		"other layers": {testrun.Write(t, game, layers, 64), corrupt.ErrMismatch, "layer 5 has 55 positions instead of 56"},
	} {
		s := remotetest.Serve(t, c.dir, false)
		should.Says(t, must.Err(tables.Open(t.Context(), s.URL)), c.want, s.URL+"/manifest.json: ", c.text)
	}
}

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
	fresh := tabletest.Open(t, f.dir)
	n, err = count(t.Context(), fresh, 7, func() {})
	should.Not(t, uint64(n) >= f.space.Size(7), "damaged: %d boards", n)
	should.Says(t, err, tables.ErrCorrupt, path)
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
				if rank++; rank == remote.HeadBytes+3000 {
					break
				}
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
