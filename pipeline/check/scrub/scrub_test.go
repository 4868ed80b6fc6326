package scrub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/check/scrub"
	"grenier/pipeline/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// solved returns a run of the layers 0 to 5 on 6 pits.
func solved(t *testing.T) string {
	t.Helper()
	return testrun.Dir(t, 6, awari.Awari, 5, 4096)
}

func layer(dir string, n int) string { return filepath.Join(dir, rundir.LayerName(n)) }

func remove(t *testing.T, path string) { t.Helper(); must.OK(t, os.RemoveAll(path)) }

func mustRun(t *testing.T, dir string, o scrub.Options) *scrub.Result {
	t.Helper()
	o.Workers = 2
	return must.Get(scrub.Run(t.Context(), dir, o))(t)
}

// text is a short form of a result: a letter for each layer, i, d or m; upper case if the
// layer was read by an earlier scrub, ? behind it if it is not listed.
func text(r *scrub.Result) string {
	text := ""
	for _, l := range r.Layers {
		c := string(l.State[0])
		if l.Before != nil {
			c = strings.ToUpper(c)
		}
		if l.Unlisted {
			c += "?"
		}
		text += c
	}
	return text
}

// TestScrub damages what there is, and reads the result.
func TestScrub(t *testing.T) {
	for _, c := range []struct {
		name, want, err string
		damage          func(t *testing.T, dir string)
	}{
		{"nothing", "iiiiii", "", func(*testing.T, string) {}},
		{"a block", "iiidii", "layer 3: .*layer-03.gl: block 0: checksum of the stored bytes", func(t *testing.T, dir string) {
			testrun.Flip(t, layer(dir, 3), blockAt(t, layer(dir, 3)))
		}},
		{"much", "mdidid", "(?s)layer 0: .*missing.*4 of 6 layers", func(t *testing.T, dir string) {
			remove(t, layer(dir, 0))
			testrun.Flip(t, layer(dir, 1), 3)
			testrun.Flip(t, layer(dir, 3), 30)
			remove(t, layer(dir, 5))
			must.OK(t, os.Mkdir(layer(dir, 5), 0o755))
		}},
		{"another layer", "iiiidi", "layer 4: .*number of seeds", func(t *testing.T, dir string) {
			remove(t, layer(dir, 4))
			must.OK(t, os.Link(layer(dir, 3), layer(dir, 4)))
		}},
		{"no manifest", "iiimii", "manifest.json: missing, but there are layer files .1 of 6", func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, rundir.ManifestName))
			remove(t, layer(dir, 3))
		}},
		{"damaged manifest", "iiiiii", "manifest.json: ", func(t *testing.T, dir string) {
			testrun.Flip(t, filepath.Join(dir, rundir.ManifestName), 99)
		}},
		{"unlisted", "iiiiiid?", "layer 6: .*number of seeds 5", func(t *testing.T, dir string) {
			must.OK(t, os.Link(layer(dir, 5), layer(dir, 6)))
		}},
		{"foreign beside", "iiiiii", "", func(t *testing.T, dir string) {
			must.Write(t, layer(dir, 20), []byte("Dear diary"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := solved(t)
			c.damage(t, dir)
			r := mustRun(t, dir, scrub.Options{})
			err := r.Err()
			should.Hold(t, text(r) == c.want && r.OK == (err == nil) && (c.err == "") == r.OK,
				"%s, ok %v, %v; want %s", text(r), r.OK, err, c.want)
			should.Not(t, err != nil && (!errors.Is(err, corrupt.ErrCorrupt) || !regexp.MustCompile(c.err).MatchString(err.Error())), "%v lacks %s", err, c.err)
			should.Hold(t, (c.name == "foreign beside") == (len(r.Ignored) == 1), "ignored: %v", r.Ignored)
			should.Not(t, exists(filepath.Join(dir, rundir.WorkName, rundir.ScrubName)), "a note is left")
		})
	}
}

func blockAt(t *testing.T, path string) int {
	t.Helper()
	f := must.Get(layerfile.Open(path))(t)
	defer f.Close()
	h := f.Header()
	return 84 + len(h.Below) + len(h.Model) + 1
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func interrupt(t *testing.T, dir string, n int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	must.Be(t, must.Err(scrub.Run(ctx, dir, scrub.Options{Job: job.Job{Workers: 1}, Done: stopAfter(n, cancel)})), context.Canceled)
}

// stopAfter returns a function that calls stop after layer n.
func stopAfter(n int, stop func()) func(scrub.Layer) {
	return func(l scrub.Layer) {
		if l.Seeds == n {
			stop()
		}
	}
}

// told scrubs a directory, and returns what the user is told too.
func told(t *testing.T, dir string) (r *scrub.Result, notes string) {
	t.Helper()
	r = mustRun(t, dir, scrub.Options{Job: job.Job{Note: func(text string) { notes += text + "\n" }}})
	return r, strings.TrimSuffix(notes, "\n")
}

// TestResume: what was read is not read again, unless it changed.
func TestResume(t *testing.T) {
	dir := solved(t)
	again := func() { interrupt(t, dir, 3) }
	for _, c := range []struct {
		name, want string
		before     func()
		o          scrub.Options
	}{
		{"interrupted", "IIIIii", again, scrub.Options{}},
		{"after the end", "iiiiii", func() {}, scrub.Options{}},
		{"restart", "iiiiii", again, scrub.Options{Restart: true}},
		{"one layer", "i", again, scrub.Options{Layers: []int{2}}},
		{"changed", "IdiIii", func() {
			testrun.Flip(t, layer(dir, 1), 100) // another time, the same size
			must.Touch(t, layer(dir, 2))
		}, scrub.Options{}},
		{"what is damaged is found again", "IdIIii", again, scrub.Options{}},
	} {
		c.before()
		r := mustRun(t, dir, c.o)
		should.Hold(t, text(r) == c.want && (r.Err() == nil) == r.OK && r.OK == !strings.Contains(c.want, "d"), "%s: %s, want %s", c.name, text(r), c.want)
	}
}

// TestNote: what is read is on disk at once, for a kill leaves no time for that; what is read of a layer, when an error ends the scrub.
func TestNote(t *testing.T) {
	dir := solved(t)
	mustRun(t, dir, scrub.Options{Done: func(l scrub.Layer) {
		text, err := os.ReadFile(filepath.Join(dir, rundir.WorkName, rundir.ScrubName))
		should.Hold(t, err == nil && strings.Count(string(text), `"done": 2`) == l.Seeds+1, "after layer %d: %s, %v", l.Seeds, text, err)
	}})
	o := scrub.Options{Job: job.Job{Workers: 1}}
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return s.Seeds == 4 }, func(ctx context.Context) error {
		return must.Err(scrub.Run(ctx, dir, o))
	})
	should.Has(t, string(must.Read(t, filepath.Join(dir, rundir.WorkName, rundir.ScrubName))), `"seeds": 4`)
}

// TestBadNote: a bad record is reported and does no harm.
func TestBadNote(t *testing.T) {
	dir := solved(t)
	path := filepath.Join(dir, rundir.WorkName, rundir.ScrubName)
	for _, bad := range []string{
		"", "Dear diary", "{\n  \"format\": \"grenier-scrub\",\n  \"version\": 1\n}\n",
		"{\n  \"format\": \"grenier-scrub\",\n  \"version\": 2,\n  \"layers\": []\n}\n",
	} {
		must.Write(t, path, []byte(bad))
		r, notes := told(t, dir)
		should.Hold(t, text(r) == "iiiiii" && strings.HasPrefix(notes, "scrub starts again: ") && r.Restarted == notes && !exists(path),
			"%q: %s, %q", bad, text(r), notes)
	}
}

// TestUnnoted: while a solver has the directory, nothing is written. Without work/ there is no note, and that is all.
func TestUnnoted(t *testing.T) {
	dir := solved(t)
	l := must.Get(rundir.LockDamaged(dir))(t)
	r, notes := told(t, dir)
	should.Hold(t, text(r) == "iiiiii" && strings.Contains(notes, "in use by process"), "%s, %q", text(r), notes)
	should.Not(t, exists(filepath.Join(dir, rundir.WorkName, rundir.ScrubName)), "there is a note")
	must.OK(t, l.Unlock())
	remove(t, filepath.Join(dir, rundir.WorkName))
	r, notes = told(t, dir)
	should.Hold(t, text(r) == "iiiiii" && r.OK && notes != "" && !strings.Contains(notes, "\n"), "%s, %q", text(r), notes)
}

// TestNoRun: what holds no run is refused.
func TestNoRun(t *testing.T) {
	dir := t.TempDir()
	should.Be(t, must.Err(scrub.Run(t.Context(), dir, scrub.Options{})), rundir.ErrMissing)
	must.Write(t, filepath.Join(dir, "thesis.tex"), nil)
	should.Be(t, must.Err(scrub.Run(t.Context(), dir, scrub.Options{})), corrupt.ErrForeign)
	should.Be(t, must.Err(scrub.Run(t.Context(), solved(t), scrub.Options{Layers: []int{6}})), scrub.ErrNoLayer)
}

// TestProgress: it ends where it should, resumed or not.
func TestProgress(t *testing.T) {
	dir := solved(t)
	interrupt(t, dir, 2)
	var last job.Step
	mustRun(t, dir, scrub.Options{Job: job.Job{Progress: func(p job.Step) {
		should.Not(t, p.Done < last.Done || p.Done > p.Total || p.Unit != job.Bytes, "%+v after %+v", p, last)
		last = p
	}}})
	size := int64(0)
	for n := 3; n <= 5; n++ {
		size += must.Get(os.Stat(layer(dir, n)))(t).Size()
	}
	should.Not(t, last.Total != float64(size) || last.Done < float64(size/2), "%+v of %d", last, size)
}

// jsonOf returns what scripts see of a result, but for the time that it took.
func jsonOf(t *testing.T, r *scrub.Result) string {
	t.Helper()
	r.Seconds = 0
	return string(must.Get(json.Marshal(r))(t))
}

// TestParts: parts, in random order, some interrupted, one done twice, add up to what one scrub says.
func TestParts(t *testing.T) {
	random := tries.Rand(t)
	for name, damage := range map[string]func(dir string){
		"none": func(string) {},
		"blocks": func(dir string) { // more than are described
			text := must.Read(t, layer(dir, 7))
			for at := blockAt(t, layer(dir, 7)); at < len(text)/2; at += 40 {
				text[at] ^= 1
			}
			must.Write(t, layer(dir, 7), text)
			testrun.Flip(t, layer(dir, 6), blockAt(t, layer(dir, 6)))
		},
		"header":   func(dir string) { testrun.Flip(t, layer(dir, 5), 30) },
		"missing":  func(dir string) { remove(t, layer(dir, 3)) },
		"manifest": func(dir string) { testrun.Flip(t, filepath.Join(dir, rundir.ManifestName), 99) },
		"unlisted": func(dir string) {
			testrun.EditManifest(t, dir, func(m *manifest.Manifest) { m.Layers = m.Layers[:7] })
			testrun.Flip(t, layer(dir, 7), blockAt(t, layer(dir, 7)))
		},
	} {
		dir := testrun.Dir(t, 8, awari.Awari, 7, 50)
		damage(dir)
		want := mustRun(t, dir, scrub.Options{})
		n := 1 + random.IntN(16)
		order := random.Perm(n)
		for k, i := range append(order, order[0]) {
			o := scrub.Options{Part: job.Part{Index: i + 1, Of: n}}
			if k < 3 {
				ctx, stop := context.WithCancel(t.Context())
				o.Done = stopAfter(k+2, stop)
				err := must.Err(scrub.Run(ctx, dir, o))
				must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
				stop()
			}
			o.Done = nil
			should.Equal(t, mustRun(t, dir, o).Part, o.Part.String(), "part %s is called", o.Part)
		}
		got := mustRun(t, dir, scrub.Options{Part: job.Part{All: true, Of: n}})
		if a, b := jsonOf(t, got), jsonOf(t, want); a != b || fmt.Sprint(got.Err()) != fmt.Sprint(want.Err()) {
			t.Errorf("%s, %d parts: %s, %v; want %s, %v", name, n, a, got.Err(), b, want.Err())
		}
	}
}

// TestMissingParts: a file of which a part was not read is not intact.
func TestMissingParts(t *testing.T) {
	dir := testrun.Dir(t, 8, awari.Awari, 7, 50)
	path := layer(dir, 7)
	for i := 1; i <= 4; i++ {
		mustRun(t, dir, scrub.Options{Part: job.Part{Index: i, Of: 4}})
	}
	all := scrub.Options{Part: job.Part{All: true}}
	r := mustRun(t, dir, all)
	must.Hold(t, r.OK && r.Err() == nil, "%+v", r)
	check := func(what string, want map[int][]int) {
		t.Helper()
		r := mustRun(t, dir, all)
		for n, l := range r.Layers {
			should.Hold(t, slices.Equal(l.Missing, want[n]) && (l.State == scrub.Intact) == (want[n] == nil),
				"%s: layer %d: %+v", what, n, l)
		}
		should.Not(t, r.OK, "%s", what)
		should.Says(t, r.Err(), fault.Missing, "not complete: ")
	}
	must.Touch(t, path)
	check("replaced", map[int][]int{7: {1, 2, 3, 4}})
	mustRun(t, dir, scrub.Options{Part: job.Part{Index: 2, Of: 4}})
	check("a part again", map[int][]int{7: {1, 3, 4}})
	must.OK(t, os.Remove(filepath.Join(dir, rundir.WorkName, rundir.PartName(rundir.ScrubName, 2, 4))))
	removed := map[int][]int{}
	for n := range 8 {
		removed[n] = []int{2}
	}
	removed[7] = []int{1, 2, 3, 4}
	check("removed", removed)
}
