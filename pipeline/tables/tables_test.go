package tables_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/remote"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var rules = awari.RuleSets()

func everyBoard(t testing.TB, game awari.Game, layers [][]int8, visit func(b awari.Board, score int8)) {
	t.Helper()
	space := testrun.Space(t, game, len(layers)-1)
	for n, scores := range layers {
		for rank, score := range scores {
			visit(space.Unrank(n, uint64(rank)), score)
		}
	}
}

func checkProbe(t *testing.T, space *awari.Space, layers [][]int8, p tables.Probe) {
	t.Helper()
	score := func(b awari.Board) int {
		n, rank := space.Rank(b)
		return int(layers[n][rank])
	}
	must.Hold(t, p.Seeds == p.Board.Seeds() && p.Value == score(p.Board),
		"board %s: %d seeds, value %d, want %d", space.Text(p.Board), p.Seeds, p.Value, score(p.Board))
	for pit, play := range space.Plays(p.Board) {
		want := tables.Move{Legal: play.Legal, Captured: play.Captured, Child: play.Child}
		if pit < space.Half() {
			want.Pit = pit
		}
		if play.Legal {
			want.Value = play.Captured - score(play.Child)
		}
		must.Equal(t, p.Moves[pit], want, "board %s, pit %d", space.Text(p.Board), pit)
	}
}

func TestEveryBoard(t *testing.T) {
	for _, c := range []struct{ pits, seeds, block int }{{4, 14, 7}, {8, 8, 100}, {8, 8, layerfile.MaxBlockSize}} {
		for _, r := range rules {
			t.Run(fmt.Sprintf("%d-%v-%d", c.pits, r, c.block), func(t *testing.T) {
				game, layers, dir := testrun.Run(t, c.pits, r, c.seeds, c.block)
				tab := tabletest.Open(t, dir)
				must.Hold(t, tab.Game() == game && tab.MaxSeeds() == c.seeds && len(tab.Layers()) == c.seeds+1,
					"%s, %d seeds, %d layers", tab.Game().Name(), tab.MaxSeeds(), len(tab.Layers()))
				space := testrun.Space(t, game, c.seeds)
				everyBoard(t, game, layers, func(b awari.Board, want int8) {
					if got, err := tab.Score(t.Context(), b); got != want || err != nil {
						t.Fatalf("score of %s: %d, %v, want %d", game.Text(b), got, err, want)
					}
					checkProbe(t, space, layers, must.Get(tab.Probe(t.Context(), b))(t))
				})
			})
		}
	}
}

func TestRead(t *testing.T) {
	_, layers, dir := testrun.Run(t, 8, awari.Awari, 6, 100)
	tab := tabletest.Open(t, dir)
	got := make([]int8, 333)
	err := tab.Read(t.Context(), 6, 77, got)
	should.Hold(t, err == nil && slices.Equal(got, layers[6][77:77+333]), "other scores, %v", err)
	should.Be(t, tab.Read(t.Context(), 6, uint64(len(layers[6])), got), layerfile.ErrRange, "beyond the layer")
	for _, n := range []int{-1, 7} {
		should.Equal(t, tab.Path(n), "", "layer %d", n)
		should.Be(t, tab.Read(t.Context(), n, 0, got), tables.ErrUnsolved, "layer %d", n)
		should.Be(t, must.Err(tab.ScoreAt(t.Context(), n, 0)), tables.ErrUnsolved, "score of layer %d", n)
		should.Be(t, must.Err(tab.ReadOne(t.Context(), n, 0)), tables.ErrUnsolved, "one of layer %d", n)
		should.Be(t, must.Err(tab.File(t.Context(), n)), tables.ErrUnsolved, "file of layer %d", n)
	}
	score, err := tab.ScoreAt(t.Context(), 6, 99)
	should.Hold(t, score == layers[6][99] && err == nil, "score of rank 99: %d, %v, want %d", score, err, layers[6][99])
	should.Be(t, must.Err(tab.ScoreAt(t.Context(), 6, uint64(len(layers[6])))), layerfile.ErrRange, "score beyond the layer")
	for n, scores := range layers {
		for rank, want := range scores {
			got, err := tab.ReadOne(t.Context(), n, uint64(rank))
			must.Hold(t, err == nil && got == want, "score %d of layer %d: %d, %v, want %d", rank, n, got, err, want)
		}
		should.Be(t, must.Err(tab.ReadOne(t.Context(), n, uint64(len(scores)))), layerfile.ErrRange, "one beyond layer %d", n)
	}
	f, err := tab.File(t.Context(), 6)
	should.Hold(t, err == nil && f.Header().Seeds == 6 && f.Path() == tab.Path(6), "file of layer 6: %v", err)
}

// TestConcurrent probes from several goroutines, with a cache so small that they take blocks from each other and whose size changes, and closes in between.
func TestConcurrent(t *testing.T) {
	for _, sparing := range []bool{false, true} {
		t.Run(fmt.Sprintf("sparing %v", sparing), func(t *testing.T) { concurrent(t, sparing) })
	}
}

func concurrent(t *testing.T, sparing bool) {
	game, layers, dir := testrun.Run(t, 8, awari.Awari, 8, 128)
	space := testrun.Space(t, game, 8)
	tab := tabletest.Open(t, dir, tables.CacheBytes(8*layerfile.MaxBlockSize), tables.Sparing(sparing))
	var group sync.WaitGroup
	half := make(chan struct{}, 4)
	for i := range 4 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(i)))
			for k := 0; ; k++ {
				n := random.IntN(9)
				b := space.Unrank(n, random.Uint64N(space.Size(n)))
				p, err := tab.Probe(t.Context(), b)
				if one := []int8{0}; err == nil && k%100 == 0 {
					if err = tab.Scores(t.Context(), []awari.Board{b}, one); err == nil && int(one[0]) != p.Value {
						t.Errorf("score of %s: %d, want %d", game.Text(b), one[0], p.Value)
					}
				}
				if k == 2000 {
					half <- struct{}{}
				} else if i == 0 && k < 2000 && k%100 == 50 {
					tab.Resize(uint64(k) * 1000)
				}
				if err != nil {
					should.Not(t, !errors.Is(err, os.ErrClosed) || k < 2000, "%v", err)
					return
				}
				checkProbe(t, space, layers, p)
			}
		})
	}
	for range 4 {
		<-half
	}
	must.OK(t, tab.Close())
	group.Wait()
}

func TestClosed(t *testing.T) {
	tab := tabletest.Open(t, testrun.Dir(t, 4, awari.Awari, 5, 64))
	seen, unseen := awari.Board{0, 1, 1}, awari.Board{4, 1}
	must.OK(t, must.Err(tab.Probe(t.Context(), seen)))
	must.OK(t, tab.Close())
	for _, b := range []awari.Board{seen, unseen} {
		_, scoreErr := tab.Score(t.Context(), b)
		_, probeErr := tab.Probe(t.Context(), b)
		_, oneErr := tab.ReadOne(t.Context(), 3, 0)
		for _, err := range []error{scoreErr, probeErr, oneErr, tab.Read(t.Context(), 3, 0, nil)} {
			should.Not(t, !errors.Is(err, os.ErrClosed) || errors.Is(err, corrupt.ErrCorrupt), "closed tables: %v", err)
		}
	}
	should.Be(t, tab.Read(t.Context(), 5, 0, make([]int8, 1)), os.ErrClosed, "a file not opened before Close")
	should.Be(t, tab.Close(), os.ErrClosed, "second Close")
}

func TestRefusedBoards(t *testing.T) {
	game, _, dir := testrun.Run(t, 4, awari.Awari, 5, 64)
	tab := tabletest.Open(t, dir)
	for _, b := range []awari.Board{{6}, {255, 255, 255, 255}} {
		_, err := tab.Probe(t.Context(), b)
		want := fmt.Sprintf("not solved: the board has %d seeds, but %s is solved up to 5", b.Seeds(), dir)
		should.Hold(t, errors.Is(err, tables.ErrUnsolved) && err.Error() == want, "%v, want %s", err, want)
		u := must.As[*tables.UnsolvedError](t, err)
		should.Hold(t, u.Seeds == b.Seeds() && u.Solved == 5, "%d seeds: %+v", b.Seeds(), u)
	}
	should.Be(t, must.Err(tab.Score(t.Context(), awari.Board{4: 1})), awari.ErrBoard, "a board with too many pits")
	empty := tabletest.Open(t, testrun.Write(t, game, nil, 64))
	_, err := empty.Score(t.Context(), awari.Board{})
	should.Hold(t, errors.Is(err, tables.ErrUnsolved) &&
		strings.Contains(err.Error(), "no layer in") && empty.MaxSeeds() == -1, "nothing is solved: %v", err)
}

func TestRefusedDirectories(t *testing.T) {
	for _, place := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir(), remotetest.Serve(t, t.TempDir(), false).URL} {
		err := must.Err(tables.Open(t.Context(), place))
		should.Hold(t, errors.Is(err, fs.ErrNotExist) && errors.Is(err, rundir.ErrMissing) && !errors.Is(err, tables.ErrCorrupt), "%v", err)
	}
	foreign := t.TempDir()
	must.Write(t, filepath.Join(foreign, "letter.txt"), []byte("dear"))
	should.Be(t, must.Err(tables.Open(t.Context(), foreign)), corrupt.ErrForeign, "a directory of somebody else")
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 5)
	layers[5] = layers[5][1:]
	wrong := testrun.Write(t, game, layers, 64) // a layer that awari does not have
	should.Says(t, must.Err(tables.Open(t.Context(), wrong)), corrupt.ErrMismatch, "layer 5 has 55 positions instead of 56")
	dir := testrun.Write(t, game, layers[:5], 64)
	path := filepath.Join(dir, rundir.ManifestName)
	must.Write(t, path, bytes.Replace(must.Read(t, path), []byte("awari"), []byte("chess"), 1))
	should.Be(t, must.Err(tables.Open(t.Context(), dir)), corrupt.ErrCorrupt, "an edited manifest")
}

// TestDamage changes layer files, here and on a server, and wants every board of the damaged layer
// to give the true score or an error that names the file.
func TestDamage(t *testing.T) {
	game, strict := testrun.Game(t, 4, awari.Awari), testrun.Game(t, 4, awari.Strict)
	layers := testrun.Solve(t, game, 8)
	falsified := testrun.Solve(t, game, 8)
	falsified[8][60]++
	file := func(dir string, n int) string { return filepath.Join(dir, rundir.LayerName(n)) }
	dir := testrun.Write(t, game, layers, 32)
	server := remotetest.Serve(t, dir, false)
	whole := must.Read(t, file(dir, 8))
	for name, c := range map[string]struct {
		bad  []byte
		want error
	}{
		"flipped bits":  {slices.Concat(whole[:100], []byte{whole[100] ^ 0x10}, whole[101:]), corrupt.ErrCorrupt},
		"truncated":     {whole[:200], corrupt.ErrCorrupt},
		"empty":         {nil, corrupt.ErrCorrupt},
		"longer":        {append(slices.Clone(whole), 0), corrupt.ErrCorrupt},
		"text":          {[]byte(strings.Repeat("no ", 99)), corrupt.ErrForeign},
		"missing":       {nil, fs.ErrNotExist},
		"another layer": {must.Read(t, file(dir, 7)), corrupt.ErrMismatch},
		"other rules":   {must.Read(t, file(testrun.Write(t, strict, testrun.Solve(t, strict, 8), 32), 8)), corrupt.ErrMismatch},
		"other scores":  {must.Read(t, file(testrun.Write(t, game, falsified, 32), 8)), corrupt.ErrMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			must.Write(t, file(dir, 8), c.bad)
			if c.want == fs.ErrNotExist {
				must.OK(t, os.Remove(file(dir, 8)))
			}
			for path, tab := range map[string]*tables.Tables{
				file(dir, 8): tabletest.Open(t, dir), server.URL + "/layer-08.gl": openFar(t, server, remote.Options{}),
			} {
				failures := 0
				everyBoard(t, game, layers, func(b awari.Board, want int8) {
					got, err := tab.Score(t.Context(), b)
					switch {
					case err == nil && got == want:
					case errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, c.want) && b.Seeds() == 8 && strings.HasPrefix(err.Error(), path+": "):
						failures++
					default:
						t.Fatalf("score of %s: %d, %v, want %d", game.Text(b), got, err, want)
					}
				})
				should.Not(t, failures == 0, "%s: nothing was noticed", path)
			}
		})
	}
}

// TestRepaired shows that a failure to open a file is not remembered.
func TestRepaired(t *testing.T) {
	tab := tabletest.Open(t, testrun.Dir(t, 4, awari.Awari, 5, 64))
	must.OK(t, os.Rename(tab.Path(5), tab.Path(5)+".away"))
	should.Be(t, must.Err(tab.Score(t.Context(), awari.Board{5})), fs.ErrNotExist, "a missing file")
	must.OK(t, os.Rename(tab.Path(5)+".away", tab.Path(5)))
	should.OK(t, must.Err(tab.Score(t.Context(), awari.Board{5})))
}

func TestNoAllocations(t *testing.T) {
	tab := tabletest.Open(t, testrun.Dir(t, 8, awari.Awari, 8, 256))
	b := awari.Board{1, 1, 1, 1, 1, 1, 1, 1}
	should.Equal(t, testing.AllocsPerRun(100, func() {
		_, err := tab.Probe(t.Context(), b)
		must.OK(t, err)
	}), 0, "allocations for a probe")
}

// TestRefusedOptions: what makes no sense is bad usage, here and on a server.
func TestRefusedOptions(t *testing.T) {
	dir := testrun.Dir(t, 4, awari.Awari, 5, 64)
	server := remotetest.Serve(t, dir, false).URL
	isUnsupported := func(err error) bool { return errors.As(err, new(*cpu.UnsupportedError)) }
	for name, c := range map[string]struct {
		place  string
		option tables.Option
		want   func(error) bool
	}{
		"no such family":             {dir, tables.Kernel(77), isUnsupported},
		"no such family, far":        {server, tables.Kernel(77), isUnsupported},
		"a negative cache":           {dir, tables.CacheBytes(-5), isOption},
		"a negative cache, far":      {server, tables.CacheBytes(-5), isOption},
		"a server on the disk":       {dir, tables.Server(tables.ServerOptions{}), isOption},
		"a server that is sparing":   {server, tables.Sparing(true), isOption},
		"another manifest, far":      {server, catalog.Listed(new(manifest.Manifest)), isOption},
		"another last layer, far":    {server, catalog.Last(func() (*layerfile.File, error) { return nil, nil }), isOption},
		"a timeout below 0":          {server, tables.Server(tables.ServerOptions{Timeout: -time.Second}), func(err error) bool { return errors.Is(err, remote.ErrOptions) }},
		"an address of another kind": {"ftp://host/x", tables.CacheBytes(1), func(err error) bool { return errors.Is(err, tables.ErrAddress) }},
	} {
		tab, err := tables.Open(t.Context(), c.place, c.option)
		if err == nil {
			tab.Close()
		}
		should.Hold(t, c.want(err), "%s: %v", name, err)
		should.Not(t, !errors.Is(err, fault.Usage) && !errors.Is(err, tables.ErrAddress), "%s: %v is not bad usage", name, err)
	}
	for _, option := range []tables.Option{tables.CacheBytes(0), tables.Kernel(cpu.Generic), tables.Sparing(true), tables.Sparing(false)} {
		should.OK(t, must.Err(tabletest.Open(t, dir, option).Score(t.Context(), tables.Board{1, 1})))
	}
}

func isOption(err error) bool { return errors.Is(err, tables.ErrOption) }

// forge puts a forged file of layer 3 in place of the true one, and into the manifest as
// far as it can be opened. It returns the scores that it should hold, and the directory.
func forge(t *testing.T, change func(f *layerfiletest.File, scores []int8)) (dir string) {
	t.Helper()
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 4)
	dir = testrun.Write(t, game, layers, 64)
	scores := layers[3]
	f := layerfiletest.File{Header: func(h *layerfiletest.Header) { h.Pits, h.Seeds = 4, 3 }}
	f.Blocks = []layerfiletest.Block{layerfiletest.Plain(scores)}
	if change != nil {
		change(&f, scores)
	}
	path := filepath.Join(dir, rundir.LayerName(3))
	must.Write(t, path, f.Encode())
	file, err := layerfile.Open(path)
	if err != nil {
		return dir
	}
	defer file.Close()
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		l, foot := &m.Layers[3], file.Footer()
		l.Bytes, l.Hash, l.Checksum = foot.Bytes, foot.Hash, manifest.Checksum(foot.Checksum)
	})
	return dir
}

// TestForged has files whose checksums are right, and which the manifest lists: a score that
// cannot be is an error, and so is a file of something else.
func TestForged(t *testing.T) {
	header := func(set func(*layerfiletest.Header)) func(*layerfiletest.File, []int8) {
		return func(f *layerfiletest.File, _ []int8) {
			f.Header = func(h *layerfiletest.Header) { h.Pits, h.Seeds = 4, 3; set(h) }
		}
	}
	should.Be(t, must.Err(tabletest.Open(t, forge(t, nil)).Score(t.Context(), awari.Board{1, 1, 1})), nil, "nothing is changed")
	for name, c := range map[string]struct {
		change func(f *layerfiletest.File, scores []int8)
		text   string
	}{
		"a larger score": {func(_ *layerfiletest.File, scores []int8) {
			scores[slices.IndexFunc(scores, func(x int8) bool { return x > 0 })] = 4
		}, "is 4: must be -3 to 3"},
		"the smallest score": {func(_ *layerfiletest.File, scores []int8) {
			scores[slices.IndexFunc(scores, func(x int8) bool { return x < 0 })] = -128
		}, "is -128: must be -3 to 3"},
		"other counts": {func(_ *layerfiletest.File, scores []int8) { scores[0], scores[1] = 1, 1 }, "the manifest"},
		"255 seeds":    {header(func(h *layerfiletest.Header) { h.Seeds = 255 }), "number of seeds 255 does not match"},
		"no pits":      {header(func(h *layerfiletest.Header) { h.Pits = 0 }), "number of pits 0 does not match"},
		"60 pits":      {header(func(h *layerfiletest.Header) { h.Pits = 60 }), "number of pits 60 does not match"},
		"other rules":  {header(func(h *layerfiletest.Header) { h.Rules = "strict" }), "rules strict does not match"},
		"another game": {header(func(h *layerfiletest.Header) { h.Game = "swap" }), "game swap does not match"},
		"a block more": {func(f *layerfiletest.File, _ []int8) {
			f.Blocks = append(f.Blocks, layerfiletest.Plain([]int8{0}))
		}, "number of positions 21 does not match"},
	} {
		t.Log(name)
		tab := tabletest.Open(t, forge(t, c.change))
		should.Says(t, must.Err(tab.Score(t.Context(), awari.Board{1, 1, 1})), corrupt.ErrCorrupt, c.text, rundir.LayerName(3))
	}
}

// TestForgedManifest has manifests of layers that awari does not have.
func TestForgedManifest(t *testing.T) {
	for name, change := range map[string]func(m *manifest.Manifest){
		"no pits":      func(m *manifest.Manifest) { m.Pits = 0 },
		"odd pits":     func(m *manifest.Manifest) { m.Pits = 5 },
		"60 pits":      func(m *manifest.Manifest) { m.Pits = 60 },
		"other pits":   func(m *manifest.Manifest) { m.Pits = 6 },
		"other rules":  func(m *manifest.Manifest) { m.Rules = "chess" },
		"another game": func(m *manifest.Manifest) { m.Game = "swap" },
		"positions": func(m *manifest.Manifest) {
			l := &m.Layers[2]
			l.Positions, l.Draw, l.Histogram[0] = l.Positions+1, l.Draw+1, l.Histogram[0]+1
		},
		"score": func(m *manifest.Manifest) {
			h := &m.Layers[2].Histogram
			h[100], h[2] = h[2], 0
		},
		"many layers": func(m *manifest.Manifest) {
			for n := len(m.Layers); n < 60; n++ {
				l := m.Layers[4]
				l.Seeds, l.File = n, rundir.LayerName(n)
				m.Layers = append(m.Layers, l)
			}
		},
	} {
		dir := testrun.Dir(t, 4, awari.Awari, 4, 64)
		testrun.EditManifest(t, dir, change)
		d := must.Get(rundir.Open(dir))(t)
		_, opened := tables.Open(t.Context(), dir)
		_, listed := catalog.Manifest(d)
		for _, err := range []error{opened, listed} {
			should.Be(t, err, corrupt.ErrMismatch, "%s", name)
			should.Says(t, err, corrupt.ErrCorrupt, rundir.ManifestName)
		}
	}
}

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

func checkScores(t *testing.T, game awari.Game, boards []awari.Board, got, want []int8) {
	t.Helper()
	for i := range want {
		must.Equal(t, got[i], want[i], "score of %s", game.Text(boards[i]))
	}
}

// TestMany asks for many boards at once, with caches of one block, of some and of all.
func TestMany(t *testing.T) {
	for i, r := range rules {
		game, layers, dir := testrun.Run(t, 8, r, 8, 64)
		space := testrun.Space(t, game, 8)
		tab := tabletest.Open(t, dir, tables.CacheBytes([]int64{1, 5 * layerfile.MaxBlockSize, 0}[i%3]))
		for i, n := range []int{0, 1, 3, 3000} {
			boards, want := draw(space, layers, n, uint64(i))
			got := make([]int8, n)
			must.OK(t, tab.Scores(t.Context(), boards, got))
			checkScores(t, game, boards, got, want)
		}
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
	tab := tabletest.Open(t, testrun.Dir(t, 4, awari.Awari, 5, 64))
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
	ctx := must.Ended(t)
	for i, err := range []error{
		tab.Scores(ctx, []awari.Board{good}, make([]int8, 1)), must.Err(tab.Probes(ctx, []awari.Board{good})), must.Err(tab.Score(ctx, good)),
		must.Err(tab.Probe(ctx, good)), must.Err(tab.ReadOne(ctx, 3, 0)), tab.Read(ctx, 3, 0, make([]int8, 1)),
	} {
		should.Hold(t, errors.Is(err, context.Canceled) && !errors.Is(err, corrupt.ErrCorrupt), "call %d, ended: %v", i, err)
	}
	must.OK(t, tab.Close())
	should.Be(t, tab.Scores(t.Context(), []awari.Board{good}, make([]int8, 1)), os.ErrClosed, "closed")
}

// TestDamagedBatch has one damaged block and one false score under right checksums: the first fails Scores, both fail Probes and Probe.
func TestDamagedBatch(t *testing.T) {
	game := testrun.Game(t, 8, awari.Awari)
	layers := testrun.Solve(t, game, 6)
	space := testrun.Space(t, game, 6)
	layers[6][100]++
	dir := testrun.Write(t, game, layers, 64)
	tab := tabletest.Open(t, dir)
	false100 := space.Unrank(6, 100)
	should.OK(t, tab.Scores(t.Context(), []awari.Board{false100}, make([]int8, 1)))
	want := fmt.Sprintf("block 1: the score of board %s is", game.Text(false100))
	_, many := tab.Probes(t.Context(), []awari.Board{{1}, false100})
	_, one := tab.Probe(t.Context(), false100)
	for _, err := range []error{many, one} {
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), tab.Path(6)+": "+want), "a false score: %v", err)
	}
	path := tab.Path(5)
	data := must.Read(t, path)
	data[len(data)/2] ^= 1
	must.Write(t, path, data)
	boards, _ := draw(space, layers, 1000, 1)
	tab = tabletest.Open(t, dir)
	should.Says(t, tab.Scores(t.Context(), boards, make([]int8, len(boards))), corrupt.ErrCorrupt, path)
}
