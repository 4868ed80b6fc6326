package sample_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/pythontest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/npy"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/exchange/sample"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type row struct {
	Pits  []int  `json:"pits"`
	Value int    `json:"value"`
	Moves []*int `json:"moves"`
	Best  []int  `json:"best"`
	Plies *int   `json:"plies"` // nil if they are not known, or not there
}

var formats = []sample.Format{sample.CSV, sample.JSONL, sample.Npy}

// truth holds the right rows of a sample, by board.
type truth map[string]row

func newTruth(t testing.TB, game awari.Game, layers [][]int8, from, to int) truth {
	table, all := testrun.Table{Space: testrun.Space(t, game, to), Scores: layers}, truth{}
	for _, b := range testrun.Boards(table.Space, from, to) {
		r := row{Pits: game.Numbers(b), Value: table.Worth(b), Best: []int{}}
		plays := game.Plays(b)
		for pit, play := range plays[:game.Half()] {
			if !play.Legal {
				r.Moves = append(r.Moves, nil)
				continue
			}
			v := play.Captured - table.Worth(play.Child)
			r.Moves = append(r.Moves, &v)
			if v == r.Value {
				r.Best = append(r.Best, pit)
			}
		}
		all[fmt.Sprint(r.Pits)] = r
	}
	return all
}

func write(t testing.TB, dir string, o sample.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	s := must.Get(sample.Write(t.Context(), dir, &out, o))(t)
	should.Hold(t, s.Bytes == uint64(out.Len()) && s.Positions == o.Count, "%+v of %d bytes", s, out.Len())
	return out.Bytes()
}

func read(t testing.TB, f sample.Format, game awari.Game, data []byte) (rows []row) {
	t.Helper()
	switch f {
	case sample.CSV:
		return readCSV(t, data)
	case sample.Npy:
		return readNpy(t, game, data)
	}
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var r row
		d.DisallowUnknownFields()
		must.OK(t, d.Decode(&r))
		rows = append(rows, r)
	}
	must.Equal(t, bytes.Count(data, []byte("\n")), len(rows), "lines")
	return rows
}

func readCSV(t testing.TB, data []byte) (rows []row) {
	records := must.Get(csv.NewReader(bytes.NewReader(data)).ReadAll())(t)
	number := func(text string) int { return must.Get(strconv.Atoi(text))(t) }
	known := func(text string) *int {
		if text == "" {
			return nil
		}
		return new(number(text))
	}
	for _, fields := range records[1:] {
		r := row{Best: []int{}}
		for i, text := range fields {
			switch records[0][i] {
			case "value":
				r.Value = number(text)
			case "best":
				for _, pit := range strings.Fields(text) {
					r.Best = append(r.Best, number(pit))
				}
			case "plies":
				r.Plies = known(text)
			case fmt.Sprint("p", len(r.Pits)):
				r.Pits = append(r.Pits, number(text))
			case fmt.Sprint("m", len(r.Moves)):
				r.Moves = append(r.Moves, known(text))
			default:
				t.Fatalf("column %d is %q", i, records[0][i])
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func readNpy(t testing.TB, game awari.Game, data []byte) (rows []row) {
	end := bytes.IndexByte(data[10:], '\n') + 11
	p, q := game.Pits(), game.Half()
	size, more := p+1+2*q, ""
	if bytes.Contains(data[:end], []byte("plies")) {
		size, more = size+2, ", ('plies', '<i2')"
	}
	head := fmt.Sprintf("{'descr': [('pits', '|i1', (%d,)), ('value', '|i1'), ('moves', '|i1', (%d,)), ('best', '|b1', (%d,))%s], "+
		"'fortran_order': False, 'shape': (%d,), }", p, q, q, more, (len(data)-end)/size)
	must.Hold(t, end%npy.Align == 0 && strings.HasPrefix(string(data[10:]), head) && (len(data)-end)%size == 0,
		"header %q and %d bytes, want %q", data[:end], len(data)-end, head)
	for rest := data[end:]; len(rest) > 0; rest = rest[size:] {
		r := row{Value: int(int8(rest[p])), Best: []int{}}
		for _, x := range rest[:p] {
			r.Pits = append(r.Pits, int(x))
		}
		for pit := range q {
			v, best := int(int8(rest[p+1+pit])), rest[p+1+q+pit]
			if r.Moves = append(r.Moves, &v); v == sample.Illegal {
				r.Moves[pit] = nil
			}
			if must.Not(t, best > 1, "a truth value that is neither 0 nor 1"); best == 1 {
				r.Best = append(r.Best, pit)
			}
		}
		if more != "" {
			if plies := int(int16(binary.LittleEndian.Uint16(rest[size-2:]))); plies != -1 {
				r.Plies = &plies
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// TestPlies draws from layers some of which have distances: the rows are the same, and each ends with what the tables know.
func TestPlies(t *testing.T) {
	game, _, dir := testrun.Run(t, 6, awari.Awari, 7, 100)
	o := sample.Options{From: 5, To: 7, Count: 900, Seed: 3, Job: job.Job{Workers: 2, Family: cpu.Best()}}
	want := map[sample.Format][]row{}
	for _, o.Format = range formats {
		want[o.Format] = read(t, o.Format, game, write(t, dir, o))
	}
	must.OK(t, must.Err(distance.Run(t.Context(), dir, distance.Options{Layers: []int{3, 5, 7}, Job: o.Job})))
	tb := tabletest.Open(t, dir)
	for _, o.Format = range formats {
		data, known := write(t, dir, o), 0
		for i, r := range read(t, o.Format, game, data) {
			plies, ok, err := tb.Distance(t.Context(), testrun.BoardOf(r.Pits))
			must.OK(t, err)
			if want[o.Format][i].Plies = nil; ok {
				want[o.Format][i].Plies = &plies
				known++
			}
			must.Same(t, fmt.Sprintf("%s, row %d", o.Format, i), want[o.Format][i], r)
		}
		head := map[sample.Format]string{sample.CSV: "m2,best,plies\n", sample.JSONL: `,"plies":null}`, sample.Npy: ", ('plies', '<i2')]"}[o.Format]
		should.Not(t, !strings.Contains(string(data), head) || known == 0 || known == 900, "%s: %d rows have plies, %.300q", o.Format, known, data)
	}
	must.OK(t, os.Remove(filepath.Join(dir, rundir.DistanceName(7))))
	should.Be(t, must.Err(sample.Write(t.Context(), dir, io.Discard, o)), corrupt.ErrCorrupt, "listed distances are missing")
}

// TestLongWhole draws all positions of small layers, in all formats, in short tests each by one rule set: each comes once, with its values by the rules.
func TestLongWhole(t *testing.T) {
	for _, rules := range awari.RuleSets() {
		game, layers, dir := testrun.Run(t, 6, rules, 7, 100)
		want := newTruth(t, game, layers, 5, 7)
		for i, f := range formats {
			for _, byScore := range []bool{false, true} {
				if !tries.Long() && i != int(rules) {
					continue
				}
				o := sample.Options{From: 5, To: 7, Count: uint64(len(want)), Seed: 3, Format: f, ByScore: byScore, Job: job.Job{Workers: 2, Family: cpu.Best()}}
				seen := map[string]bool{}
				for i, r := range read(t, f, game, write(t, dir, o)) {
					key := fmt.Sprint(r.Pits)
					must.Not(t, !reflect.DeepEqual(r, want[key]) || seen[key], "%s: row %d is %+v, want %+v; twice: %v", f, i, r, want[key], seen[key])
					seen[key] = true
				}
				should.Hold(t, len(seen) == len(want), "%s: %d of %d positions", f, len(seen), len(want))
			}
		}
	}
}

// TestSameBytes: workers and memory change nothing, a longer sample begins with the shorter one, and another seed gives another.
func TestSameBytes(t *testing.T) {
	dir := testrun.Dir(t, 12, awari.Awari, 7, 1000)
	for _, byScore := range []bool{false, true} {
		o := sample.Options{From: 3, To: 7, Count: 5000, Seed: 8, Format: sample.JSONL, ByScore: byScore, Job: job.Job{Family: cpu.Best()}}
		want := write(t, dir, o)
		for _, workers := range []int{1, 3} {
			o.Workers, o.Memory = workers, 1
			o.Memory = must.As[*memory.Error](t, must.Err(sample.Write(t.Context(), dir, io.Discard, o))).Need // batches are small
			should.Hold(t, bytes.Equal(write(t, dir, o), want), "%d workers, by score %v: other bytes", workers, byScore)
		}
		o.Count = 1234
		got := write(t, dir, o)
		should.Hold(t, bytes.HasPrefix(want, got) && bytes.Count(got, []byte("\n")) == 1234,
			"by score %v: a shorter sample is not the beginning of a longer one", byScore)
		o.Seed++
		should.Not(t, bytes.HasPrefix(want, write(t, dir, o)), "by score %v: the seed changes nothing", byScore)
	}
}

// TestByScore: each score comes as often as every other, as long as there are positions.
func TestByScore(t *testing.T) {
	game, layers, dir := testrun.Run(t, 12, awari.Awari, 6, 1000)
	there := map[int]int{}
	for _, x := range slices.Concat(layers[5:]...) {
		there[int(x)]++
	}
	data := write(t, dir, sample.Options{From: 5, To: 6, Count: 2000, Format: sample.Npy, ByScore: true})
	got := map[int]int{}
	for _, r := range read(t, sample.Npy, game, data) {
		got[r.Value]++
	}
	most := slices.Max(slices.Collect(maps.Values(got)))
	for score, n := range there {
		should.Not(t, got[score] != n && got[score] < most-1, "score %d: %d of %d positions, another has %d", score, got[score], n, most)
	}
}

func TestRefused(t *testing.T) {
	dir, split := testrun.Dir(t, 4, awari.Awari, 4, 100), must.Get(sample.ParseSplit("a=50,b=50"))(t)
	for name, c := range map[string]struct {
		o    sample.Options
		want error
	}{
		"order":                      {sample.Options{From: 3, To: 2, Count: 1}, sample.ErrSample},
		"not solved":                 {sample.Options{From: 3, To: 5, Count: 1}, tables.ErrUnsolved},
		"none":                       {sample.Options{From: 3, To: 4}, sample.ErrSample},
		"too many":                   {sample.Options{From: 4, To: 4, Count: 36}, sample.ErrSample},
		"more shards than positions": {sample.Options{From: 4, To: 4, Count: 3, Shards: 4}, sample.ErrSample},
		"an empty part":              {sample.Options{From: 4, To: 4, Count: 1, Split: split}, sample.ErrSample},
		"too many shards":            {sample.Options{From: 4, To: 4, Count: 3, Shards: sample.MaxShards + 1}, sample.ErrSample},
	} {
		out := t.TempDir()
		c.o.Format = sample.CSV
		should.Be(t, must.Err(sample.WriteFile(t.Context(), dir, filepath.Join(out, "x.csv"), c.o)), c.want, "%s", name)
		if must.Empty(t, out); c.o.Shards == 0 && c.o.Split == nil {
			should.Be(t, must.Err(sample.Write(t.Context(), dir, io.Discard, c.o)), c.want, "%s", name)
		}
	}
	out := t.TempDir() // there is a file when it is complete, and none otherwise
	o := sample.Options{From: 0, To: 4, Count: 50, Format: sample.CSV}
	should.Be(t, must.Err(sample.WriteFile(must.Ended(t), dir, filepath.Join(out, "x.csv"), o)), context.Canceled)
	must.Empty(t, out)
	should.Be(t, must.Err(sample.ParseFormat("xml")), sample.ErrFormat)
	for _, text := range []string{
		"", "train", "train=100,", "train=50,test=49", "train=50,test=51", "train=0,test=100", "a=50,a=50", "A=100", "a/b=100", "a=+100", "a=1e2", "=100", "a=101",
	} {
		should.Be(t, must.Err(sample.ParseSplit(text)), sample.ErrSample, "%q", text)
	}
}

// TestDamage: neither a wrong score nor a wrong histogram gets into a sample.
func TestDamage(t *testing.T) {
	game, layers, dir := testrun.Run(t, 4, awari.Awari, 5, 100)
	layers[5][7]++
	o := sample.Options{From: 5, To: 5, Count: uint64(len(layers[5])), Format: sample.CSV}
	wrong := testrun.Write(t, game, layers, 100)
	should.Be(t, must.Err(sample.Write(t.Context(), wrong, &bytes.Buffer{}, o)), corrupt.ErrCorrupt, "a wrong score")
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) {
		h := &m.Layers[5].Histogram
		h[5], h[4] = h[5]-1, h[4]+1 // a win all the same
	})
	o.ByScore = true
	should.Be(t, must.Err(sample.Write(t.Context(), dir, &bytes.Buffer{}, o)), corrupt.ErrCorrupt, "a wrong histogram")
}

// readCard reads the card of the file at path, and compares it with the files and the run.
func readCard(t *testing.T, dir, path string, o sample.Options) sample.Card {
	t.Helper()
	c := must.JSON[sample.Card](t, must.Read(t, path+sample.CardSuffix))
	m := testrun.Manifest(t, dir)
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
		should.Hold(t, uint64(len(data)) == f.Bytes && fmt.Sprintf("%x", sha256.Sum256(data)) == f.SHA256,
			"%s has %d bytes, the card says %+v", f.File, len(data), f)
	}
	return c
}

func checkColumns(t *testing.T, c *sample.Card, data []byte) {
	t.Helper()
	head, _, _ := bytes.Cut(data, []byte("\n"))
	names := `"(\w+)":|\('(\w+)'` // quoted, and so are all types of npy and its three keys
	if c.Encoded == sample.CSV {
		names = `(\w+)()`
	}
	var want, got []string
	for _, key := range regexp.MustCompile(names).FindAllSubmatch(head, -1) {
		want = append(want, string(key[1])+string(key[2]))
	}
	for _, column := range c.Columns {
		got = append(got, column.Name)
		length := map[bool]string{true: fmt.Sprintf(", (%d,)", column.Length)}[column.Length > 1]
		should.Hold(t, c.Encoded != sample.Npy || strings.Contains(string(head), fmt.Sprintf("('%s', '|%s'%s)", column.Name, column.Type, length)),
			"%+v in %q", column, head)
	}
	should.List(t, got, want, "columns of %s", c.Encoded)
}

// TestSplit: files have all positions of the sample in its order, each in the part and the shard where it belongs.
func TestSplit(t *testing.T) {
	game, _, dir := testrun.Run(t, 6, awari.Awari, 7, 100)
	parts := map[string]string{} // of boards, for all samples
	split := must.Get(sample.ParseSplit("train=80,test=20"))(t)
	for _, o := range []sample.Options{
		{From: 3, To: 7, Count: 1200, Seed: 3, Format: sample.Npy, Split: split, Shards: 3},
		{From: 5, To: 7, Count: 1000, Seed: 4, Format: sample.CSV, Split: split, ByScore: true},
		{From: 7, To: 7, Count: 700, Seed: 5, Format: sample.JSONL, Split: split, Shards: 2, Licence: "CC0-1.0"},
		{From: 3, To: 7, Count: 1200, Seed: 3, Format: sample.Npy, Shards: 7},
		{From: 3, To: 7, Count: 1200, Seed: 3, Format: sample.JSONL},
	} {
		path := filepath.Join(t.TempDir(), "some.sample")
		s := must.Get(sample.WriteFile(t.Context(), dir, path, o))(t)
		c := readCard(t, dir, path, o)
		must.Same(t, "files", c.Files, s.Files)
		should.Hold(t, s.Card == "some.sample.card.json" && c.Licence == cmp.Or(o.Licence, "MIT"), "%+v", s)
		rows := map[string][]row{} // by part
		for _, f := range c.Files {
			data := must.Read(t, filepath.Join(filepath.Dir(path), f.File))
			checkColumns(t, &c, data)
			got := read(t, o.Format, game, data)
			should.Hold(t, uint64(len(got)) == f.Positions, "%s has %d positions, want %d", f.File, len(got), f.Positions)
			rows[f.Split] = append(rows[f.Split], got...)
		}
		for i, r := range read(t, o.Format, game, write(t, dir, o)) {
			part := slices.IndexFunc(c.Files, func(f sample.File) bool {
				next := rows[f.Split]
				return len(next) > 0 && reflect.DeepEqual(next[0], r)
			})
			must.Not(t, part < 0, "position %d of the sample is in no file where it belongs", i)
			name := c.Files[part].Split
			rows[name] = rows[name][1:]
			if key := fmt.Sprint(r.Pits); len(o.Split) > 0 {
				must.Not(t, parts[key] != "" && parts[key] != name, "%s is in %s and in %s", key, parts[key], name)
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
	dir, out := testrun.Dir(t, 4, awari.Awari, 6, 100), t.TempDir()
	path := filepath.Join(out, "a.csv")
	must.Write(t, path+sample.CardSuffix, []byte("old"))
	o := sample.Options{From: 0, To: 6, Count: 200, Format: sample.CSV, Split: must.Get(sample.ParseSplit("a=50,b=50"))(t), Shards: 2}
	must.OK(t, must.Err(sample.WriteFile(t.Context(), dir, path, o)))
	should.List(t, slices.Sorted(maps.Keys(must.Tree(t, out))), []string{
		".", "a-a-00000-of-00002.csv", "a-a-00001-of-00002.csv", "a-b-00000-of-00002.csv", "a-b-00001-of-00002.csv", "a.csv.card.json",
	})
	readCard(t, dir, path, o)
}

// TestLongDocumented runs the Python of docs/sample.md.
func TestLongDocumented(t *testing.T) {
	tries.NeedsLong(t, "Python loads NumPy")
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
		want := write(t, dir, o)
		var files, streams []byte
		for i := range 7 {
			o.Part = job.Part{Index: i + 1, Of: 7}
			path := filepath.Join(t.TempDir(), "some.part")
			s := must.Get(sample.WriteFile(t.Context(), dir, path, o))(t)
			c, share := readCard(t, dir, path, o), o.Count*uint64(i+1)/7-o.Count*uint64(i)/7
			should.Hold(t, len(c.Files) == 1 && c.Files[0].Positions == share && s.Positions == share, "part %d: %+v, %+v", i+1, c.Files, s)
			files = append(files, must.Read(t, path)...)
			var text bytes.Buffer
			must.OK(t, must.Err(sample.Write(t.Context(), dir, &text, o)))
			streams = append(streams, text.Bytes()...)
		}
		should.Hold(t, bytes.Equal(files, want) && bytes.Equal(streams, want),
			"%s: %d bytes in files, %d in streams, want %d", o.Format, len(files), len(streams), len(want))
		o.Shards = 2
		should.Be(t, must.Err(sample.WriteFile(t.Context(), dir, filepath.Join(t.TempDir(), "x"), o)), sample.ErrSample, "several files")
	}
}
