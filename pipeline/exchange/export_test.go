package exchange

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	"grenier/kernels/colex"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
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
	dir := tabletest.Solve(t, game, 9)
	tb, space := tabletest.Open(t, dir), testrun.Space(t, game, 9)
	for _, n := range []int{0, 1, 3, 9} {
		scores := scoresOf(t, tb, n)
		want := map[Format][]byte{Colex: tally.Bytes(scores)}
		for rank, score := range scores { // bits 2k and 2k+1 of a byte: 0, 1 or 3
			if rank%4 == 0 {
				want[WDL] = append(want[WDL], 0)
			}
			sign := map[bool]byte{true: 1}[score > 0] | map[bool]byte{true: 3}[score < 0]
			want[WDL][rank/4] |= sign << (rank % 4 * 2)
		}
		want[Npy] = append(npy.Header(uint64(len(scores))), want[Colex]...)
		for _, b := range published(12, n) {
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
	for _, game := range []awari.Game{testrun.Game(t, 4, awari.Strict), testrun.Game(t, 12, awari.Awari)} {
		dir := tabletest.Solve(t, game, 8)
		tb, space := tabletest.Open(t, dir), testrun.Space(t, game, 8)
		for _, n := range []int{0, 1, 8} {
			var want strings.Builder
			for pit := range game.Pits() {
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

// TestLongEncoderPieces: pieces of any size make the same file. Boards have 4 to 12 pits.
func TestLongEncoderPieces(t *testing.T) {
	everyShape(t, func(t *testing.T, game awari.Game, n int) {
		s, space := must.Get(newShape(game, n))(t), testrun.Space(t, game, n)
		var want []byte
		for _, b := range published(game.Pits(), n) {
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
	})
}

// publishedIndex numbers a board in its file by counting those that come before: for each pit
// from the last on, those with fewer seeds there and the same behind.
func publishedIndex(t *testing.T, b awari.Board) int64 {
	t.Helper()
	choose := func(n, k int) int64 {
		if n < k {
			return 0
		}
		return int64(must.Get(colex.Binomial(n, k))(t))
	}
	index, left, emptied := int64(0), b.Seeds(), false
	for pit := 11; pit > 0; pit-- {
		for seeds := range int(b[pit]) {
			rest := left - seeds
			index += choose(rest+pit-1, pit-1) // boards of pits 0 to pit-1
			if pit >= 6 && !emptied && seeds > 0 && rest >= pit-6 {
				index -= choose(rest-(pit-6)+pit-1, pit-1) // those that leave no pit of the opponent empty
			}
		}
		left -= int(b[pit])
		emptied = emptied || pit >= 6 && b[pit] == 0
	}
	return index
}

// TestLongPublishedExample: the example in the documentation of the published database,
// found by its index. The index itself is checked on all boards of few seeds.
func TestLongPublishedExample(t *testing.T) {
	for n := range 8 {
		for i, b := range published(12, n) {
			got := publishedIndex(t, b)
			must.Hold(t, got == int64(i), "board %v is number %d, want %d", b, got, i)
		}
	}
	tries.NeedsLong(t, "solves 16 layers")
	dir := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), 16)
	file := written(t, dir, Options{Seeds: 16, Format: Vu})
	board := awari.Board{1, 1, 1, 1, 1, 2, 4, 2, 3, 0, 0, 0}
	should.Equal(t, int8(file[publishedIndex(t, board)]), 0, "the score")
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
	data := must.Read(t, path)
	data[len(data)/2] ^= 1
	must.Write(t, path, data)
	none, last := filepath.Join(small, "none"), func(f Format, c frame.Codec) Options {
		return Options{Seeds: 9, Format: f, Codec: c, Job: job.Job{Workers: 2, Family: cpu.Best()}}
	}
	type export struct {
		dir  string
		o    Options
		want error
	}
	all := []export{
		{strict, Options{Seeds: 2, Format: Vu}, ErrFormat}, {small, Options{Seeds: 2, Format: Vu}, ErrFormat},
		{small, Options{Seeds: 3, Format: Colex}, tables.ErrUnsolved}, {small, Options{Seeds: -1, Format: Colex}, tables.ErrUnsolved},
		{small, Options{Seeds: 2, Format: Colex, Codec: "gzip"}, frame.ErrCodec}, {none, Options{Format: Colex}, rundir.ErrMissing},
		{damaged, last(Colex, frame.None), corrupt.ErrCorrupt},
	}
	for _, codec := range []frame.Codec{frame.None, frame.LZ4, frame.Zstd} {
		o := last(Vu, codec)
		o.Progress = func(job.Step) { cancel() }
		all = append(all, export{large, o, context.Canceled})
		for _, left := range []int{0, 30_000} {
			should.Be(t, must.Err(Write(t.Context(), large, &failing{left}, last(Npy, codec))), errFull, "%s, %d bytes", codec, left)
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

// everyShape calls check for all layers of few seeds, of boards of 4 to 12 pits.
func everyShape(t *testing.T, check func(t *testing.T, game awari.Game, n int)) {
	for pits, last := range map[int]int{4: 12, 6: 9, 8: 8, 10: 7, 12: 8} {
		for n := range last + 1 {
			t.Run(fmt.Sprintf("%d pits, %d seeds", pits, n), func(t *testing.T) { check(t, testrun.Game(t, pits, awari.Awari), n) })
		}
	}
}

// boardsOf lists all boards of a layer, in no particular order.
func boardsOf(pits, n int) []awari.Board {
	var all []awari.Board
	var fill func(b awari.Board, pit, left int)
	fill = func(b awari.Board, pit, left int) {
		if pit == pits-1 {
			b[pit] = uint8(left)
			all = append(all, b)
			return
		}
		for seeds := range left + 1 {
			b[pit] = uint8(seeds)
			fill(b, pit+1, left-seeds)
		}
	}
	fill(awari.Board{}, 0, n)
	return all
}

// published lists the boards of a vu file as the database describes it.
func published(pits, n int) []awari.Board {
	boards := slices.DeleteFunc(boardsOf(pits, n), func(b awari.Board) bool { return !slices.Contains(b[pits/2:pits], 0) })
	slices.SortFunc(boards, func(a, b awari.Board) int {
		for pit := pits - 1; pit >= 0; pit-- {
			if c := cmp.Compare(a[pit], b[pit]); c != 0 {
				return c
			}
		}
		return 0
	})
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

// TestSpans compares spans and counts with a look at each board.
func TestSpans(t *testing.T) {
	everyShape(t, func(t *testing.T, game awari.Game, n int) {
		s, space := must.Get(newShape(game, n))(t), testrun.Space(t, game, n)
		full := make([]bool, s.Positions())
		before := uint64(0)
		for rank := range s.Positions() {
			b := space.Unrank(n, rank)
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
				checkSpans(t, s, full, from, min(from+piece, s.Positions()))
			}
		}
	})
}

func checkSpans(t *testing.T, s *shape, full []bool, from, to uint64) {
	next := from
	err := s.spans(from, to, func(x span) {
		must.Hold(t, x.from == next && x.to > x.from && x.to <= to, "span %+v of %d to %d follows %d", x, from, to, next)
		for rank := x.from; rank < x.to; rank++ {
			must.Hold(t, full[rank] == x.full, "span %+v: wrong at rank %d", x, rank)
		}
		next = x.to
	})
	must.Hold(t, err == nil && next == to, "spans of %d to %d end at %d, error %v", from, to, next, err)
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
	game := must.Get(awari.New(6, awari.Awari))(t)
	const seeds = 5
	dir, out := tabletest.Solve(t, game, seeds), filepath.Join(t.TempDir(), "a", "out")
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
	for i, damage := range []func() error{
		func() error {
			return os.WriteFile(path, append(bytes.Clone(text[:len(text)-1]), text[len(text)-1]^1), 0o644)
		},
		func() error { return os.WriteFile(path, text[:3], 0o644) },
		func() error { return os.Remove(path) },
	} {
		must.OK(t, damage())
		should.List(t, writtenAll(t, dir, out, o), []string{filepath.Base(path)}, "damage %d", i)
		should.Hold(t, string(must.Read(t, path)) == string(text), "damage %d: not mended", i)
	}
	got := writtenAll(t, dir, out, o)
	should.Hold(t, got == nil, "nothing to do, but: %v", got)
	must.OK(t, os.WriteFile(filepath.Join(out, listName(Npy, frame.LZ4)), []byte("Dear diary"), 0o644))
	should.Be(t, WriteAll(t.Context(), dir, out, o, nil), corrupt.ErrCorrupt, "a list that is none")
}

// TestWriteAllOther: what another run has exported is not replaced.
func TestWriteAllOther(t *testing.T) {
	one := must.Get(awari.New(4, awari.Awari))(t)
	two := must.Get(awari.New(4, awari.Strict))(t)
	out, o := t.TempDir(), Options{Format: Colex, Codec: frame.None}
	writtenAll(t, tabletest.Solve(t, one, 2), out, o)
	should.Be(t, WriteAll(t.Context(), tabletest.Solve(t, two, 2), out, o, nil), ErrOtherExport)
	out = filepath.Join(t.TempDir(), "none")
	should.Be(t, WriteAll(t.Context(), tabletest.Solve(t, two, 2), out, Options{Format: Vu, Codec: frame.None}, nil), ErrFormat)
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

// TestWriteParts: parts, in any order, one twice, one behind the other are the file of a single export, if there are more than pieces, too.
func TestWriteParts(t *testing.T) {
	dir := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), 10) // layer 10 has six pieces
	random := tries.Rand(t)
	for i, f := range []Format{Colex, Npy, CSV, WDL, Vu} {
		for _, codec := range [][]frame.Codec{{frame.None, frame.Zstd}, {frame.LZ4}}[i%2] {
			o := Options{Format: f, Codec: codec, Layers: []int{4, 10}, Job: job.Job{Workers: 2}}
			whole, out := t.TempDir(), t.TempDir()
			writtenAll(t, dir, whole, o)
			n := []int{2, 5, 8}[random.IntN(3)]
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
				want := unpacked(t, codec, filepath.Join(whole, name))
				if got := unpacked(t, codec, path); got != want || positions[e.Seeds] != e.Positions || codec == frame.None && string(cat) != want {
					t.Errorf("%s, %d parts: %d bytes, want %d; %d positions, want %d", name, n, len(got), len(want), positions[e.Seeds], e.Positions)
				}
			}))
		}
	}
}

// TestPlies: a csv file has a column of plies if the layer has distances, other formats have none; a file without it is written again
// once there are some.
func TestPlies(t *testing.T) {
	game := must.Get(awari.New(6, awari.Awari))(t)
	dir, out := tabletest.Solve(t, game, 5), filepath.Join(t.TempDir(), "out")
	csv, npy := Options{Format: CSV, Codec: frame.None}, Options{Format: Npy, Codec: frame.None}
	writtenAll(t, dir, out, csv)
	writtenAll(t, dir, out, npy)
	before := string(must.Read(t, filepath.Join(out, fileName(CSV, frame.None, 4))))
	must.OK(t, must.Err(distance.Run(t.Context(), dir, distance.Options{Layers: []int{4}, Job: job.Job{Family: cpu.Best()}})))
	should.List(t, writtenAll(t, dir, out, csv), []string{fileName(CSV, frame.None, 4)}, "csv")
	got := writtenAll(t, dir, out, npy)
	should.Hold(t, got == nil, "npy: %v", got)
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
