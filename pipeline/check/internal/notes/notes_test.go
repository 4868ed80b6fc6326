package notes_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/check/internal/notes"
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
	m := must.Get(d.Manifest())(t)
	b := &bench{t: t, manifest: m, reads: game.CapturesLeadTo}
	b.book(d)
	t.Cleanup(func() { b.dir.Close() })
	return b
}

// book opens the directory, as each check does.
func (b *bench) book(d *rundir.Dir) {
	b.t.Helper()
	b.dir = must.Get(d.Notebook())(b.t)
}

func (b *bench) open() *notes.Notes {
	b.t.Helper()
	b.told = nil
	n := must.Get(notes.Open(b.dir, b.manifest, notes.Options{
		Name: rundir.VerifyName, Header: header, Reads: b.reads, Tell: func(s string) { b.told = append(b.told, s) },
	}))(b.t)
	return n
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
		if got := b.believed(); got != nil || len(b.told) != 1 || !strings.HasPrefix(b.told[0], "verify starts again: "+c.told) {
			t.Errorf("%s: believed %v, told %q", name, got, b.told)
		}
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
		c.change(b)
		got := b.believed()
		should.Hold(t, slices.Equal(got, c.want) && (b.told != nil) == (len(got) < 2),
			"%s: believed %v, want %v; told %q", name, got, c.want, b.told)
	}
}

// TestOwner: it is another one if a file is.
func TestOwner(t *testing.T) {
	b := newBench(t)
	before := b.open()
	b.manifest.Layers[7].Hash++
	after := b.open()
	should.Not(t, before.Owner(9) == after.Owner(9) || before.Owner(8) != after.Owner(8),
		"%x and %x; %x and %x", before.Owner(9), after.Owner(9), before.Owner(8), after.Owner(8))
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
	intercepted := vfs.Intercept(func(d vfs.Dir) vfs.Dir { return disk.Mirror(d) })
	outside := b.dir
	b.book(outside.Dir)
	return func() {
		b.dir.Close()
		b.dir = outside
		intercepted()
	}
}

// TestFullDisk: without room the old notes stay, and the user is told once.
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
	disk.Limit(-1)
	b.note(9)
	should.List(t, b.believed(), []int{8, 9}, "with room again: believed")
}
