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
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
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

// TestLongEveryBoard asks for every board, one by one and for many at once, with caches of one block, of some and of all.
func TestLongEveryBoard(t *testing.T) {
	for i, c := range []struct{ pits, seeds, block int }{{4, tries.More(9, 14), 7}, {8, tries.More(5, 6), 64}, {8, tries.More(4, 6), layerfile.MaxBlockSize}} {
		for k, r := range rules {
			t.Run(fmt.Sprintf("%d-%v-%d", c.pits, r, c.block), func(t *testing.T) {
				game, layers, dir := testrun.Run(t, c.pits, r, c.seeds, c.block)
				tab := tabletest.Open(t, dir, tables.CacheBytes([]int64{1, 5 * layerfile.MaxBlockSize, 0}[(i+k)%3]))
				must.Hold(t, tab.Game() == game && tab.MaxSeeds() == c.seeds && len(tab.Layers()) == c.seeds+1,
					"%s, %d seeds, %d layers", tab.Game().Name(), tab.MaxSeeds(), len(tab.Layers()))
				space, boards, scores := testrun.Space(t, game, c.seeds), []awari.Board{}, []int8{}
				everyBoard(t, game, layers, func(b awari.Board, want int8) {
					must.Equal(t, must.Get(tab.Score(t.Context(), b))(t), want, "score of %v", b)
					checkProbe(t, space, layers, must.Get(tab.Probe(t.Context(), b))(t))
					boards, scores = append(boards, b), append(scores, want)
				})
				order := rand.New(rand.NewPCG(3, 7)).Perm(len(boards))
				for i, other := range order[:len(order)/3] { // in any order, some of them several times
					boards[i], scores[i] = boards[other], scores[other]
				}
				for _, n := range []int{0, 1, 3, len(boards)} {
					got := make([]int8, n)
					must.OK(t, tab.Scores(t.Context(), boards[:n], got))
					must.List(t, got, scores[:n], "scores of %d boards", n)
				}
				probes := must.Get(tab.Probes(t.Context(), boards))(t)
				must.Equal(t, len(probes), len(boards), "probes")
				for i, p := range probes {
					must.Hold(t, p.Board == boards[i], "probe %d is of another board", i)
					checkProbe(t, space, layers, p)
				}
			})
		}
	}
}

func TestRead(t *testing.T) {
	_, layers, dir := testrun.Run(t, 8, awari.Awari, 6, 100)
	tab := tabletest.Open(t, dir)
	got := make([]int8, 333)
	must.OK(t, tab.Read(t.Context(), 6, 77, got))
	should.List(t, got, layers[6][77:77+333])
	should.Be(t, tab.Read(t.Context(), 6, uint64(len(layers[6])), got), layerfile.ErrRange, "beyond the layer")
	for _, n := range []int{-1, 7} {
		should.Equal(t, tab.Path(n), "", "layer %d", n)
		should.Be(t, tab.Read(t.Context(), n, 0, got), tables.ErrUnsolved, "layer %d", n)
		should.Be(t, must.Err(tab.ScoreAt(t.Context(), n, 0)), tables.ErrUnsolved, "score of layer %d", n)
		should.Be(t, must.Err(tab.ReadOne(t.Context(), n, 0)), tables.ErrUnsolved, "one of layer %d", n)
		should.Be(t, must.Err(tab.File(t.Context(), n)), tables.ErrUnsolved, "file of layer %d", n)
		tab.Ahead(n, 0, len(got)) // left to Read
	}
	should.Equal(t, must.Get(tab.ScoreAt(t.Context(), 6, 99))(t), layers[6][99], "score of rank 99")
	should.Be(t, must.Err(tab.ScoreAt(t.Context(), 6, uint64(len(layers[6])))), layerfile.ErrRange, "score beyond the layer")
	for n, scores := range layers {
		for rank, want := range scores {
			must.Equal(t, must.Get(tab.ReadOne(t.Context(), n, uint64(rank)))(t), want, "score %d of layer %d", rank, n)
		}
		should.Be(t, must.Err(tab.ReadOne(t.Context(), n, uint64(len(scores)))), layerfile.ErrRange, "one beyond layer %d", n)
	}
	f := must.Get(tab.File(t.Context(), 6))(t)
	should.Hold(t, f.Header().Seeds == 6 && f.Path() == tab.Path(6), "file of layer 6: %s", f.Path())
}

// TestLongConcurrent probes from several goroutines, with a cache so small that they take blocks from each other and whose size changes, and closes in between.
func TestLongConcurrent(t *testing.T) {
	probes := tries.More(300, 1000)
	for _, sparing := range []bool{false, true} {
		game, layers, dir := testrun.Run(t, 8, awari.Awari, 8, 128)
		space := testrun.Space(t, game, 8)
		tab := tabletest.Open(t, dir, tables.CacheBytes(8*layerfile.MaxBlockSize), tables.Sparing(sparing))
		var group, half sync.WaitGroup
		half.Add(4)
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
					if k == probes {
						half.Done()
					} else if i == 0 && k < probes && k%100 == 50 {
						tab.Resize(uint64(k) * 6000)
					}
					if err != nil {
						should.Not(t, !errors.Is(err, os.ErrClosed) || k < probes, "sparing %v: %v", sparing, err)
						return
					}
					checkProbe(t, space, layers, p)
				}
			})
		}
		half.Wait()
		must.OK(t, tab.Close())
		group.Wait()
	}
}

// lookUps returns what each way to ask for scores of layer 3 and lower ones says, the board last.
func lookUps(ctx context.Context, tab *tables.Tables, b awari.Board) []error {
	boards := []awari.Board{b}
	return []error{
		must.Err(tab.ReadOne(ctx, 3, 0)), tab.Read(ctx, 3, 0, make([]int8, 1)), must.Err(tab.Score(ctx, b)), must.Err(tab.Probe(ctx, b)),
		tab.Scores(ctx, boards, make([]int8, 1)), must.Err(tab.Probes(ctx, boards)),
	}
}

// TestClosed: whoever asks closed tables, or with a context that has ended, is told so, and that is no damage.
func TestClosed(t *testing.T) {
	tab := tabletest.Open(t, testrun.Dir(t, 4, awari.Awari, 5, 64))
	seen, unseen := awari.Board{0, 1, 1}, awari.Board{4, 1}
	ended := lookUps(must.Ended(t), tab, seen)
	must.OK(t, must.Err(tab.Probe(t.Context(), seen)))
	must.OK(t, tab.Close())
	for want, all := range map[error][]error{
		context.Canceled: ended, os.ErrClosed: append(lookUps(t.Context(), tab, seen), lookUps(t.Context(), tab, unseen)...),
	} {
		for i, err := range all {
			should.Not(t, !errors.Is(err, want) || errors.Is(err, corrupt.ErrCorrupt), "call %d: %v, want %v", i, err, want)
		}
	}
	should.Be(t, tab.Read(t.Context(), 5, 0, make([]int8, 1)), os.ErrClosed, "a file not opened before Close")
	should.Be(t, tab.Close(), os.ErrClosed, "second Close")
}

func TestRefusedBoards(t *testing.T) {
	game, _, dir := testrun.Run(t, 4, awari.Awari, 5, 64)
	tab, good := tabletest.Open(t, dir), awari.Board{1, 1, 1}
	for _, b := range []awari.Board{{6}, {255, 255, 255, 255}} {
		_, err := tab.Probe(t.Context(), b)
		want := fmt.Sprintf("not solved: the board has %d seeds, but %s is solved up to 5", b.Seeds(), dir)
		should.Hold(t, errors.Is(err, tables.ErrUnsolved) && err.Error() == want, "%v, want %s", err, want)
		u := must.As[*tables.UnsolvedError](t, err)
		should.Hold(t, u.Seeds == b.Seeds() && u.Solved == 5, "%d seeds: %+v", b.Seeds(), u)
	}
	for _, c := range []struct {
		bad  awari.Board
		want error
	}{{awari.Board{6}, tables.ErrUnsolved}, {awari.Board{4: 1}, awari.ErrBoard}, {awari.Board{255, 255, 255, 255, 255}, awari.ErrBoard}} {
		should.Be(t, must.Err(tab.Score(t.Context(), c.bad)), c.want)
		boards := []awari.Board{good, good, c.bad, good}
		for _, err := range []error{tab.Scores(t.Context(), boards, make([]int8, 4)), must.Err(tab.Probes(t.Context(), boards))} {
			should.Hold(t, errors.Is(err, c.want) && strings.HasPrefix(err.Error(), "boards[2]: "), "%v: %v", c.bad, err)
		}
	}
	err := tab.Scores(t.Context(), []awari.Board{good}, nil)
	should.Not(t, err == nil || !strings.Contains(err.Error(), "1 boards, but room for 0 scores"), "no room: %v", err)
	empty := tabletest.Open(t, testrun.Write(t, game, nil, 64))
	should.Says(t, must.Err(empty.Score(t.Context(), awari.Board{})), tables.ErrUnsolved, "no layer in")
	should.Equal(t, empty.MaxSeeds(), -1, "nothing is solved: most seeds")
}

func TestRefusedDirectories(t *testing.T) {
	server := remotetest.Serve(t, t.TempDir(), false).URL
	for _, place := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir(), server} {
		err := must.Err(tables.Open(t.Context(), place))
		should.Hold(t, errors.Is(err, fs.ErrNotExist) && errors.Is(err, rundir.ErrMissing) && !errors.Is(err, tables.ErrCorrupt), "%v", err)
		should.Not(t, place == server && !(strings.HasPrefix(err.Error(), server+"/manifest.json: ") && strings.Contains(err.Error(), "404")), "%v", err)
	}
	foreign := t.TempDir()
	must.Write(t, filepath.Join(foreign, "letter.txt"), []byte("dear"))
	should.Be(t, must.Err(tables.Open(t.Context(), foreign)), corrupt.ErrForeign, "a directory of somebody else")
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 5)
	layers[5] = layers[5][1:]
	wrong := testrun.Write(t, game, layers, 64) // a layer that awari does not have
	for _, place := range []string{wrong, remotetest.Serve(t, wrong, false).URL} {
		err := must.Err(tables.Open(t.Context(), place))
		should.Says(t, err, corrupt.ErrMismatch, place+"/manifest.json: ", "layer 5 has 55 positions instead of 56")
	}
	dir := testrun.Write(t, game, layers[:5], 64)
	path := filepath.Join(dir, rundir.ManifestName)
	must.Write(t, path, bytes.Replace(must.Read(t, path), []byte("awari"), []byte("chess"), 1))
	should.Be(t, must.Err(tables.Open(t.Context(), dir)), corrupt.ErrCorrupt, "an edited manifest")
}

// TestDamage changes layer files, here and on a server, and wants every board of the damaged layer
// to give the true score or an error that names the file.
func TestDamage(t *testing.T) {
	game, strict := testrun.Game(t, 4, awari.Awari), testrun.Game(t, 4, awari.Strict)
	const last = 6
	layers, falsified := testrun.Solve(t, game, last), testrun.Solve(t, game, last)
	falsified[last][60]++
	file := func(dir string, n int) []byte { return must.Read(t, filepath.Join(dir, rundir.LayerName(n))) }
	dir := testrun.Write(t, game, layers, 32)
	server, path := remotetest.Serve(t, dir, false), filepath.Join(dir, rundir.LayerName(last))
	whole := file(dir, last)
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
		"another layer": {file(dir, last-1), corrupt.ErrMismatch},
		"other rules":   {file(testrun.Write(t, strict, testrun.Solve(t, strict, last), 32), last), corrupt.ErrMismatch},
		"other scores":  {file(testrun.Write(t, game, falsified, 32), last), corrupt.ErrMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			must.Write(t, path, c.bad)
			if c.want == fs.ErrNotExist {
				must.OK(t, os.Remove(path))
			}
			for path, tab := range map[string]*tables.Tables{
				path: tabletest.Open(t, dir), server.URL + "/layer-06.gl": openFar(t, server, remote.Options{}),
			} {
				failures := 0
				everyBoard(t, game, layers, func(b awari.Board, want int8) {
					got, err := tab.Score(t.Context(), b)
					switch {
					case err == nil && got == want:
					case errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, c.want) && b.Seeds() == last && strings.HasPrefix(err.Error(), path+": "):
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
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	isOption := is(tables.ErrOption)
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
		"a timeout below 0":          {server, tables.Server(tables.ServerOptions{Timeout: -time.Second}), is(remote.ErrOptions)},
		"an address of another kind": {"ftp://host/x", tables.CacheBytes(1), is(tables.ErrAddress)},
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

// forge puts a forged file of layer 3 in place of the true one, and into the manifest as
// far as it can be opened. It returns the scores that it should hold, and the directory.
func forge(t *testing.T, change func(f *layerfiletest.File, scores []int8)) (dir string) {
	t.Helper()
	game := testrun.Game(t, 4, awari.Awari)
	layers := testrun.Solve(t, game, 4)
	dir = testrun.Write(t, game, layers, 64)
	f := layerfiletest.File{Header: func(h *layerfiletest.Header) { h.Pits, h.Seeds = 4, 3 }}
	f.Blocks = []layerfiletest.Block{layerfiletest.Plain(layers[3])}
	change(&f, layers[3])
	path := filepath.Join(dir, rundir.LayerName(3))
	must.Write(t, path, f.Encode())
	if file, err := layerfile.Open(path); err == nil {
		defer file.Close()
		testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
			l, foot := &m.Layers[3], file.Footer()
			l.Bytes, l.Hash, l.Checksum = foot.Bytes, foot.Hash, manifest.Checksum(foot.Checksum)
		})
	}
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
	same := forge(t, func(*layerfiletest.File, []int8) {})
	should.Be(t, must.Err(tabletest.Open(t, same).Score(t.Context(), awari.Board{1, 1, 1})), nil, "nothing is changed")
	for name, c := range map[string]struct {
		change func(f *layerfiletest.File, scores []int8)
		text   string
	}{
		"a larger score":     {func(_ *layerfiletest.File, s []int8) { s[slices.Index(s, slices.Max(s))] = 4 }, "is 4: must be -3 to 3"},
		"the smallest score": {func(_ *layerfiletest.File, s []int8) { s[slices.Index(s, slices.Min(s))] = -128 }, "is -128: must be -3 to 3"},
		"other counts":       {func(_ *layerfiletest.File, s []int8) { s[0], s[1] = 1, 1 }, "the manifest"},
		"255 seeds":          {header(func(h *layerfiletest.Header) { h.Seeds = 255 }), "number of seeds 255 does not match"},
		"no pits":            {header(func(h *layerfiletest.Header) { h.Pits = 0 }), "number of pits 0 does not match"},
		"60 pits":            {header(func(h *layerfiletest.Header) { h.Pits = 60 }), "number of pits 60 does not match"},
		"other rules":        {header(func(h *layerfiletest.Header) { h.Rules = "strict" }), "rules strict does not match"},
		"another game":       {header(func(h *layerfiletest.Header) { h.Game = "swap" }), "game swap does not match"},
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
	testrun.Flip(t, tab.Path(5), len(must.Read(t, tab.Path(5)))/2)
	boards := drawn(space, 6, 150)
	tab = tabletest.Open(t, dir)
	should.Says(t, tab.Scores(t.Context(), boards, make([]int8, len(boards))), corrupt.ErrCorrupt, tab.Path(5))
}

// randomBoards returns boards drawn among all those with at most seeds seeds, enough of them to touch every block.
func randomBoards(t testing.TB, game awari.Game, seeds int) []awari.Board {
	t.Helper()
	space := testrun.Space(t, game, seeds)
	random := rand.New(rand.NewPCG(3, 4))
	var boards []awari.Board
	for n := range seeds + 1 {
		for range 2*(space.Size(n)>>10) + 1 {
			boards = append(boards, space.Unrank(n, random.Uint64N(space.Size(n))))
		}
	}
	random.Shuffle(len(boards), func(i, j int) { boards[i], boards[j] = boards[j], boards[i] })
	return boards
}

// BenchmarkTables looks up random boards of up to 15 seeds, all blocks cached, on all processors (compare -cpu 1 and 2), and reads a layer from the disk.
func BenchmarkTables(b *testing.B) {
	const seeds = 15
	game := testrun.Game(b, 12, awari.Awari)
	tab, boards := tabletest.Solved(b, game, seeds), randomBoards(b, game, seeds)
	must.OK(b, tab.Scores(b.Context(), boards, make([]int8, len(boards))))
	for name, look := range map[string]func(board awari.Board) error{
		"probe": func(board awari.Board) error { _, err := tab.Probe(b.Context(), board); return err },
		"score": func(board awari.Board) error { _, err := tab.Score(b.Context(), board); return err },
	} {
		b.Run(name, func(b *testing.B) {
			var begun atomic.Int64
			b.RunParallel(func(p *testing.PB) {
				for i := int(begun.Add(1)) * 1000; p.Next(); i++ {
					should.OK(b, look(boards[i%len(boards)]))
				}
			})
		})
	}
	b.Run("read", func(b *testing.B) {
		scores := make([]int8, tab.Layers()[seeds].Positions)
		b.SetBytes(int64(len(scores)))
		for b.Loop() {
			must.OK(b, tab.Read(b.Context(), seeds, 0, scores))
		}
	})
}
