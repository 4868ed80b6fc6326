package exchange

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/frame"
	"grenier/io/memory"
	"grenier/io/npy"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

func scoresOf(t testing.TB, tb *tables.Tables, n int) []int8 {
	t.Helper()
	scores := make([]int8, tb.Layers()[n].Positions)
	must.OK(t, tb.Read(t.Context(), n, 0, scores))
	return scores
}

func written(t testing.TB, dir string, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	o.Workers, o.Family = 2, cpu.Best()
	if o.Codec == "" {
		o.Codec = frame.None
	}
	s := must.Get(Write(t.Context(), dir, &out, o))(t)
	should.Hold(t, s.Bytes == uint64(out.Len()) && s.Seeds == o.Seeds && s.Format == o.Format && s.Codec == o.Codec,
		"%+v, %d bytes", s, out.Len())
	return out.Bytes()
}

// TestPlainFormats exports layers of several blocks, in one go and within little memory.
func TestPlainFormats(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	dir := tabletest.Solve(t, game, 8)
	tb, space := tabletest.Open(t, dir), testrun.Space(t, game, 8)
	for _, n := range []int{0, 1, 3, 8} {
		scores := scoresOf(t, tb, n)
		want := map[Format][]byte{Colex: tally.Bytes(scores), WDL: make([]byte, (len(scores)+3)/4)}
		for rank, score := range scores { // bits 2k and 2k+1 of a byte: 0, 1 or 3
			want[WDL][rank/4] |= byte(cmp.Compare(score, 0)) & 3 << (rank % 4 * 2)
		}
		want[Npy] = append(npy.Header(uint64(len(scores))), want[Colex]...)
		for _, b := range published(t, game, n) {
			_, rank := space.Rank(b)
			want[Vu] = append(want[Vu], byte(scores[rank]))
		}
		for f, bytes := range want {
			for _, memory := range []uint64{0, 32 << 20} {
				got := written(t, dir, Options{Seeds: n, Format: f, Job: job.Job{Memory: memory}})
				should.Hold(t, slices.Equal(got, bytes), "layer %d as %s, memory %d: %d bytes, not the %d expected", n, f, memory, len(got), len(bytes))
			}
		}
	}
}

// TestCSV compares with boards written plainly.
func TestCSV(t *testing.T) {
	for pits, seeds := range map[int]int{4: 8, 12: 6} {
		game := testrun.Game(t, pits, awari.Strict)
		dir := tabletest.Solve(t, game, seeds)
		tb, space := tabletest.Open(t, dir), testrun.Space(t, game, seeds)
		for _, n := range []int{0, 1, seeds} {
			var want strings.Builder
			for pit := range pits {
				fmt.Fprintf(&want, "p%d,", pit)
			}
			want.WriteString("score\n")
			for rank, score := range scoresOf(t, tb, n) {
				board := game.Text(space.Unrank(n, uint64(rank)))
				fmt.Fprintf(&want, "%s,%d\n", strings.ReplaceAll(board, " ", ","), score)
			}
			got := string(written(t, dir, Options{Seeds: n, Format: CSV, Job: job.Job{Memory: 64 << 20}}))
			should.Hold(t, got == want.String(), "%s, layer %d: %.300s", game.Name(), n, got)
		}
	}
}

// TestGolden holds small files as they were published by the first version.
func TestGolden(t *testing.T) {
	dir := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), 6)
	small := tabletest.Solve(t, testrun.Game(t, 4, awari.Awari), 3)
	for name, got := range map[string][]byte{
		"layer2.vu":    written(t, dir, Options{Seeds: 2, Format: Vu}),
		"layer2.colex": written(t, dir, Options{Seeds: 2, Format: Colex}),
		"layer2.npy":   written(t, dir, Options{Seeds: 2, Format: Npy}),
		"layer3.wdl":   written(t, small, Options{Seeds: 3, Format: WDL}),
		"layer3.csv":   written(t, small, Options{Seeds: 3, Format: CSV}),
	} {
		golden.Check(t, filepath.Join("testdata", name), got)
	}
}

// TestLongPublishedExample: the example in the documentation of the published database, at its place in a file: behind the boards with an empty
// pit that have larger ranks.
func TestLongPublishedExample(t *testing.T) {
	tries.NeedsLong(t, "solves 16 layers")
	game := testrun.Game(t, 12, awari.Awari)
	dir, space := tabletest.Solve(t, game, 16), testrun.Space(t, game, 16)
	board, index := awari.Board{1, 1, 1, 1, 1, 2, 4, 2, 3, 0, 0, 0}, 0
	_, rank := space.Rank(board)
	for before := rank + 1; before < space.Size(16); before++ {
		if b := space.Unrank(16, before); slices.Contains(b[6:12], 0) {
			index++
		}
	}
	file := written(t, dir, Options{Seeds: 16, Format: Vu})
	should.Equal(t, int8(file[index]), 0, "the score")
	probe := must.Get(tabletest.Open(t, dir).Probe(t.Context(), board))(t)
	for pit, want := range []int{-1, -1, -2, -2, -2, 0} {
		should.Equal(t, probe.Moves[pit].Value, want, "pit %d", pit)
	}
}

// TestRefusedExports: what cannot be exported, and what fails on the way, leaves no file behind, and an old one as it was. Only files are
// replaced.
func TestRefusedExports(t *testing.T) {
	strict, small := tabletest.Solve(t, testrun.Game(t, 12, awari.Strict), 2), tabletest.Solve(t, testrun.Game(t, 10, awari.Awari), 2)
	large, cancel := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), 9), context.CancelFunc(nil)
	damaged := testrun.Copy(t, large)
	path := filepath.Join(damaged, rundir.LayerName(9))
	testrun.Flip(t, path, len(must.Read(t, path))/2)
	none := filepath.Join(small, "none")
	type export struct {
		dir  string
		o    Options
		want error
	}
	all := []export{
		{strict, Options{Seeds: 2, Format: Vu}, ErrFormat}, {small, Options{Seeds: 2, Format: Vu}, ErrFormat},
		{small, Options{Seeds: 3, Format: Colex}, tables.ErrUnsolved}, {small, Options{Seeds: -1, Format: Colex}, tables.ErrUnsolved},
		{small, Options{Seeds: 2, Format: Colex, Codec: "gzip"}, frame.ErrCodec}, {none, Options{Format: Colex}, rundir.ErrMissing},
		{damaged, options(9, Colex, frame.None), corrupt.ErrCorrupt},
	}
	for _, codec := range []frame.Codec{frame.None, frame.LZ4, frame.Zstd} {
		o := options(9, Vu, codec)
		o.Progress = func(job.Step) { cancel() }
		all = append(all, export{large, o, context.Canceled})
		for _, left := range []int{0, 30_000} {
			should.Be(t, must.Err(Write(t.Context(), large, &failing{left}, options(9, Npy, codec))), errFull, "%s, %d bytes", codec, left)
		}
	}
	for _, c := range all {
		path := filepath.Join(t.TempDir(), "file")
		must.Write(t, path, []byte("old"))
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		should.Be(t, must.Err(WriteFile(ctx, c.dir, path, c.o)), c.want, "%+v", c.o)
		must.Same(t, "another file", map[string]string{".": "d---------", "file": "old"}, must.Tree(t, filepath.Dir(path)))
		cancel()
	}
	err := must.Err(WriteFile(t.Context(), small, t.TempDir(), Options{Format: Colex, Codec: frame.None}))
	should.Hold(t, err != nil && strings.Contains(err.Error(), "not a file"), "a directory: %v", err)
	err = must.Err(Write(t.Context(), small, nil, Options{Seeds: 2, Format: Colex, Codec: frame.None, Job: job.Job{Memory: 1 << 20}}))
	m := must.As[*memory.Error](t, err)
	should.Hold(t, m.Need > m.Allowed && strings.Contains(err.Error(), "; the limit is 1.0 MiB"), "error %v", err)
	should.Be(t, must.Err(ParseFormat("xml")), ErrFormat)
}

type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// published lists the boards of a vu file as the database describes it.
func published(t *testing.T, game awari.Game, n int) (boards []awari.Board) {
	pits := game.Pits()
	for _, b := range testrun.Boards(testrun.Space(t, game, n), n, n) {
		if slices.Contains(b[pits/2:pits], 0) {
			slices.Reverse(b[:pits]) // the last pit matters most
			boards = append(boards, b)
		}
	}
	slices.SortFunc(boards, func(a, b awari.Board) int { return slices.Compare(a[:], b[:]) })
	for i := range boards {
		slices.Reverse(boards[i][:pits])
	}
	return boards
}

// TestPublishedCounts: the sizes of the first files, and the sum of all of them. There is no file of 47 seeds, and the
// 889,063,398,406 positions of the published solution include the one at the start, which is full.
func TestPublishedCounts(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	counts := []uint64{1, 12, 78, 364, 1365, 4368, 12375, 31812}
	total := uint64(1)
	for n := range awari.MaxSeeds + 1 {
		got := must.Get(newShape(game, n))(t).reachable()
		should.Not(t, n < len(counts) && got != counts[n], "layer %d: %d positions", n, got)
		if n != 47 {
			total += got
		}
	}
	should.Equal(t, total, 889_063_398_406, "positions in all")
}

// TestLongShapes looks at all layers of few seeds, of boards of 4 to 12 pits: spans and counts are those that a look at each board finds, pieces of
// any size make the same file, and such a file is read in pieces, full boards included.
func TestLongShapes(t *testing.T) {
	for pits, last := range tries.More(map[int]int{4: 8, 6: 6, 8: 5, 10: 5, 12: 5}, map[int]int{4: 12, 6: 9, 8: 8, 10: 7, 12: 8}) {
		game := testrun.Game(t, pits, awari.Awari)
		tb := tabletest.Solved(t, game, last)
		for n := range last + 1 {
			t.Run(fmt.Sprintf("%d pits, %d seeds", pits, n), func(t *testing.T) {
				s := must.Get(newShape(game, n))(t)
				checkSpans(t, s, testrun.Space(t, game, n))
				checkEncoder(t, s, game)
				checkSource(t, s, tb)
			})
		}
	}
}

func checkSpans(t *testing.T, s *shape, space *awari.Space) {
	full, before := make([]bool, s.Positions()), uint64(0)
	for rank := range s.Positions() {
		b := space.Unrank(s.n, rank)
		full[rank] = !slices.Contains(b[s.q:2*s.q], 0)
		must.Equal(t, must.Get(s.fullBefore(rank))(t), before, "full boards before rank %d", rank)
		if full[rank] {
			before++
		}
	}
	got := must.Get(s.fullBefore(s.Positions()))(t)
	must.Hold(t, got == before && got == s.full() && s.reachable() == s.Positions()-got, "%d full boards, want %d", got, before)
	for _, piece := range []uint64{1, 2, 7, 64, 1000, s.Positions()} {
		for from := uint64(0); from < s.Positions(); from += 1 + s.Positions()/40 {
			to, next := min(from+piece, s.Positions()), from
			must.OK(t, s.spans(from, to, func(x span) {
				must.Hold(t, x.from == next && x.to > x.from && x.to <= to, "span %+v of %d to %d follows %d", x, from, to, next)
				must.Not(t, slices.Contains(full[x.from:x.to], !x.full), "span %+v has others", x)
				next = x.to
			}))
			must.Equal(t, next, to, "spans from %d end at", from)
		}
	}
}

func checkEncoder(t *testing.T, s *shape, game awari.Game) {
	space, want := testrun.Space(t, game, s.n), []byte(nil)
	for _, b := range published(t, game, s.n) {
		_, rank := space.Rank(b)
		want = append(want, byte(rank))
	}
	for _, size := range []uint64{1, 3, 50, s.Positions()} {
		if s.Positions()/size > 10_000 && !tries.Long() {
			continue
		}
		var got []byte
		for from := uint64(0); from < s.Positions(); from += size {
			scores := make([]int8, min(size, s.Positions()-from))
			for i := range scores {
				scores[i] = int8(from + uint64(i))
			}
			got = append(slices.Clone(must.Get(Vu.newEncoder(s).encode(nil, from, scores))(t)), got...)
		}
		should.Hold(t, bytes.Equal(got, want), "pieces of %d: %d bytes, not the %d expected", size, len(got), len(want))
	}
}

func checkSource(t *testing.T, s *shape, tb *tables.Tables) {
	want := scoresOf(t, tb, s.n)
	file := must.Get(vuEncoder{s}.encode(nil, 0, slices.Clone(want)))(t)
	source := must.Get(openVu(t, tb, s.n, file, frame.None))(t)
	defer source.Close()
	for _, size := range []uint64{1, 5, 100, s.Positions()} {
		for from := uint64(0); from < s.Positions(); from += max(size, 1+s.Positions()/50) {
			got := make([]int8, min(size, s.Positions()-from))
			must.OK(t, source.Read(from, got))
			must.List(t, got, want[from:from+uint64(len(got))], "%d scores from rank %d", size, from)
		}
	}
}

// writtenAll exports all layers and returns the names of the files that were written, not kept.
func writtenAll(t *testing.T, dir, out string, o Options) (names []string) {
	t.Helper()
	last := 0.0
	o.Progress = func(s job.Step) {
		share := s.Done / s.Total
		should.Not(t, share < last || share > 1, "progress from %v to %v", last, share)
		last = share
	}
	must.OK(t, WriteAll(t.Context(), dir, out, o, func(e Exported) {
		if !e.Kept {
			names = append(names, e.File)
		}
	}))
	return names
}

// TestWriteAll: each file equals a single export; only a file that is missing or has changed
// is written again, also after an interruption at any layer.
func TestWriteAll(t *testing.T) {
	const seeds = 5
	dir, out := tabletest.Solve(t, testrun.Game(t, 6, awari.Awari), seeds), filepath.Join(t.TempDir(), "a", "out")
	o := Options{Format: Npy, Codec: frame.LZ4, Job: job.Job{Workers: 2}}
	for stop := range seeds {
		ctx, cancel := context.WithCancel(t.Context())
		written := 0
		err := WriteAll(ctx, dir, out, o, func(e Exported) {
			should.Hold(t, e.Kept == (e.Seeds < stop), "stopped at %d: %+v", stop, e)
			if written++; written > stop {
				cancel()
			}
		})
		should.Be(t, err, context.Canceled, "stopped at %d", stop)
	}
	should.List(t, writtenAll(t, dir, out, o), []string{fileName(Npy, frame.LZ4, seeds)}, "the rest")
	for n := range seeds + 1 {
		one := o
		one.Seeds = n
		text := must.Read(t, filepath.Join(out, fileName(Npy, frame.LZ4, n)))
		should.Hold(t, string(text) == string(written(t, dir, one)), "layer %d differs from a single export", n)
	}
	path := filepath.Join(out, fileName(Npy, frame.LZ4, 4))
	text := must.Read(t, path)
	for i, damage := range []func(){
		func() { testrun.Flip(t, path, -1) }, func() { must.Write(t, path, text[:3]) }, func() { must.OK(t, os.Remove(path)) },
	} {
		damage()
		should.List(t, writtenAll(t, dir, out, o), []string{filepath.Base(path)}, "damage %d", i)
		should.Hold(t, string(must.Read(t, path)) == string(text), "damage %d: not mended", i)
	}
	should.List(t, writtenAll(t, dir, out, o), nil, "nothing to do")
	must.Write(t, filepath.Join(out, listName(Npy, frame.LZ4)), []byte("Dear diary"))
	should.Be(t, WriteAll(t.Context(), dir, out, o, nil), corrupt.ErrCorrupt, "a list that is none")
}

// TestWriteAllOther: what another run has exported is not replaced.
func TestWriteAllOther(t *testing.T) {
	out, o := t.TempDir(), Options{Format: Colex, Codec: frame.None}
	writtenAll(t, tabletest.Solve(t, testrun.Game(t, 4, awari.Awari), 2), out, o)
	two := tabletest.Solve(t, testrun.Game(t, 4, awari.Strict), 2)
	should.Be(t, WriteAll(t.Context(), two, out, o, nil), ErrOtherExport)
	out = filepath.Join(t.TempDir(), "none")
	should.Be(t, WriteAll(t.Context(), two, out, Options{Format: Vu, Codec: frame.None}, nil), ErrFormat)
	should.Not(t, must.Err(os.Stat(out)) == nil, "the directory was made for nothing")
}

func unpacked(t *testing.T, c frame.Codec, path string) string {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	z := must.Get(frame.NewReader(file, c, frame.MostRoom))(t)
	defer z.Close()
	return string(must.Get(io.ReadAll(z))(t))
}

// TestLongWriteParts: parts, in any order, one twice, one behind the other are the file of a single export, if there are more than pieces, too.
func TestLongWriteParts(t *testing.T) {
	dir := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), 9) // layer 9 has three pieces
	random := tries.Rand(t)
	for i, f := range []Format{Colex, Npy, CSV, WDL, Vu} {
		for _, codec := range [][]frame.Codec{{frame.None, frame.Zstd}, {frame.LZ4}}[i%2] {
			o := Options{Format: f, Codec: codec, Layers: []int{4, 9}, Job: job.Job{Workers: 2}}
			whole, out := t.TempDir(), t.TempDir()
			writtenAll(t, dir, whole, o)
			if !tries.Long() && i > 0 && codec == frame.None {
				continue
			}
			n := []int{2, 5, tries.More(4, 8)}[random.IntN(3)]
			order := random.Perm(n)
			positions := map[int]uint64{}
			for _, i := range append(order, order[0]) {
				o.Part = job.Part{Index: i + 1, Of: n}
				must.OK(t, WriteAll(t.Context(), dir, out, o, func(e Exported) {
					if !e.Kept {
						positions[e.Seeds] += e.Positions
					}
				}))
			}
			o.Part = job.Part{}
			must.OK(t, WriteAll(t.Context(), dir, whole, o, func(e Exported) {
				name := fileName(f, codec, e.Seeds)
				cat, path := []byte{}, filepath.Join(out, "cat")
				for i := range n {
					cat = append(cat, must.Read(t, filepath.Join(out, partName(name, job.Part{Index: i + 1, Of: n})))...)
				}
				must.Write(t, path, cat)
				want, got := unpacked(t, codec, filepath.Join(whole, name)), unpacked(t, codec, path)
				should.Hold(t, got == want && positions[e.Seeds] == e.Positions && (codec != frame.None || string(cat) == want),
					"%s, %d parts: %d bytes, want %d; %d positions, want %d", name, n, len(got), len(want), positions[e.Seeds], e.Positions)
			}))
		}
	}
}

// TestPlies: a csv file has a column of plies if the layer has distances, other formats have none; a file without it is written again
// once there are some.
func TestPlies(t *testing.T) {
	dir, out := tabletest.Solve(t, testrun.Game(t, 6, awari.Awari), 5), filepath.Join(t.TempDir(), "out")
	csv, npy := Options{Format: CSV, Codec: frame.None}, Options{Format: Npy, Codec: frame.None}
	writtenAll(t, dir, out, csv)
	writtenAll(t, dir, out, npy)
	before := string(must.Read(t, filepath.Join(out, fileName(CSV, frame.None, 4))))
	must.OK(t, must.Err(distance.Run(t.Context(), dir, distance.Options{Layers: []int{4}, Job: job.Job{Family: cpu.Best()}})))
	should.List(t, writtenAll(t, dir, out, csv), []string{fileName(CSV, frame.None, 4)}, "csv")
	should.List(t, writtenAll(t, dir, out, npy), nil, "npy")
	tb := tabletest.Open(t, dir)
	plies := make([]int8, tb.Layers()[4].Positions)
	must.OK(t, must.Err(tb.ReadDistances(t.Context(), 4, 0, plies)))
	lines := strings.Split(before, "\n")
	lines[0] += ",plies"
	for i, p := range plies {
		lines[i+1] += "," + strconv.Itoa(int(uint8(p)))
	}
	should.Equal(t, string(must.Read(t, filepath.Join(out, fileName(CSV, frame.None, 4)))), strings.Join(lines, "\n"))
	must.OK(t, os.Remove(filepath.Join(dir, rundir.DistanceName(4))))
	csv.Seeds, npy.Seeds = 4, 4
	should.Be(t, must.Err(Write(t.Context(), dir, io.Discard, csv)), corrupt.ErrCorrupt, "listed distances are missing")
	written(t, dir, npy)
}

func imported(t testing.TB, from string, format Format, codec frame.Codec) string {
	t.Helper()
	tb, work := tabletest.Open(t, from), t.TempDir()
	dir := filepath.Join(work, "imported")
	for n := range tb.MaxSeeds() + 1 {
		path := filepath.Join(work, "scores")
		must.Write(t, path, written(t, from, Options{Seeds: n, Format: format, Codec: codec}))
		report := must.Get(Import(t.Context(), dir, path, tb.Game(), options(n, format, codec)))(t)
		should.Hold(t, report.Layer.Hash == tb.Layers()[n].Hash, "%s, layer %d as %s, %s: other scores", tb.Game().Name(), n, format, codec)
	}
	return dir
}

func options(n int, format Format, codec frame.Codec) Options {
	return Options{Seeds: n, Format: format, Codec: codec, Job: job.Job{Workers: 2, Family: cpu.Best()}}
}

// TestLongRoundTrip: what was exported and imported again is the same, and passes verify.
func TestLongRoundTrip(t *testing.T) {
	seeds := tries.Pick(5, 8, 12)
	for _, rules := range awari.RuleSets() {
		from := tabletest.Solve(t, testrun.Game(t, 12, rules), seeds)
		for i, codec := range []frame.Codec{frame.None, frame.LZ4, frame.Zstd} {
			if tries.Long() || i == int(rules)%3 {
				imported(t, from, Colex, codec)
			}
			if rules == awari.Awari {
				dir := imported(t, from, Vu, codec)
				checkVerified(t, dir)
				for n := range seeds + 1 { // sealing is sealing, whoever gives the scores
					name := rundir.LayerName(n)
					should.Hold(t, bytes.Equal(must.Read(t, filepath.Join(from, name)), must.Read(t, filepath.Join(dir, name))), "%s differs", name)
				}
				for _, name := range []string{"scores.tmp", "scores"} {
					should.Not(t, must.Err(os.Stat(filepath.Join(dir, rundir.WorkName, name))) == nil, "%s is left over", name)
				}
			}
		}
	}
	for _, pits := range []int{4, 6, 8, 10} {
		checkVerified(t, imported(t, tabletest.Solve(t, testrun.Game(t, pits, awari.Strict), tries.More(4, 6)), Colex, frame.None))
	}
}

func checkVerified(t *testing.T, dir string) {
	t.Helper()
	result := must.Get(verify.Run(t.Context(), dir, verify.Options{Job: job.Job{Workers: 2, Family: cpu.Best()}}))(t)
	should.Hold(t, result.OK, "%+v", result)
}

func openVu(t testing.TB, tb *tables.Tables, n int, file []byte, codec frame.Codec) (solve.Source, error) {
	t.Helper()
	s, dir := must.Get(newShape(tb.Game(), n))(t), t.TempDir()
	path := filepath.Join(dir, "file")
	must.Write(t, path, file)
	i := &intake{Options: options(n, Vu, codec), path: path, game: tb.Game(), shape: s, scores: s.reachable(), room: frame.MostRoom}
	work := must.Get(vfs.OpenDir(dir))(t)
	t.Cleanup(func() { work.Close() })
	return i.open(t.Context(), tb, work)
}

// TestBadFiles: files that cannot be of the layer are damaged, whatever is wrong with them, and change nothing.
func TestBadFiles(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	from, dir := tabletest.Solve(t, game, 7), tabletest.Solve(t, game, 6)
	before := must.Tree(t, dir)
	for _, f := range []Format{Colex, Vu} {
		plain := written(t, from, Options{Seeds: 7, Format: f})
		packed := written(t, from, Options{Seeds: 7, Format: f, Codec: frame.LZ4})
		zstd := written(t, from, Options{Seeds: 7, Format: f, Codec: frame.Zstd})
		with := func(data []byte, at int, value byte) []byte {
			data = bytes.Clone(data)
			data[at] = value
			return data
		}
		for name, c := range map[string]struct {
			codec frame.Codec
			data  []byte
			words string
		}{
			"empty":         {frame.None, nil, "has 0 scores"},
			"short":         {frame.None, plain[:len(plain)-1], fmt.Sprintf("has %d scores; the layer has %d", len(plain)-1, len(plain))},
			"long":          {frame.None, append(bytes.Clone(plain), 0), fmt.Sprintf("has %d scores", len(plain)+1)},
			"too much":      {frame.None, with(plain, 100, 8), "byte 100|score 8|-7 to 7"},
			"too little":    {frame.None, with(plain, len(plain)-1, 0xf8), "score -8|-7 to 7"},
			"-128":          {frame.None, with(plain, 0, 0x80), "byte 0|score -128"},
			"no frame":      {frame.LZ4, plain, "lz4|damaged"},
			"empty frame":   {frame.LZ4, nil, "lz4|ends early"},
			"cut lz4":       {frame.LZ4, packed[:len(packed)-6], "lz4|ends early"},
			"cut zstd":      {frame.Zstd, zstd[:len(zstd)/2], "zstd|ends early"},
			"flipped lz4":   {frame.LZ4, with(packed, len(packed)/2, packed[len(packed)/2]^0x10), "lz4|damaged"},
			"flipped zstd":  {frame.Zstd, with(zstd, len(zstd)/2, zstd[len(zstd)/2]^0x10), "zstd|damaged"},
			"other frame":   {frame.Zstd, packed, "zstd|damaged"},
			"longer frame":  {frame.LZ4, pack(t, frame.LZ4, append(bytes.Clone(plain), 0)), "more than the"},
			"shorter frame": {frame.Zstd, pack(t, frame.Zstd, plain[1:]), fmt.Sprintf("has %d scores", len(plain)-1)},
		} {
			path := filepath.Join(t.TempDir(), "scores.7")
			must.Write(t, path, c.data)
			err := must.Err(Import(t.Context(), dir, path, game, options(7, f, c.codec)))
			should.Says(t, err, corrupt.ErrCorrupt, strings.Split(path+"|"+c.words, "|")...)
			must.Same(t, fmt.Sprintf("%s, %s: another directory", f, name), before, must.Tree(t, dir))
		}
	}
}

func pack(t testing.TB, codec frame.Codec, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(frame.NewWriter(&out, codec, uint64(len(data)), 1))(t)
	must.OK(t, must.Err(w.Write(data)))
	must.OK(t, w.Close())
	return out.Bytes()
}

// TestRefusedImports: requests that cannot be met change nothing.
func TestRefusedImports(t *testing.T) {
	game, strict := testrun.Game(t, 12, awari.Awari), testrun.Game(t, 12, awari.Strict)
	from := tabletest.Solve(t, game, 3)
	path := filepath.Join(t.TempDir(), "scores")
	must.Write(t, path, written(t, from, Options{Seeds: 3, Format: Vu}))
	filled, missing := testrun.Write(t, game, testrun.Solve(t, game, 4), 1<<16), filepath.Join(t.TempDir(), "new")
	says := func(words string) func(error) bool {
		return func(err error) bool { return strings.Contains(err.Error(), words) }
	}
	order := func(words string) func(error) bool {
		return func(err error) bool { return errors.As(err, new(*solve.OrderError)) && says(words)(err) }
	}
	for name, c := range map[string]struct {
		dir, path string
		game      awari.Game
		o         Options
		matches   func(error) bool
	}{
		"layers below missing": {missing, path, game, options(3, Vu, frame.None), order("lacks layer 0")},
		"layer below missing":  {filled, path, game, options(6, Vu, frame.None), order("lacks layer 5")},
		"there already":        {filled, path, game, options(3, Vu, frame.None), order("has layer 3 already: the next one is 5")},
		"other rules":          {filled, path, strict, options(5, Colex, frame.None), is(rundir.ErrOtherRun)},
		"vu of strict":         {missing, path, strict, options(0, Vu, frame.None), is(ErrFormat)},
		"csv":                  {missing, path, game, options(0, CSV, frame.None), is(ErrFormat)},
		"no such file":         {missing, path + ".none", game, options(0, Vu, frame.None), is(os.ErrNotExist)},
		"a directory":          {filled, t.TempDir(), game, options(5, Colex, frame.None), says("is a directory")},
		"too many seeds":       {missing, path, game, options(49, Vu, frame.None), is(awari.ErrSeeds)},
		"too few seeds":        {missing, path, game, options(-1, Colex, frame.None), is(awari.ErrSeeds)},
		"too little memory":    {missing, path, game, Options{Format: Vu, Codec: frame.None, Job: job.Job{Memory: 1 << 20}}, says("limit is 1.0 MiB")},
	} {
		err := must.Err(Import(t.Context(), c.dir, c.path, c.game, c.o))
		should.Not(t, err == nil || !c.matches(err), "%s: error %v", name, err)
		must.Not(t, must.Err(os.Stat(missing)) == nil, "%s: a directory was made", name)
	}
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

// TestInterruptedImport stops an import in each of its stages.
func TestInterruptedImport(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	path := filepath.Join(t.TempDir(), "scores")
	must.Write(t, path, written(t, tabletest.Solve(t, game, 8), Options{Seeds: 8, Format: Vu, Codec: frame.LZ4}))
	dir := tabletest.Solve(t, game, 7)
	before := must.Tree(t, dir)
	for _, stage := range []string{"unpacking", "full boards", "sealing"} {
		ctx, cancel := context.WithCancel(t.Context())
		o := options(8, Vu, frame.LZ4)
		last := 0.0
		o.Progress = func(p job.Step) {
			should.Not(t, p.Done < last || p.Done > p.Total, "%+v after %v", p, last)
			if last = p.Done; p.Doing == "layer 8, "+stage {
				cancel()
			}
		}
		_, err := Import(ctx, dir, path, game, o)
		should.Not(t, stage != "sealing" && !errors.Is(err, context.Canceled), "%s: error %v", stage, err)
		should.Hold(t, stage == "sealing" || maps.Equal(before, must.Tree(t, dir)), "%s: the directory is another one", stage)
		cancel()
	}
}

// TestWrongLayersBelow: nothing is imported on top of scores that do not follow from their moves.
func TestWrongLayersBelow(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	_, layers, from := testrun.Run(t, 12, awari.Awari, 6, 1<<16)
	path := filepath.Join(t.TempDir(), "scores")
	must.Write(t, path, written(t, from, Options{Seeds: 6, Format: Vu}))
	for n, scores := range layers[2:6] {
		for i := range scores {
			scores[i] = int8(-n - 2)
		}
	}
	dir := testrun.Write(t, game, layers[:6], 1<<16)
	before := must.Tree(t, dir)
	should.Says(t, must.Err(Import(t.Context(), dir, path, game, options(6, Vu, frame.None))), corrupt.ErrCorrupt, "layer-02.gl: board")
	must.Same(t, "another directory", before, must.Tree(t, dir))
}

// FuzzInput makes layers of any bytes: that ends in scores of the layer, or in an error that says that the file is damaged.
func FuzzInput(f *testing.F) {
	const most = 7
	game := testrun.Game(f, 12, awari.Awari)
	tb := tabletest.Open(f, tabletest.Solve(f, game, most))
	for n := range most + 1 {
		s := must.Get(newShape(game, n))(f)
		file := must.Get(vuEncoder{s}.encode(nil, 0, scoresOf(f, tb, n)))(f)
		f.Add(uint8(n), uint8(0), file)
		f.Add(uint8(n), uint8(1), pack(f, frame.LZ4, file))
		f.Add(uint8(n), uint8(2), pack(f, frame.Zstd, file))
	}
	codecs := []frame.Codec{frame.None, frame.LZ4, frame.Zstd}
	f.Fuzz(func(t *testing.T, n, codec uint8, data []byte) {
		n %= most + 1
		source, err := openVu(t, tb, int(n), data, codecs[int(codec)%len(codecs)])
		if err == nil {
			scores := make([]int8, source.Positions())
			if err = source.Read(0, scores); err == nil {
				var h tally.Histogram
				h.Add(scores)
				should.Hold(t, h.Within(-int8(n), int8(n)), "scores out of range")
			}
			err = errors.Join(err, source.Close())
		}
		should.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
	})
}
