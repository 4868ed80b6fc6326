package exchange

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/frame"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
)

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
	dir, out := solveRun(t, game, seeds), filepath.Join(t.TempDir(), "a", "out")
	o := Options{Format: Npy, Codec: frame.LZ4, Job: job.Job{Workers: 2}}
	for stop := range seeds {
		ctx, cancel := context.WithCancel(t.Context())
		written := 0
		err := WriteAll(ctx, dir, out, o, func(e Exported) {
			should.Hold(t, e.Kept == (e.Seeds < stop), "stopped at %d: %+v", stop, e)
			written++
			if written > stop {
				cancel()
			}
		})
		should.Be(t, err, context.Canceled, "stopped at %d", stop)
	}
	should.List(t, writtenAll(t, dir, out, o), []string{fileName(Npy, frame.LZ4, seeds)}, "the rest")
	for n := range seeds + 1 {
		one := o
		one.Seeds = n
		text, err := os.ReadFile(filepath.Join(out, fileName(Npy, frame.LZ4, n)))
		should.Hold(t, err == nil && string(text) == string(written(t, dir, one)), "layer %d differs from a single export, %v", n, err)
	}
	path := filepath.Join(out, fileName(Npy, frame.LZ4, 4))
	text := must.Read(t, path)
	for i, damage := range []func() error{
		func() error {
			return os.WriteFile(path, append(slices.Clone(text[:len(text)-1]), text[len(text)-1]^1), 0o644)
		},
		func() error { return os.WriteFile(path, text[:3], 0o644) },
		func() error { return os.Remove(path) },
	} {
		must.OK(t, damage())
		should.List(t, writtenAll(t, dir, out, o), []string{filepath.Base(path)}, "damage %d", i)
		now, err := os.ReadFile(path)
		should.Hold(t, err == nil && string(now) == string(text), "damage %d: not mended, %v", i, err)
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
	writtenAll(t, solveRun(t, one, 2), out, o)
	should.Be(t, WriteAll(t.Context(), solveRun(t, two, 2), out, o, nil), ErrOtherExport)
	out = filepath.Join(t.TempDir(), "none")
	should.Be(t, WriteAll(t.Context(), solveRun(t, two, 2), out, Options{Format: Vu, Codec: frame.None}, nil), ErrFormat)
	should.Not(t, must.Err(os.Stat(out)) == nil, "the directory was made for nothing")
}

// unpacked returns the contents of a file of a codec.
func unpacked(t *testing.T, c frame.Codec, path string) string {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	z := must.Get(frame.NewReader(file, c, frame.MostRoom))(t)
	defer z.Close()
	return string(must.Get(io.ReadAll(z))(t))
}

// TestWriteParts: parts, in any order, one twice, one behind the other are the file of a single export, if there are more than
// pieces, too.
func TestWriteParts(t *testing.T) {
	dir := solveRun(t, testrun.Game(t, 12, awari.Awari), 10) // layer 10 has six pieces
	random := tries.Rand(t)
	for _, f := range []Format{Colex, Npy, CSV, WDL, Vu} {
		for _, codec := range []frame.Codec{frame.None, frame.LZ4, frame.Zstd} {
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
	dir, out := solveRun(t, game, 5), filepath.Join(t.TempDir(), "out")
	csv, npy := Options{Format: CSV, Codec: frame.None}, Options{Format: Npy, Codec: frame.None}
	writtenAll(t, dir, out, csv)
	writtenAll(t, dir, out, npy)
	before := string(must.Read(t, filepath.Join(out, fileName(CSV, frame.None, 4))))
	must.OK(t, must.Err(distance.Run(t.Context(), dir, distance.Options{Layers: []int{4}, Job: job.Job{Family: cpu.Best()}})))
	should.List(t, writtenAll(t, dir, out, csv), []string{fileName(CSV, frame.None, 4)}, "csv")
	got := writtenAll(t, dir, out, npy)
	should.Hold(t, got == nil, "npy: %v", got)
	tb := must.Get(tables.Open(t.Context(), dir))(t)
	defer tb.Close()
	plies := make([]int8, tb.Layers()[4].Positions)
	must.OK(t, must.Err(tb.ReadDistances(t.Context(), 4, 0, plies)))
	lines := strings.Split(before, "\n")
	lines[0] += ",plies"
	for i, p := range plies {
		lines[i+1] += "," + strconv.Itoa(int(uint8(p)))
	}
	if got := string(must.Read(t, filepath.Join(out, fileName(CSV, frame.None, 4)))); got != strings.Join(lines, "\n") {
		t.Errorf("%.200s, want %.200s", got, strings.Join(lines, "\n"))
	}
	must.OK(t, os.Remove(filepath.Join(dir, rundir.DistanceName(4))))
	csv.Seeds, npy.Seeds = 4, 4
	should.Be(t, must.Err(Write(t.Context(), dir, io.Discard, csv)), corrupt.ErrCorrupt, "listed distances are missing")
	written(t, dir, npy)
}
