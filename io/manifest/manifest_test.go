package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/writetest"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/crc32c"
)

const goldenPath = "testdata/manifest.json"

// example is a manifest of three layers, sizes and scores made up.
func example() *Manifest {
	m := &Manifest{Identity: Identity{Game: "awari", Rules: "awari", Pits: 12}}
	for i, scores := range [][]int8{{0}, {1, 1, 0, -1}, {-2, 2, 2, 0, 127, -128}} {
		var h tally.Histogram
		h.Add(scores)
		win, draw, loss := h.WinDrawLoss()
		m.Layers = append(m.Layers, Layer{
			Seeds: i, Positions: uint64(len(scores)), Win: win, Draw: draw, Loss: loss,
			Histogram: h, Hash: tally.NewHash(cpu.Generic).Add(scores).Sum(),
			File: fmt.Sprintf("layer-%02d.gl", i), Bytes: int64(200 + i), Codec: layerfile.Codec(1 + i%2),
			Checksum: Checksum(0x1234 << i), Seconds: 0.125 * float64(i),
		})
	}
	return m
}

func encode(t testing.TB, m *Manifest) []byte { t.Helper(); return must.Get(m.Encode())(t) }

// TestGolden also compares the example in docs/format/manifest.md.
func TestGolden(t *testing.T) {
	m := example()
	golden.Check(t, goldenPath, encode(t, m))
	must.Same(t, "another result", m, must.Get(Load(goldenPath))(t))
	m.Layers = m.Layers[:2]
	should.Has(t, string(must.Read(t, "../../docs/format/manifest.md")), "```json\n"+string(encode(t, m))+"```\n")
}

func TestSaveAndLoad(t *testing.T) {
	dir := must.Get(vfs.OpenDir(t.TempDir()))(t)
	defer dir.Close()
	const name = "manifest.json"
	path := dir.Path(name)
	_, err := Load(path)
	should.Not(t, !errors.Is(err, fs.ErrNotExist) || errors.Is(err, corrupt.ErrCorrupt), "no file: %v", err)
	for n := range 4 {
		want := example()
		want.Layers = want.Layers[:n]
		must.OK(t, want.Save(dir, name))
		must.Same(t, "another result", want, must.Get(Load(path))(t))
	}
	bad := example()
	bad.Layers[1].Win++
	should.Be(t, bad.Save(dir, name), ErrInvalid, "saved")
	should.Equal(t, len(must.Get(Load(path))(t).Layers), 3, "layers in the old file")
	should.Equal(t, len(must.Get(dir.Entries())(t)), 1, "left behind")
}

// TestEveryByte flips a bit of each byte; jsonfile tests all of them.
func TestEveryByte(t *testing.T) {
	data := encode(t, example())
	for i := range data {
		data[i] ^= 1 << (i % 8)
		mustBeCorrupt(t, data, "byte %d changed to %q", i, data[i])
		data[i] ^= 1 << (i % 8)
		mustBeCorrupt(t, data[:i], "cut to %d bytes", i)
	}
	mustBeCorrupt(t, append(data, '\n'), "a line appended")
	mustBeCorrupt(t, bytes.ReplaceAll(data, []byte("  "), nil), "not indented")
}

func mustBeCorrupt(t *testing.T, data []byte, what string, args ...any) {
	t.Helper()
	err := must.Err(Parse("dir/manifest.json", data))
	must.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.HasPrefix(err.Error(), "dir/manifest.json: "), what+": %v", append(args, err)...)
}

// reseal makes the checksum fit changed contents.
func reseal(data []byte) []byte {
	i := bytes.LastIndex(data, []byte("  \"crc32c\""))
	if i < 0 {
		return data
	}
	return fmt.Appendf(data[:i:i], "  \"crc32c\": \"%08x\"\n}\n", crc32c.Of(data[:i]))
}

// TestVersions pins versions 2 and 3, which differ from version 1 in the entries that name a directory, or list distances.
func TestVersions(t *testing.T) {
	const distances = `      "seconds": 0.125,
      "distances": {
        "fnv1a64": "00000000000000ff",
        "bytes": 77,
        "checksum": "0000abcd"
      }
    },
`
	listed := Distances{Hash: 0xff, Bytes: 77, Checksum: 0xabcd}
	for _, c := range []struct {
		one, two  string // directories
		distances Distances
		lines     []string
	}{
		{`/disk/b & "c"`, `D:\awari`, Distances{}, []string{"  \"version\": 2,\n", "\"directory\": \"D:\\\\awari\"",
			"    \"file\": \"layer-01.gl\",\n      \"directory\": \"/disk/b \\u0026 \\\"c\\\"\",\n      \"bytes\": 201,\n"}},
		{"", "", listed, []string{"  \"version\": 3,\n", distances}}, {"", "/disk", listed, []string{"  \"version\": 3,\n", distances}},
	} {
		m := example()
		m.Layers[1].Directory, m.Layers[2].Directory, m.Layers[1].Distances = c.one, c.two, c.distances
		data := encode(t, m)
		should.Has(t, string(data), c.lines...)
		must.Same(t, "read again", m, must.Get(Parse("manifest.json", data))(t))
		m.Layers[1].Directory, m.Layers[2].Directory, m.Layers[1].Distances = "", "", Distances{}
		should.Equal(t, string(encode(t, m)), string(encode(t, example())), "without them it is not version 1")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, old, new string
		want           error
		text           string
	}{
		{"foreign", "{\n", "[\n", corrupt.ErrForeign, "does not begin like a file of grenier-manifest"},
		{"other format", "grenier-manifest", "grocer-manifest", corrupt.ErrForeign, "does not begin like a file of grenier-manifest"},
		{"newer", `"version": 1`, `"version": 5`, corrupt.ErrVersion, "version 5"},
		{"later than needed", `"version": 1`, `"version": 2`, corrupt.ErrCorrupt, "not in the form"},
		{"directory in version 1", `"bytes": 201`, `"directory": "/disk",
      "bytes": 201`, corrupt.ErrCorrupt, "not in the form"},
		{"distances of no bytes", `"seconds": 0.125`, `"seconds": 0.125, "distances": {"fnv1a64": "0000000000000001"}`, ErrInvalid, "distances of 0 bytes"},
		{"distances in version 1", `"seconds": 0.125`, `"seconds": 0.125, "distances": {"bytes": 1}`, corrupt.ErrCorrupt, "not in the form"},
		{"directory", `"bytes": 201`, `"directory": "/disk\u0000",
      "bytes": 201`, ErrInvalid, "control characters"},
		{"unknown field", `"pits": 12,`, `"pits": 12, "colour": 1,`, corrupt.ErrCorrupt, `unknown field "colour"`},
		{"unknown field in a layer", `"seeds": 1,`, `"seeds": 1, "colour": 1,`, corrupt.ErrCorrupt, `unknown field "colour"`},
		{"spelt otherwise", `"seeds": 1,`, `"SEEDS": 1,`, corrupt.ErrCorrupt, "not in the form"},
		{"twice", `"seeds": 1,`, `"seeds": 1, "seeds": 1,`, corrupt.ErrCorrupt, "not in the form"},
		{"no seeds", `"seeds": 1,`, ``, ErrInvalid, "layer 1: the entry is for 0 seeds"},
		{"gap", `"seeds": 1,`, `"seeds": 3,`, ErrInvalid, "layer 1: the entry is for 3 seeds"},
		{"wins", `"win": 2,`, `"win": 3,`, ErrInvalid, "layer 1: 3 wins"},
		{"positions", `"positions": 4,`, `"positions": 5,`, ErrInvalid, "layer 1: 5 positions"},
		{"histogram", `"-1": 1,`, `"-1": 2,`, ErrInvalid, "layer 1: 2 wins, 1 draws, 1 losses, but 2, 1, 2"},
		{"overflow", `"-1": 1,`, `"-1": 18446744073709551615,`, ErrInvalid, "layer 1"},
		{"no number", `"-1": 1,`, `"-1": 1.5,`, corrupt.ErrCorrupt, "histogram"},
		{"no score", `"-1": 1,`, `"-129": 1,`, tally.ErrHistogram, "-129"},
		{"codec", `"lz4"`, `"lzma"`, layerfile.ErrCodec, "lzma"},
		{"hash", `"fnv1a64": "`, `"fnv1a64": "x`, corrupt.ErrCorrupt, "hash"},
		{"checksum", `"checksum": "`, `"checksum": "0`, corrupt.ErrCorrupt, "checksum"},
		{"path", `"layer-01.gl"`, `"../layer-01.gl"`, ErrInvalid, "file name"},
		{"same file", `"layer-01.gl"`, `"layer-00.gl"`, ErrInvalid, "two entries"},
		{"bytes", `"bytes": 201`, `"bytes": 0`, ErrInvalid, "0 bytes"},
		{"seconds", `"seconds": 0.125`, `"seconds": -1`, ErrInvalid, "-1 seconds"},
		{"game", `"game": "awari"`, `"game": "Awari"`, ErrInvalid, "Awari"},
	} {
		data := encode(t, example())
		changed := bytes.Replace(data, []byte(tt.old), []byte(tt.new), 1)
		must.Not(t, bytes.Equal(changed, data), "%s: nothing replaced", tt.name)
		err := must.Err(Parse("manifest.json", reseal(changed)))
		should.Hold(t, errors.Is(err, tt.want) && errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), tt.text),
			"%s: %v, want %v and %q", tt.name, err, tt.want, tt.text)
	}
	for name, change := range map[string]func(m *Manifest){ // what no text says
		"many layers":    func(m *Manifest) { m.Layers = make([]Layer, MaxLayers+1) },
		"many positions": func(m *Manifest) { m.Layers[0].Positions = math.MaxUint64 },
		"no number":      func(m *Manifest) { m.Layers[0].Seconds = math.NaN() },
		"for ever":       func(m *Manifest) { m.Layers[0].Seconds = math.Inf(1) },
		"no name":        func(m *Manifest) { m.Layers[0].File = ".gl" },
		"pits":           func(m *Manifest) { m.Pits = -1 },
		"no codec":       func(m *Manifest) { m.Layers[0].Codec = 0 },
	} {
		m := example()
		change(m)
		should.Be(t, must.Err(m.Encode()), ErrInvalid, "%s", name)
	}
}

// TestLongLargest fills a manifest with as much as it may hold, but for most scores if there is little time.
func TestLongLargest(t *testing.T) {
	m := &Manifest{Identity: Identity{Game: "awari", Rules: "strict", Pits: 12}, Layers: make([]Layer, MaxLayers)}
	scores := tries.More(2, 256)
	for i := range m.Layers {
		l := &m.Layers[i]
		l.Seeds, l.Bytes, l.Codec, l.Seconds = i, math.MaxInt64, layerfile.Zstd, 1.2345678901234567e-100
		l.File = fmt.Sprintf("%064d.gl", i)
		for s := range scores {
			l.Histogram[s] = layerfile.MaxPositions / uint64(scores)
		}
		l.Win, l.Draw, l.Loss = l.Histogram.WinDrawLoss()
		l.Positions, l.Distances = layerfile.MaxPositions, Distances{Hash: math.MaxUint64, Bytes: math.MaxInt64}
	}
	m.Layers[1].Seconds = math.MaxInt64
	data := encode(t, m)
	should.Not(t, len(data) > MaxBytes, "%d bytes", len(data))
	should.OK(t, must.Err(Parse("manifest.json", data)))
	mustBeCorrupt(t, append(data, make([]byte, MaxBytes)...), "too long")
	m.Layers = append(m.Layers, m.Layers[0])
	m.Layers[MaxLayers].Seeds = MaxLayers
	should.Says(t, m.Validate(), ErrInvalid, fmt.Sprintf("%d layers: expected at most %d", MaxLayers+1, MaxLayers))
}

func layer(t *testing.T, path string, h layerfile.Header, scores []int8) (layerfile.Summary, *layerfile.File) {
	t.Helper()
	h.Transform, h.BlockSize, h.Positions = layerfile.Ranks, 64, uint64(len(scores))
	s := writetest.File(t, path, h, scores)
	f := must.Get(layerfile.Open(path))(t)
	t.Cleanup(func() { f.Close() })
	return s, f
}

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	h := layerfile.Header{Game: "awari", Rules: "awari", Pits: 12, Codec: layerfile.LZ4}
	s, f := layer(t, filepath.Join(dir, "a.gl"), h, []int8{0})
	m := &Manifest{Identity: Identity{"awari", "awari", 12}, Layers: []Layer{NewLayer("layer-00.gl", s, 1.5)}}
	must.OK(t, m.Validate())
	must.OK(t, m.CheckFile(0, f))
	_, other := layer(t, filepath.Join(dir, "b.gl"), h, []int8{1})
	h.Rules = "strict"
	_, strict := layer(t, filepath.Join(dir, "c.gl"), h, []int8{0})
	for _, f := range []*layerfile.File{other, strict} {
		should.Be(t, must.As[*corrupt.Error](t, m.CheckFile(0, f)), corrupt.ErrMismatch, "%s", f.Path())
	}
	for what, change := range map[string]func(l *Layer){
		"wins": func(l *Layer) { l.Win++ }, "draws": func(l *Layer) { l.Draw++ }, "losses": func(l *Layer) { l.Loss++ }, "positions": func(l *Layer) { l.Positions++ },
		"bytes": func(l *Layer) { l.Bytes++ }, "the hash": func(l *Layer) { l.Hash++ }, "the checksum": func(l *Layer) { l.Checksum++ },
	} {
		wrong := m.With(m.Layers[0])
		change(&wrong.Layers[0])
		e := must.As[*corrupt.Error](t, wrong.CheckFile(0, f), "other %s", what)
		should.Not(t, !errors.Is(e, corrupt.ErrMismatch) || e.Part != "footer" && e.Part != "header", "other %s: %v", what, e)
	}
}

// TestCheckBelow: a layer that was made from others than those below it names them.
func TestCheckBelow(t *testing.T) {
	h := layerfile.Header{Game: "awari", Rules: "awari", Pits: 12, Seeds: 4, Codec: layerfile.LZ4}
	for n := range 3 {
		h.Below = h.Below.With(n, tally.Hash(10+n))
	}
	_, f := layer(t, filepath.Join(t.TempDir(), "a.gl"), h, []int8{0})
	m := &Manifest{Layers: []Layer{{Hash: 10}, {Hash: 11}, {Hash: 12}}}
	must.OK(t, m.CheckBelow(f))
	must.OK(t, (&Manifest{Layers: m.Layers[:1]}).CheckBelow(f)) // nothing is known of others
	for from, want := range []string{"another layer 0", "other layers 0, 1", "other layers 0, 1, 2"} {
		m.Layers[from].Hash++
		err := m.CheckBelow(f)
		should.Equal(t, must.As[*StaleError](t, err).Seeds, 4)
		should.Hold(t, errors.Is(err, corrupt.ErrMismatch) && strings.HasSuffix(err.Error(), "layer 4 was made from "+want), "%v, want %q", err, want)
	}
}

// FuzzParse checks that what is accepted has no other encoding.
func FuzzParse(f *testing.F) {
	f.Add(encode(f, example()))
	f.Add(encode(f, &Manifest{Identity: Identity{"swap", "rows", 0}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		for range 2 {
			m, err := Parse("f", data)
			must.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
			must.Not(t, err == nil && !bytes.Equal(encode(t, m), data), "two encodings")
			data = reseal(data)
		}
	})
}

// TestLeftOut: a layer that is left out has an entry without a file, which a version of its own has, and takes its place when it is solved.
func TestLeftOut(t *testing.T) {
	whole := example()
	m := (&Manifest{Identity: whole.Identity}).With(whole.Layers[0]).With(whole.Layers[2])
	data := encode(t, m)
	must.Same(t, "another manifest", m, must.Get(Parse("m", data))(t))
	should.Not(t, !bytes.Contains(data, []byte(`"version": 4`)) || m.Has(1) || !m.Has(2) || m.Has(3), "%s", data)
	must.Same(t, "missing", []int{1, 3}, m.Missing(3))
	must.Same(t, "sealed", []int{0, 2}, m.Sealed())
	must.Same(t, "filled", whole, m.With(whole.Layers[1]))
	should.Equal(t, len(m.Summary().Layers), 2, "layers in the summary")
	for name, change := range map[string]func(m *Manifest){
		"the last layer":      func(m *Manifest) { m.Layers = m.Layers[:2] },
		"one with positions":  func(m *Manifest) { m.Layers[1].Positions = 12 },
		"one with a checksum": func(m *Manifest) { m.Layers[1].Checksum = 1 },
	} {
		bad := m.With(whole.Layers[2])
		change(bad)
		should.Be(t, bad.Validate(), ErrInvalid, "%s is left out", name)
	}
}
