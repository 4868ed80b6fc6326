package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

// target is a small run directory whose files get damaged one after the other,
// and what probing it gives as long as it is whole.
type target struct {
	dir            string
	boards, answer string
}

// newTarget solves up to 3 seeds on 4 pits; its boards are all there are, so that
// probing them reads every byte.
func newTarget(t *testing.T) target {
	t.Helper()
	d := target{dir: solved(t, "--pits", "4", "--seeds", "3")}
	var boards strings.Builder
	for code := range 35 {
		boards.WriteString(mustRun(t, "awari", "unrank", "--pits", "4", fmt.Sprint(code)))
	}
	d.boards = boards.String()
	r := d.probe(t)
	if r.status != cli.ExitOK || strings.Count(r.out, "\n") != 35 {
		t.Fatalf("probe: status %d, %s%s", r.status, r.out, r.err)
	}
	d.answer = r.out
	return d
}

func (d *target) probe(t *testing.T) result {
	return grenier(t.Context(), d.boards, "awari", "probe", "--dir", d.dir, "-")
}

func (d *target) path(name string) string { return filepath.Join(d.dir, name) }

// names lists the layer files and the manifest.
func (d *target) names() []string {
	return []string{"layer-00.gl", "layer-01.gl", "layer-02.gl", "layer-03.gl", rundir.ManifestName}
}

// damages calls f with each damaged version of text: cut short anywhere, a bit of each
// byte flipped, longer. The packages that read the files have tests that flip every
// bit. A stride of more than 1 leaves out bytes.
func damages(text []byte, stride int, f func(what string, bad []byte)) {
	for i := 0; i < len(text); i += stride {
		f(fmt.Sprintf("cut to %d bytes", i), text[:i])
		bad := slices.Clone(text)
		bad[i] ^= 1 << (i % 8)
		f(fmt.Sprintf("byte %d changed from %#02x to %#02x", i, text[i], bad[i]), bad)
	}
	f("a byte longer", append(slices.Clone(text), 0))
	f("twice", append(slices.Clone(text), text...))
}

// stride is how far apart the bytes are that get damaged.
func stride() int {
	switch {
	case tries.Full():
		return 1
	case tries.Long():
		return 7
	}
	return 61
}

// wideStride is the stride for a manifest that is read by the same code elsewhere.
func wideStride() int {
	if tries.Full() {
		return 1
	}
	return 7 * stride()
}

// each damages one file after the other in every way and calls check, then makes
// the directory whole again. The stride is for the manifest.
func (d *target) each(t *testing.T, names []string, manifest int, check func(t *testing.T, name string)) {
	t.Helper()
	before := layerContents(t, d.dir)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			text := []byte(before[d.path(name)])
			step := stride()
			if name == rundir.ManifestName {
				step = manifest
			}
			damages(text, step, func(what string, bad []byte) {
				d.replace(t, name, bad)
				check(t, name)
				if after, err := os.ReadFile(d.path(name)); err != nil || string(after) != string(bad) {
					t.Errorf("the damaged file was changed: %v", err)
				}
				if t.Failed() {
					t.Fatalf("%s, %s", name, what)
				}
			})
			d.replace(t, name, text)
		})
	}
	if diff := cmp.Diff(before, layerContents(t, d.dir)); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
}

// replace gives a file other contents. It is a new file: nobody has it mapped.
func (d *target) replace(t *testing.T, name string, text []byte) {
	t.Helper()
	temp := d.path(name) + "-new"
	if err := os.WriteFile(temp, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, d.path(name)); err != nil {
		t.Fatal(err)
	}
}

// TestLongDamageProbe: every answer is right or a refusal.
func TestLongDamageProbe(t *testing.T) {
	t.Parallel()
	d := newTarget(t)
	right := strings.Split(d.answer, "\n")
	d.each(t, d.names(), stride(), func(t *testing.T, name string) {
		r := d.probe(t)
		// All scores are read, and thus all bytes: nothing can be missed.
		if r.status != cli.ExitCorrupt || !strings.Contains(r.err, name) {
			t.Errorf("status %d, %s", r.status, r.err)
		}
		oneClearLine(t, r.err)
		for i, line := range strings.Split(r.out, "\n") {
			if r.out != "" && line != right[i] && !strings.HasPrefix(line, fmt.Sprintf("error: line %d: ", i+1)) {
				t.Errorf("line %d: %q, right is %q", i+1, line, right[i])
			}
		}
	})
}

// TestLongDamageVerify: no damage escapes.
func TestLongDamageVerify(t *testing.T) {
	t.Parallel()
	d := newTarget(t)
	d.each(t, d.names(), wideStride(), func(t *testing.T, name string) {
		r := grenier(t.Context(), "", "awari", "verify", "--dir", d.dir, "--progress", "none", "--threads", "1")
		if r.status != cli.ExitCorrupt || !strings.Contains(r.err, name) || strings.Contains(r.out, "in order") {
			t.Errorf("status %d, %s%s", r.status, r.out, r.err)
		}
		oneClearLine(t, r.err)
	})
}

// TestLongDamageSolve: a layer that captures can lead to must be whole, and so must
// the manifest.
func TestLongDamageSolve(t *testing.T) {
	t.Parallel()
	d := newTarget(t)
	names := d.names()
	d.each(t, append(names[:3], names[4]), wideStride(), func(t *testing.T, name string) {
		r := grenier(t.Context(), "", "awari", "solve", "--pits", "4", "--seeds", "4", "--dir", d.dir, "--progress", "none")
		if r.status != cli.ExitCorrupt || !strings.Contains(r.err, name) || r.out != "" {
			t.Errorf("status %d, %s%s", r.status, r.out, r.err)
		}
		oneClearLine(t, r.err)
		if _, err := os.Stat(d.path(rundir.LayerName(4))); err == nil {
			t.Error("a layer was sealed")
		}
	})
}

// TestLongDamageMessages reads the messages for the usual accidents.
func TestLongDamageMessages(t *testing.T) {
	d := newTarget(t)
	name := rundir.LayerName(2)
	text, err := os.ReadFile(d.path(name))
	if err != nil {
		t.Fatal(err)
	}
	newer := slices.Clone(text)
	newer[8] = 4
	for _, c := range []struct {
		bad  string
		want string
	}{
		{"", "header: truncated: 0 bytes"},
		{"Dear diary", "not a file of this program"},
		{strings.Repeat("Dear diary, ", 100), "not a file of this program"},
		{string(newer), "version 4"},
		{string(text[:40]), "header: truncated"},
		{string(text[:len(text)-1]), "footer: "},
		{contents(t, d.dir)[d.path(rundir.LayerName(1))], "number of seeds 1"},
	} {
		d.replace(t, name, []byte(c.bad))
		for _, args := range [][]string{
			{"probe", "1", "1", "0", "0"}, {"verify"}, {"solve", "--pits", "4", "--seeds", "4"},
		} {
			r := grenier(t.Context(), "", append([]string{"awari", args[0], "--dir", d.dir}, args[1:]...)...)
			oneClearLine(t, r.err)
			if r.status != cli.ExitCorrupt || !strings.Contains(r.err, d.path(name)+": ") || !strings.Contains(r.err, c.want) {
				t.Errorf("%s of %.20q: status %d, %q lacks %q", args[0], c.bad, r.status, r.err, c.want)
			}
		}
	}
}
