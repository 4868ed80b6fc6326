package sample_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/pythontest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/exchange/sample"
	"grenier/pipeline/job"
)

// readCard reads the card of the file at path, and compares it with the files and the run.
func readCard(t *testing.T, dir, path string, o sample.Options) sample.Card {
	t.Helper()
	var c sample.Card
	must.OK(t, json.Unmarshal(must.Read(t, path+sample.CardSuffix), &c))
	m := must.Get(manifest.Load(filepath.Join(dir, rundir.ManifestName)))(t)
	for i, l := range c.Layers {
		want := m.Layers[o.From+i]
		should.Hold(t, l.Seeds == want.Seeds && l.Positions == want.Positions && l.Hash == want.Hash && l.Checksum == want.Checksum,
			"the card has the layer %+v, want %+v", l, want)
	}
	should.Hold(t, len(c.Layers) == o.To-o.From+1 && c.Identity == m.Identity && c.Seed == o.Seed && c.Positions == o.Count && c.Encoded == o.Format &&
		c.By == map[bool]string{true: "score", false: "position"}[o.ByScore] && (c.Split == nil) == (len(o.Split) == 0),
		"the card says %+v about %+v", c, o)
	for _, f := range c.Files {
		data := must.Read(t, filepath.Join(filepath.Dir(path), f.File))
		if sum := sha256.Sum256(data); uint64(len(data)) != f.Bytes || hex.EncodeToString(sum[:]) != f.SHA256 {
			t.Errorf("%s has %d bytes, the card says %+v", f.File, len(data), f)
		}
	}
	return c
}

// TestSplit: files have all positions of the sample in its order, each in the part and the shard where it belongs.
func TestSplit(t *testing.T) {
	game, _, dir := testrun.Run(t, 6, awari.Awari, 7, 100)
	parts := map[string]string{} // of boards, for all samples
	for _, o := range []sample.Options{
		{From: 3, To: 7, Count: 1200, Seed: 3, Format: sample.Npy, Split: must.Get(sample.ParseSplit("train=80,test=20"))(t), Shards: 3},
		{From: 5, To: 7, Count: 1000, Seed: 4, Format: sample.CSV, Split: must.Get(sample.ParseSplit("train=80,test=20"))(t), ByScore: true},
		{From: 7, To: 7, Count: 700, Seed: 5, Format: sample.JSONL, Split: must.Get(sample.ParseSplit("train=80,test=20"))(t), Shards: 2, Licence: "CC0-1.0"},
		{From: 3, To: 7, Count: 1200, Seed: 3, Format: sample.Npy, Shards: 7},
		{From: 3, To: 7, Count: 1200, Seed: 3, Format: sample.JSONL},
	} {
		path := filepath.Join(t.TempDir(), "some.sample")
		s := must.Get(sample.WriteFile(t.Context(), dir, path, o))(t)
		c := readCard(t, dir, path, o)
		if diff := cmp.Diff(c.Files, s.Files); diff != "" || s.Card != "some.sample.card.json" || c.Licence != map[bool]string{true: "MIT", false: o.Licence}[o.Licence == ""] {
			t.Errorf("%s: %+v", diff, s)
		}
		data, _ := write(t, dir, o)
		rows := map[string][]row{} // by part
		for _, f := range c.Files {
			got := read(t, o.Format, game, must.Read(t, filepath.Join(filepath.Dir(path), f.File)))
			should.Hold(t, uint64(len(got)) == f.Positions, "%s has %d positions, want %d", f.File, len(got), f.Positions)
			rows[f.Split] = append(rows[f.Split], got...)
		}
		for i, r := range read(t, o.Format, game, data) {
			part := slices.IndexFunc(c.Files, func(f sample.File) bool {
				next := rows[f.Split]
				return len(next) > 0 && cmp.Equal(next[0], r)
			})
			must.Not(t, part < 0, "position %d of the sample is in no file where it belongs", i)
			name := c.Files[part].Split
			rows[name] = rows[name][1:]
			if key := fmt.Sprint(r.Pits); len(o.Split) > 0 && parts[key] != "" && parts[key] != name {
				t.Fatalf("%s is in %s and in %s", key, parts[key], name)
			} else if len(o.Split) > 0 {
				parts[key] = name
			}
		}
	}
	in := map[string]int{}
	for _, part := range parts {
		in[part]++
	}
	share := float64(in["test"]) / float64(len(parts))
	should.Not(t, share < 0.15 || share > 0.25, "%v: %.1f%% of the boards are in the part with 20%%", in, 100*share)
}

// TestNames: files are named by part and shard, and an old card gives way.
func TestNames(t *testing.T) {
	dir := testrun.Dir(t, 4, awari.Awari, 6, 100)
	out := t.TempDir()
	must.Write(t, filepath.Join(out, "a.csv.card.json"), []byte("old"))
	o := sample.Options{From: 0, To: 6, Count: 200, Format: sample.CSV, Split: must.Get(sample.ParseSplit("a=50,b=50"))(t), Shards: 2}
	must.OK(t, must.Err(sample.WriteFile(t.Context(), dir, filepath.Join(out, "a.csv"), o)))
	entries := must.Get(os.ReadDir(out))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	should.Equal(t, strings.Join(names, " "), "a-a-00000-of-00002.csv a-a-00001-of-00002.csv a-b-00000-of-00002.csv a-b-00001-of-00002.csv a.csv.card.json")
	readCard(t, dir, filepath.Join(out, "a.csv"), o)
}

// TestColumns: the columns of a card are those of the file.
func TestColumns(t *testing.T) {
	dir := testrun.Dir(t, 6, awari.Awari, 5, 100)
	for _, f := range []sample.Format{sample.CSV, sample.JSONL, sample.Npy} {
		path := filepath.Join(t.TempDir(), "x")
		o := sample.Options{From: 5, To: 5, Count: 10, Format: f}
		must.OK(t, must.Err(sample.WriteFile(t.Context(), dir, path, o)))
		c, data := readCard(t, dir, path, o), must.Read(t, path)
		var names []string
		size := 0
		for _, column := range c.Columns {
			names = append(names, column.Name)
			size += column.Length
		}
		switch f {
		case sample.CSV:
			want, _, _ := strings.Cut(string(data), "\n")
			should.Hold(t, strings.Join(names, ",") == want, "the columns %s, want %s", names, want)
		case sample.JSONL:
			keys := regexp.MustCompile(`"(\w+)":`).FindAllSubmatch(bytes.SplitN(data, []byte("\n"), 2)[0], -1)
			for i, key := range keys {
				should.Hold(t, len(keys) == len(names) && string(key[1]) == names[i], "the columns %s, want %s", names, keys)
			}
		default:
			if want := 6 + 1 + 3 + 3; size != want || !bytes.Contains(data, []byte("'"+names[0]+"', '|"+c.Columns[0].Type)) {
				t.Errorf("columns of %d bytes, want %d: %+v", size, want, c.Columns)
			}
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	for _, text := range []string{"", "train", "train=100,", "train=50,test=49", "train=50,test=51", "train=0,test=100", "a=50,a=50", "A=100", "a/b=100", "a=+100", "a=1e2", "=100", "a=101"} {
		parts, err := sample.ParseSplit(text)
		should.Hold(t, errors.Is(err, sample.ErrSample), "%q: %v, error %v", text, parts, err)
	}
	dir := testrun.Dir(t, 4, awari.Awari, 4, 100)
	for name, o := range map[string]sample.Options{
		"more shards than positions": {From: 4, To: 4, Count: 3, Shards: 4},
		"an empty part":              {From: 4, To: 4, Count: 1, Split: must.Get(sample.ParseSplit("a=50,b=50"))(t)},
		"too many shards":            {From: 4, To: 4, Count: 3, Shards: sample.MaxShards + 1},
	} {
		out := t.TempDir()
		o.Format = sample.CSV
		should.Be(t, must.Err(sample.WriteFile(t.Context(), dir, filepath.Join(out, "x.csv"), o)), sample.ErrSample, "%s", name)
		entries, err := os.ReadDir(out)
		should.Hold(t, err == nil && len(entries) == 0, "%s: %v, %v were written", name, err, entries)
	}
}

// TestDocumented runs the Python of docs/sample.md.
func TestDocumented(t *testing.T) {
	python := pythontest.With(t, "numpy")
	dir := testrun.Dir(t, 12, awari.Awari, 5, 4096)
	out := t.TempDir()
	o := sample.Options{From: 3, To: 5, Count: 5000, Format: sample.Npy, Split: must.Get(sample.ParseSplit("train=90,validation=5,test=5"))(t), Shards: 2}
	s := must.Get(sample.WriteFile(t.Context(), dir, filepath.Join(out, "all.npy"), o))(t)
	program := ""
	for _, block := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(must.Read(t, "../../../docs/sample.md"), -1) {
		program += string(block[1])
	}
	want := map[string]uint64{}
	for _, f := range s.Files {
		want[f.Split] += f.Positions
	}
	program += `
for split, low, high in (("train", 0, 90), ("validation", 90, 95), ("test", 95, 100)):
    data = Positions("all.npy", split)
    rows = numpy.concatenate(data.shards)
    number = bucket(rows["pits"])
    assert low <= number.min() and number.max() < high
    assert len(data) == len(rows)
    for i in (0, 1, len(data) // 2, len(data) - 1):
        pits, value, moves, best = data[i]
        assert (pits == rows["pits"][i]).all() and value == rows["value"][i] and (moves == rows["moves"][i]).all() and (best == rows["best"][i]).all()
        assert any(numpy.shares_memory(pits, shard) for shard in data.shards) and pits.flags.writeable
    print(split, len(data))
`
	cmd := exec.Command(python, "-B", "-c", program)
	cmd.Dir = out
	text, err := cmd.CombinedOutput()
	got := fmt.Sprintf("train %d\nvalidation %d\ntest %d\n", want["train"], want["validation"], want["test"])
	should.Hold(t, err == nil && string(text) == got, "%v: %s, want %s", err, text, got)
}

// TestParts: parts, one behind the other, are the file of one run; the card of each is about the sample and lists its own file.
func TestParts(t *testing.T) {
	dir := testrun.Dir(t, 6, awari.Awari, 7, 100)
	for _, o := range []sample.Options{
		{From: 3, To: 7, Count: 1200, Seed: 3, Format: sample.Npy},
		{From: 3, To: 7, Count: 900, Seed: 3, Format: sample.CSV, ByScore: true},
		{From: 3, To: 7, Count: 5, Seed: 3, Format: sample.JSONL},
	} {
		want, _ := write(t, dir, o)
		var files, streams []byte
		for i := range 7 {
			o.Part = job.Part{Index: i + 1, Of: 7}
			path := filepath.Join(t.TempDir(), "some.part")
			s := must.Get(sample.WriteFile(t.Context(), dir, path, o))(t)
			c, share := readCard(t, dir, path, o), o.Count*uint64(i+1)/7-o.Count*uint64(i)/7
			should.Hold(t, len(c.Files) == 1 && c.Files[0].Positions == share && s.Positions == share,
				"part %d of %d positions: %+v, %+v", i+1, share, c.Files, s)
			files = append(files, must.Read(t, path)...)
			var text bytes.Buffer
			must.OK(t, must.Err(sample.Write(t.Context(), dir, &text, o)))
			streams = append(streams, text.Bytes()...)
		}
		should.Hold(t, bytes.Equal(files, want) && bytes.Equal(streams, want),
			"%s: %d bytes in files, %d in streams, want %d", o.Format, len(files), len(streams), len(want))
		o.Shards = 2
		should.Be(t, must.Err(sample.WriteFile(t.Context(), dir, filepath.Join(t.TempDir(), "x"), o)), sample.ErrSample,
			"a part of several files")
	}
}
