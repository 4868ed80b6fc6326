package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/frame"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

func imported(t testing.TB, from string, format Format, codec frame.Codec) string {
	t.Helper()
	tb, work := tabletest.Open(t, from), t.TempDir()
	dir := filepath.Join(work, "imported")
	for n := range tb.MaxSeeds() + 1 {
		path := filepath.Join(work, "scores")
		must.Write(t, path, written(t, from, Options{Seeds: n, Format: format, Codec: codec}))
		report, err := Import(t.Context(), dir, path, tb.Game(), importOptions(n, format, codec))
		must.Hold(t, err == nil, "layer %d: %v", n, err)
		should.Hold(t, report.Layer.Hash == tb.Layers()[n].Hash, "%s, layer %d as %s, %s: other scores", tb.Game().Name(), n, format, codec)
	}
	return dir
}

func importOptions(n int, format Format, codec frame.Codec) Options {
	return Options{Seeds: n, Format: format, Codec: codec, Job: job.Job{Workers: 2, Family: cpu.Best()}}
}

// TestLongRoundTrip: what was exported and imported again is the same, and passes verify.
func TestLongRoundTrip(t *testing.T) {
	seeds := tries.Pick(6, 8, 12)
	for _, rules := range awari.RuleSets() {
		from := tabletest.Solve(t, testrun.Game(t, 12, rules), seeds)
		for _, codec := range []frame.Codec{frame.None, frame.LZ4, frame.Zstd} {
			imported(t, from, Colex, codec)
			if rules == awari.Awari {
				dir := imported(t, from, Vu, codec)
				checkVerified(t, dir)
				checkSameFiles(t, from, dir)
			}
		}
	}
	for _, pits := range []int{4, 6, 8, 10} {
		checkVerified(t, imported(t, tabletest.Solve(t, testrun.Game(t, pits, awari.Strict), 6), Colex, frame.None))
	}
}

func checkVerified(t *testing.T, dir string) {
	t.Helper()
	result, err := verify.Run(t.Context(), dir, verify.Options{Job: job.Job{Workers: 2, Family: cpu.Best()}})
	should.Hold(t, err == nil && result.OK, "%+v, error %v", result, err)
}

// checkSameFiles: sealing is sealing, whoever gives the scores.
func checkSameFiles(t *testing.T, a, b string) {
	for n := range tabletest.Open(t, a).MaxSeeds() + 1 {
		name := rundir.LayerName(n)
		should.Hold(t, bytes.Equal(must.Read(t, filepath.Join(a, name)), must.Read(t, filepath.Join(b, name))), "%s differs", name)
	}
	for _, name := range []string{"scores.tmp", "scores"} {
		should.Not(t, must.Err(os.Stat(filepath.Join(b, rundir.WorkName, name))) == nil, "%s is left over", name)
	}
}

// TestLongVuSource reads vu files in pieces, of boards of 4 to 12 pits, full ones included.
func TestLongVuSource(t *testing.T) {
	most := tries.More(map[int]int{4: 10, 6: 7, 8: 6, 10: 5, 12: 6}, map[int]int{4: 12, 6: 9, 8: 8, 10: 7, 12: 8})
	for pits, seeds := range most {
		game := testrun.Game(t, pits, awari.Awari)
		dir := tabletest.Solve(t, game, seeds)
		tb := tabletest.Open(t, dir)
		for n := range seeds + 1 {
			t.Run(fmt.Sprintf("%d pits, %d seeds", pits, n), func(t *testing.T) { checkVuSource(t, tb, n) })
		}
	}
}

func checkVuSource(t *testing.T, tb *tables.Tables, n int) {
	s, want := must.Get(newShape(tb.Game(), n))(t), scoresOf(t, tb, n)
	file := must.Get(vuEncoder{s}.encode(nil, 0, slices.Clone(want)))(t)
	source := must.Get(openVu(t, tb, n, file, frame.None))(t)
	defer source.Close()
	for _, size := range []uint64{1, 5, 100, s.Positions()} {
		for from := uint64(0); from < s.Positions(); from += max(size, 1+s.Positions()/50) {
			got := make([]int8, min(size, s.Positions()-from))
			must.OK(t, source.Read(from, got))
			must.List(t, got, want[from:from+uint64(len(got))], "%d scores from rank %d", size, from)
		}
	}
}

func openVu(t testing.TB, tb *tables.Tables, n int, file []byte, codec frame.Codec) (solve.Source, error) {
	t.Helper()
	s, dir := must.Get(newShape(tb.Game(), n))(t), t.TempDir()
	path := filepath.Join(dir, "file")
	must.Write(t, path, file)
	i := &intake{Options: importOptions(n, Vu, codec), path: path, game: tb.Game(), shape: s, scores: s.reachable(), room: frame.MostRoom}
	work := must.Get(vfs.OpenDir(dir))(t)
	t.Cleanup(func() { work.Close() })
	return i.open(t.Context(), tb, work)
}

// TestBadFiles: files that cannot be of the layer are damaged, whatever is wrong with them, and change nothing.
func TestBadFiles(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	from, below := tabletest.Solve(t, game, 7), testrun.Solve(t, game, 6)
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
			t.Run(fmt.Sprintf("%s, %s", f, name), func(t *testing.T) {
				dir := testrun.Write(t, game, below, 1<<16)
				before := must.Tree(t, dir)
				path := filepath.Join(t.TempDir(), "scores.7")
				must.Write(t, path, c.data)
				err := must.Err(Import(t.Context(), dir, path, game, importOptions(7, f, c.codec)))
				should.Says(t, err, corrupt.ErrCorrupt, strings.Split(path+"|"+c.words, "|")...)
				must.Same(t, "another directory", before, must.Tree(t, dir))
			})
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
		"layers below missing": {missing, path, game, importOptions(3, Vu, frame.None), order("lacks layer 0")},
		"layer below missing":  {filled, path, game, importOptions(6, Vu, frame.None), order("lacks layer 5")},
		"there already":        {filled, path, game, importOptions(3, Vu, frame.None), order("has layer 3 already: the next one is 5")},
		"other rules":          {filled, path, strict, importOptions(5, Colex, frame.None), is(rundir.ErrOtherRun)},
		"vu of strict":         {missing, path, strict, importOptions(0, Vu, frame.None), is(ErrFormat)},
		"csv":                  {missing, path, game, importOptions(0, CSV, frame.None), is(ErrFormat)},
		"no such file":         {missing, path + ".none", game, importOptions(0, Vu, frame.None), is(os.ErrNotExist)},
		"a directory":          {filled, t.TempDir(), game, importOptions(5, Colex, frame.None), says("is a directory")},
		"too many seeds":       {missing, path, game, importOptions(49, Vu, frame.None), is(awari.ErrSeeds)},
		"too few seeds":        {missing, path, game, importOptions(-1, Colex, frame.None), is(awari.ErrSeeds)},
		"too little memory":    {missing, path, game, Options{Format: Vu, Codec: frame.None, Job: job.Job{Memory: 1 << 20}}, says("limit is 1.0 MiB")},
	} {
		_, err := Import(t.Context(), c.dir, c.path, c.game, c.o)
		should.Not(t, err == nil || !c.matches(err), "%s: error %v", name, err)
		must.Not(t, must.Err(os.Stat(missing)) == nil, "%s: a directory was made", name)
	}
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

// TestInterruptedImport stops an import in each of its stages.
func TestInterruptedImport(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	from := tabletest.Solve(t, game, 8)
	path := filepath.Join(t.TempDir(), "scores")
	must.Write(t, path, written(t, from, Options{Seeds: 8, Format: Vu, Codec: frame.LZ4}))
	dir := testrun.Write(t, game, testrun.Solve(t, game, 7), 1<<16)
	before := must.Tree(t, dir)
	for _, stage := range []string{"unpacking", "full boards", "sealing"} {
		ctx, cancel := context.WithCancel(t.Context())
		o := importOptions(8, Vu, frame.LZ4)
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
	layers := testrun.Solve(t, game, 8)
	path := filepath.Join(t.TempDir(), "scores")
	must.Write(t, path, written(t, testrun.Write(t, game, layers, 1<<16), Options{Seeds: 8, Format: Vu}))
	for n, scores := range layers[2:8] {
		for i := range scores {
			scores[i] = int8(-n - 2)
		}
	}
	dir := testrun.Write(t, game, layers[:8], 1<<16)
	before := must.Tree(t, dir)
	should.Says(t, must.Err(Import(t.Context(), dir, path, game, importOptions(8, Vu, frame.None))), corrupt.ErrCorrupt, "layer-02.gl: board")
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
