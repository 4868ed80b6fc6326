package notes_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/pipeline/check/internal/notes"
	"grenier/pipeline/job"
)

// part opens the notes of a part, or of all.
func (b *bench) part(p job.Part) (*notes.Notes, error) {
	b.told = nil
	return notes.Open(b.dir, b.manifest, notes.Options{
		Name: rundir.VerifyName, Header: header, Reads: b.reads, Part: p, Tell: func(s string) { b.told = append(b.told, s) },
	})
}

// find notes that a part has found something in a layer.
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
	n, err := b.part(job.Part{Index: 3, Of: 3})
	must.OK(t, err)
	if nine, eight := n.Find(9), n.Find(8); nine.Complete() || !eight.Complete() || n.Of() != 0 || n.Parts(9) != nil && len(n.Parts(9)) > 0 {
		t.Errorf("in order: %+v, %+v", nine, eight)
	}
	must.OK(t, b.find(job.Part{Index: 1, Of: 4}, 9, "0"))
	_, err = b.part(job.Part{All: true})
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
		for range 5 {
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
	should.Not(t, there <= 5, "it never was there after a crash")
}

// TestPartFullDisk: a part that has no room for its result says so.
func TestPartFullDisk(t *testing.T) {
	b := newBench(t)
	disk := crashfs.New()
	defer b.through(disk)()
	for _, room := range []int64{1, 100, 300} { // it takes some 400, by the digits of times
		disk.Limit(room)
		should.Be(t, b.find(job.Part{Index: 1, Of: 1}, 9, "0"), syscall.ENOSPC, "%d bytes", room)
	}
	disk.Limit(-1)
	must.OK(t, b.find(job.Part{Index: 1, Of: 1}, 9, "0"))
	b.want("with room", 0, 9, "0")
}
