package notes_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/check/internal/notes"
	"grenier/pipeline/job"
)

var header = jsonfile.Header{Format: "grenier-verify", Version: 2}

// bench is a run directory with layers 0 to 9 of 4 pits: layer 9 leads to layers 6 and 7.
type bench struct {
	t        *testing.T
	dir      *rundir.Notebook
	manifest *manifest.Manifest
	reads    func(int) (int, int)
	told     []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	game := testrun.Game(t, 4, awari.Awari)
	d := must.Get(rundir.Open(testrun.Write(t, game, testrun.Solve(t, game, 9), 64)))(t)
	b := &bench{t: t, dir: must.Get(d.Notebook())(t), manifest: must.Get(d.Manifest())(t), reads: game.CapturesLeadTo}
	t.Cleanup(func() { b.dir.Close() })
	return b
}

func (b *bench) open() *notes.Notes {
	b.t.Helper()
	return must.Get(b.part(job.Part{}))(b.t)
}

// note makes notes that say that these layers are in order.
func (b *bench) note(layers ...int) {
	b.t.Helper()
	n := b.open()
	for _, seeds := range layers {
		n.Set(notes.Layer{Seeds: seeds, Parts: 1, Done: 1})
	}
	n.Save()
}

// believed returns the layers that are believed to be in order.
func (b *bench) believed() (all []int) {
	b.t.Helper()
	n := b.open()
	for seeds := range 10 {
		if l := n.Find(seeds); l.Complete() {
			all = append(all, seeds)
		}
	}
	should.Hold(b.t, (n.Again() == "") == (b.told == nil), "told %q, but: %q", b.told, n.Again())
	return all
}

func (b *bench) path() string { return b.dir.NotePath(rundir.VerifyName) }

// TestNotBelieved: notes that were changed or cut (jsonfile tests each byte), or that have no checksum, as the
// version before, are not believed, and the user is told.
func TestNotBelieved(t *testing.T) {
	b := newBench(t)
	b.note(9)
	text := must.Read(t, b.path())
	got := b.believed()
	must.Hold(t, slices.Equal(got, []int{9}) && b.told == nil, "unchanged: %v, %q", got, b.told)
	for name, c := range map[string]struct{ text, told string }{
		"changed": {strings.Replace(string(text), "9", "8", 1), b.path()},
		"cut":     {string(text[:len(text)/2]), b.path()},
		"older": {
			"{\n  \"format\": \"grenier-verify\",\n  \"version\": 1,\n  \"layers\": [{\"seeds\": 9, \"parts\": 1, \"done\": 1}]\n}\n",
			b.path() + ": unknown format version 1: this program reads version 2",
		},
	} {
		must.Write(t, b.path(), []byte(c.text))
		got := b.believed()
		should.Hold(t, got == nil && len(b.told) == 1 && strings.HasPrefix(b.told[0], "verify starts again: "+c.told),
			"%s: believed %v, told %q", name, got, b.told)
	}
}

// TestMadeFrom: what was noted about a layer is believed only with the files that were checked: of the layer,
// and of those that its captures lead to, on the disk and in the manifest; and in the same game.
func TestMadeFrom(t *testing.T) {
	touched := func(n int) func(b *bench) { return func(b *bench) { must.Touch(b.t, b.dir.LayerPath(n)) } }
	for name, c := range map[string]struct {
		change func(b *bench)
		want   []int
	}{
		"nothing":          {func(*bench) {}, []int{8, 9}},
		"itself":           {touched(9), []int{8}},
		"below":            {touched(7), []int{8}},
		"below both":       {touched(6), nil},
		"next":             {touched(8), []int{9}},
		"out of reach":     {touched(4), []int{8, 9}},
		"removed":          {func(b *bench) { os.Remove(b.dir.LayerPath(7)) }, []int{8}},
		"listed scores":    {func(b *bench) { b.manifest.Layers[7].Hash++ }, []int{8}},
		"listed footer":    {func(b *bench) { b.manifest.Layers[9].Checksum++ }, []int{8}},
		"other rules":      {func(b *bench) { b.manifest.Rules = "strict" }, nil},
		"unlisted":         {func(b *bench) { b.manifest = nil }, nil},
		"reads no other":   {func(b *bench) { b.reads = nil }, nil},
		"another interval": {func(b *bench) { b.reads = func(int) (int, int) { return 1, 2 } }, nil},
	} {
		b := newBench(t)
		b.note(8, 9)
		before := b.open()
		c.change(b)
		got := b.believed()
		should.Hold(t, slices.Equal(got, c.want) && (b.told != nil) == (len(got) < 2),
			"%s: believed %v, want %v; told %q", name, got, c.want, b.told)
		for after, n := b.open(), 8; n < 10 && strings.HasPrefix(name, "listed"); n++ {
			should.Equal(t, before.Owner(n) == after.Owner(n), slices.Contains(c.want, n), "%s: the owner of layer %d is the same", name, n)
		}
	}
}

// TestEnd: what is through is forgotten, the rest stays, and in the end there is no file.
func TestEnd(t *testing.T) {
	b := newBench(t)
	b.note(7, 8, 9)
	must.OK(t, b.open().End([]int{8}))
	should.List(t, b.believed(), []int{7, 9}, "believed")
	n := b.open()
	n.Drop(7)
	must.OK(t, n.End([]int{9}))
	should.Not(t, must.Err(os.Stat(b.path())) == nil, "the file is there")
}

// through lets all that is written go through a file system in memory.
func (b *bench) through(disk *crashfs.FS) (restore func()) {
	b.t.Helper()
	intercepted := disk.Intercept(b.dir.Path())
	outside := b.dir
	b.dir = must.Get(outside.Dir.Notebook())(b.t)
	return func() {
		b.dir.Close()
		b.dir = outside
		intercepted()
	}
}

// TestFullDisk: without room the old notes stay, and the user is told once; a part that has no room for its result says so.
func TestFullDisk(t *testing.T) {
	b := newBench(t)
	disk := crashfs.New()
	defer b.through(disk)()
	b.note(8)
	size := int64(len(must.Read(t, b.path())))
	for room := size; room < 2*size; room += 50 {
		disk.Limit(room)
		n := b.open()
		for range 3 {
			n.Set(notes.Layer{Seeds: 9, Parts: 1, Done: 1})
			n.Save()
		}
		should.Hold(t, len(b.told) == 1 && strings.Contains(b.told[0], "an interrupted verify will begin anew: "),
			"%d bytes: told %q", room, b.told)
		got := b.believed()
		should.Hold(t, slices.Equal(got, []int{8}) && b.told == nil, "%d bytes: believed %v, told %q", room, got, b.told)
	}
	for _, room := range []int64{1, 100, 300} { // the result of a part takes some 400, by the digits of times
		disk.Limit(size + room)
		should.Be(t, b.find(job.Part{Index: 1, Of: 1}, 9, "0"), syscall.ENOSPC, "a part, %d bytes", room)
	}
	disk.Limit(-1)
	b.note(9)
	should.List(t, b.believed(), []int{8, 9}, "with room again: believed")
	must.OK(t, b.find(job.Part{Index: 1, Of: 1}, 9, "0"))
	b.want("with room", 0, 9, "0")
}

// part opens the notes of a part, or of all.
func (b *bench) part(p job.Part) (*notes.Notes, error) {
	b.told = nil
	return notes.Open(b.dir, b.manifest, notes.Options{
		Name: rundir.VerifyName, Header: header, Reads: b.reads, Part: p, Tell: func(s string) { b.told = append(b.told, s) },
	})
}

func (b *bench) find(p job.Part, seeds int, result string) error {
	n, err := b.part(p)
	if err != nil {
		return err
	}
	n.Set(notes.Layer{Seeds: seeds, Parts: 1, Done: 1, Faults: result != "0", Result: json.RawMessage(result)})
	return n.End([]int{seeds})
}

// results returns what the parts have found in a layer, "-" for those that are missing.
func (b *bench) results(of, seeds int) (all []string) {
	b.t.Helper()
	n := must.Get(b.part(job.Part{All: true, Of: of}))(b.t)
	for _, l := range n.Parts(seeds) {
		text := "-"
		if l != nil {
			text = string(l.Result)
		}
		all = append(all, text)
	}
	return all
}

func (b *bench) want(what string, of, seeds int, want ...string) {
	b.t.Helper()
	should.List(b.t, b.results(of, seeds), want, "%s", what)
}

// TestParts: each part finds its own notes, and all find those of all; those of a part or a check never pass for others.
func TestParts(t *testing.T) {
	b := newBench(t)
	should.Be(t, must.Err(b.part(job.Part{All: true})), fault.Missing, "without parts")
	must.OK(t, b.find(job.Part{Index: 2, Of: 3}, 9, "0"))
	must.OK(t, b.find(job.Part{Index: 3, Of: 3}, 9, "7"))
	must.OK(t, b.find(job.Part{Index: 3, Of: 3}, 8, "0"))
	b.note(9)
	b.want("some", 0, 9, "-", "0", "7")
	b.want("another layer", 0, 8, "-", "-", "0")
	n := must.Get(b.part(job.Part{Index: 3, Of: 3}))(t)
	nine, eight := n.Find(9), n.Find(8)
	should.Not(t, nine.Complete() || !eight.Complete() || n.Of() != 0 || len(n.Parts(9)) > 0, "in order: %+v, %+v", nine, eight)
	must.OK(t, b.find(job.Part{Index: 1, Of: 4}, 9, "0"))
	_, err := b.part(job.Part{All: true})
	should.Hold(t, errors.Is(err, notes.ErrParts) && strings.Contains(err.Error(), "3..4"), "of 3 and of 4: %v", err)
	b.want("of 4", 4, 9, "0", "-", "-", "-")
	path := func(i, of int) string { return b.dir.NotePath(rundir.PartName(rundir.VerifyName, i, of)) }
	for name, text := range map[string][]byte{
		"another part": must.Read(t, path(2, 3)), "another division": must.Read(t, path(1, 4)), "the check": must.Read(t, b.path()), "words": []byte("words"),
	} {
		must.Write(t, path(1, 3), text)
		b.want(name, 3, 9, "-", "0", "7")
		should.Hold(t, len(b.told) == 1 && strings.HasPrefix(b.told[0], "verify-1-of-3 is to be done again"), "%s: told %q", name, b.told)
	}
	must.Touch(t, b.dir.LayerPath(7))
	b.want("a file below is another", 3, 9, "-", "-", "-")
	b.want("a file below is another", 3, 8, "-", "-", "0")
}

// TestPartCrash cuts the power at each operation while a part notes a layer: what was noted before is there afterwards, and the
// layer if End said so.
func TestPartCrash(t *testing.T) {
	const cuts = 12 // at each operation: a name that is not synced yet survives half of them
	random := tries.Rand(t)
	p, there := job.Part{Index: 1, Of: 1}, 0
	for k := 1; ; k++ {
		b := newBench(t)
		disk := crashfs.New()
		restore := b.through(disk)
		must.OK(t, b.find(p, 8, "0"))
		disk.CrashAt(disk.Ops() + k)
		err := b.find(p, 9, "7")
		restore()
		path := b.dir.NotePath(rundir.PartName(rundir.VerifyName, 1, 1))
		for range cuts {
			left := disk.PowerCut(random).Contents()
			must.OK(t, os.RemoveAll(filepath.Dir(path)))
			must.OK(t, os.Mkdir(filepath.Dir(path), 0o755))
			must.Write(t, path, left[path])
			b.want("before", 1, 8, "0")
			switch got := b.results(1, 9)[0]; {
			case got == "7":
				there++
			case got != "-" || err == nil:
				t.Errorf("operation %d, %v: %q", k, err, got)
			}
		}
		if err == nil {
			break
		}
	}
	should.Not(t, there <= cuts, "it never was there after a crash")
}
