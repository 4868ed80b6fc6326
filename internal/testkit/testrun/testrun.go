// Package testrun makes run directories for tests: small awari layers with true
// scores, computed by the oracle (package retro) and not by the engine that the
// tests are about, or with whatever scores a test wants to see found out. It has tables of these scores too.
package testrun

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/writetest"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/ranks"
	"grenier/layers/awari"
)

// Game returns a game.
func Game(t testing.TB, pits int, rules awari.Rules) awari.Game {
	t.Helper()
	return awaritest.Game(t, pits, rules)
}

// Space returns the boards of a game with at most seeds seeds.
func Space(t testing.TB, game awari.Game, seeds int) *awari.Space {
	t.Helper()
	return must.Get(awari.NewSpace(game, seeds))(t)
}

// Solve returns the true scores of the layers 0 to seeds, by layer and rank, which are the
// caller's. A process solves a layer once.
func Solve(t testing.TB, game awari.Game, seeds int) [][]int8 {
	t.Helper()
	layers := slices.Clone(awaritest.Oracle(t, game, seeds)[:seeds+1])
	for n, scores := range layers {
		layers[n] = slices.Clone(scores)
	}
	return layers
}

// Boards yields all boards with from..to seeds, each with its rank.
func Boards(space *awari.Space, from, to int) iter.Seq2[uint64, awari.Board] {
	return func(yield func(uint64, awari.Board) bool) {
		for n := from; n <= to; n++ {
			for rank := range space.Size(n) {
				if !yield(rank, space.Unrank(n, rank)) {
					return
				}
			}
		}
	}
}

// BoardOf returns the board of these pits.
func BoardOf(pits []int) (b awari.Board) {
	for i, seeds := range pits {
		b[i] = uint8(seeds)
	}
	return b
}

// Table is the scores of all boards of a space, by layer and rank, where others have tables.
type Table struct {
	*awari.Space
	Scores [][]int8
}

// NewTable returns the table of the true scores of the layers 0 to seeds.
func NewTable(t testing.TB, game awari.Game, seeds int) Table {
	t.Helper()
	return Table{Space(t, game, seeds), Solve(t, game, seeds)}
}

// Game returns the game.
func (t Table) Game() awari.Game { return t.Space.Game }

// MaxSeeds returns the number of seeds of the highest layer.
func (t Table) MaxSeeds() int { return len(t.Scores) - 1 }

// Worth returns the score of a board.
func (t Table) Worth(b awari.Board) int {
	n, rank := t.Rank(b)
	return int(t.Scores[n][rank])
}

// Score is Worth as tables have it.
func (t Table) Score(_ context.Context, b awari.Board) (int8, error) { return int8(t.Worth(b)), nil }

// Other returns another score that is possible too.
func Other(score int8) int8 {
	if score == 0 {
		return 1
	}
	return -score
}

// Fixture is a directory that is made once for all tests of a process.
type Fixture struct {
	once  sync.Once
	files fs.FS // nil if it could not be made
}

// Copy returns a new directory with the files that make puts into one, the first time that it is
// called.
func (f *Fixture) Copy(t testing.TB, make func(dir string)) string {
	t.Helper()
	f.once.Do(func() {
		from, kept := t.TempDir(), fstest.MapFS{}
		make(from)
		must.OK(t, fs.WalkDir(os.DirFS(from), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && path == "." {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			file := &fstest.MapFile{Mode: info.Mode(), ModTime: info.ModTime()}
			if !d.IsDir() {
				file.Data, err = os.ReadFile(filepath.Join(from, path))
			}
			kept[path] = file
			return err
		}))
		f.files = kept
	})
	must.Not(t, f.files == nil, "an earlier test could not make the directory")
	dir := filepath.Join(t.TempDir(), "run")
	must.OK(t, os.CopyFS(dir, f.files))
	return dir
}

// Copy returns a new directory with the files of another one.
func Copy(t testing.TB, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	must.OK(t, os.CopyFS(dir, os.DirFS(from)))
	return dir
}

// Write makes a run directory with the given scores, in blocks of blockSize
// scores, and returns its path. All checksums fit the scores, true or not.
func Write(t testing.TB, game awari.Game, layers [][]int8, blockSize int) string {
	t.Helper()
	path := t.TempDir()
	WriteTo(t, path, game, layers, blockSize)
	return path
}

// Run makes a run directory with the true scores of the layers 0 to seeds.
func Run(t testing.TB, pits int, rules awari.Rules, seeds, blockSize int) (game awari.Game, layers [][]int8, path string) {
	t.Helper()
	game = Game(t, pits, rules)
	layers = Solve(t, game, seeds)
	return game, layers, Write(t, game, layers, blockSize)
}

// Dir makes such a directory for tests that look at nothing else.
func Dir(t testing.TB, pits int, rules awari.Rules, seeds, blockSize int) string {
	t.Helper()
	_, _, path := Run(t, pits, rules, seeds, blockSize)
	return path
}

// WriteTo is Write into a directory that is empty.
func WriteTo(t testing.TB, path string, game awari.Game, layers [][]int8, blockSize int) {
	t.Helper()
	id := manifest.Identity{Game: "awari", Rules: game.Rules().String(), Pits: game.Pits()}
	dir := must.Get(rundir.Lock(path, id))(t)
	m := &manifest.Manifest{Identity: id}
	for n, scores := range layers {
		h := layerfile.Header{
			Game: id.Game, Rules: id.Rules, Pits: id.Pits, Seeds: n,
			Codec: layerfile.LZ4, Transform: layerfile.Ranks, Model: modelOf(scores),
			BlockSize: blockSize, Positions: uint64(len(scores)),
		}
		p := must.Get(dir.NewLayer(n))(t)
		summary := writetest.Layer(t, p, h, scores)
		m.Layers = append(m.Layers, manifest.NewLayer(rundir.LayerName(n), summary, 0))
	}
	must.OK(t, dir.SaveManifest(m))
	must.OK(t, dir.Unlock())
}

// modelOf returns the model of the scores, none if they are too many for one.
func modelOf(scores []int8) ranks.Model {
	counts, err := ranks.NewCounts(slices.Min(scores), slices.Max(scores))
	if err != nil {
		return ""
	}
	counts.Add(scores)
	return counts.Model()
}

// Flip changes a bit of a byte of a file, counted from the end if at is negative.
func Flip(t testing.TB, path string, at int) {
	t.Helper()
	data := must.Read(t, path)
	data[(at+len(data))%len(data)] ^= 1
	must.Write(t, path, data)
}

// Manifest returns the manifest of the run directory at path.
func Manifest(t testing.TB, path string) *manifest.Manifest {
	t.Helper()
	return must.Get(manifest.Load(filepath.Join(path, rundir.ManifestName)))(t)
}

// EditManifest changes the manifest of the run directory at path.
func EditManifest(t testing.TB, path string, change func(m *manifest.Manifest)) {
	t.Helper()
	m := Manifest(t, path)
	change(m)
	SaveManifest(t, path, m)
}

// TakeLayer replaces layer n of the run directory at path by layer n of the run directory from. The
// manifest at path lists it from then on.
func TakeLayer(t testing.TB, path, from string, n int) {
	t.Helper()
	file := filepath.Join(path, rundir.LayerName(n))
	data := must.Read(t, filepath.Join(from, rundir.LayerName(n)))
	must.OK(t, os.Remove(file)) // somebody may have it mapped
	must.Write(t, file, data)
	EditManifest(t, path, func(m *manifest.Manifest) { m.Layers[n] = Manifest(t, from).Layers[n] })
}

// SaveManifest replaces the manifest of the run directory at path.
func SaveManifest(t testing.TB, path string, m *manifest.Manifest) {
	t.Helper()
	d, err := vfs.OpenDir(path)
	if err == nil {
		err = errors.Join(m.Save(d, rundir.ManifestName), d.Close())
	}
	must.OK(t, err)
}

// Closed fails if this process has files below path open, or in memory, where the system tells.
func Closed(t testing.TB, path string) {
	t.Helper()
	const own = "/proc/self/fd"
	open, _ := os.ReadDir(own)
	maps, _ := os.ReadFile("/proc/self/maps")
	all := string(maps)
	for _, fd := range open {
		file, _ := os.Readlink(filepath.Join(own, fd.Name()))
		all += file + "\n"
	}
	should.Lacks(t, all, path+string(filepath.Separator))
}
