//go:build unix

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/plan"
)

// rehearsal is the run of 12 pits and 48 seeds in small: 8 pits have every score, window and lower layer of it in a
// 6,900th of the positions. docs/rehearsal.md has its figures.
type rehearsal struct {
	seeds  int
	dir    string            // solved in memory
	layers map[string]string // of it
}

// TestLongRehearsal solves 8 pits in every way, with the same files each time, and hands them to whoever reads layers.
func TestLongRehearsal(t *testing.T) {
	tries.NeedsFull(t, "a run in every way")
	t.Parallel()
	r := &rehearsal{seeds: awari.MaxSeeds, dir: filepath.Join(t.TempDir(), "run")}
	mustRun(t, r.solve(r.dir)...)
	r.layers = withoutSeconds(t, r.dir)
	for _, bits := range plan.Widths() {
		t.Run(fmt.Sprintf("%d bits", bits), func(t *testing.T) { r.solveForced(t, bits) })
	}
	t.Run("little memory", r.narrow)
	t.Run("killed", r.solveKilled)
	t.Run("retrograde", r.solveRetrograde)
	t.Run("readers", r.readers)
}

// solve returns the command that solves into a directory.
func (r *rehearsal) solve(dir string, more ...string) []string {
	return append([]string{"awari", "solve", "--pits", "8", "--seeds", strconv.Itoa(r.seeds), "--dir", dir, "--progress", "none", "--json"}, more...)
}

// same fails unless a directory has the layers of the run in memory up to a last one, and nothing else.
func (r *rehearsal) same(t *testing.T, dir string, last int) {
	t.Helper()
	got, want := withoutSeconds(t, dir), maps.Clone(r.layers)
	if last < r.seeds {
		delete(got, rundir.ManifestName) // it differs
		delete(want, rundir.ManifestName)
	}
	for n := last + 1; n <= r.seeds; n++ {
		delete(want, rundir.LayerName(n))
	}
	sameFiles(t, want, got)
}

// solveForced solves layers with scores of some bits.
func (r *rehearsal) solveForced(t *testing.T, bits int) {
	dir := filepath.Join(t.TempDir(), "run")
	o := solve.Options{Seeds: r.seeds, Bits: bits, Job: job.Job{Workers: 2}}
	must.OK(t, must.Err(solve.Solve(t.Context(), dir, awaritest.Game(t, 8, awari.Awari), o)))
	r.same(t, dir, r.seeds)
}

// little is memory that is too little for the last layers in one piece.
const little = "100MiB"

func (r *rehearsal) narrow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := summaryOf(t, mustRun(t, r.solve(dir, "--memory", little, "--threads", "2")...))
	last := s.Layers[len(s.Layers)-1]
	should.Not(t, last.Windows < 2, "%d windows within %s", last.Windows, little)
	r.same(t, dir, r.seeds)
}

// solveKilled kills a run again and again, at moments that may be in any layer.
func (r *rehearsal) solveKilled(t *testing.T) {
	const kills, patience = 12, 6 * time.Second
	dir, rng, kill := filepath.Join(t.TempDir(), "run"), tries.Rand(t), 0
	for kill < kills {
		s := launch(t, r.solve(dir, "--memory", little, "--threads", "2", "--checkpoint", "1s")...)
		if !s.killAfter(t, time.Duration((0.5+rng.Float64())*float64(patience))) {
			break
		}
		kill++
	}
	mustRun(t, r.solve(dir, "--memory", little, "--threads", "2")...)
	t.Logf("killed %d times", kill)
	r.same(t, dir, r.seeds)
}

// solveRetrograde solves with the other engine as many layers as there is memory for.
func (r *rehearsal) solveRetrograde(t *testing.T) {
	const last = 36
	dir := filepath.Join(t.TempDir(), "run")
	mustRun(t, "awari", "solve", "--pits", "8", "--seeds", strconv.Itoa(last), "--dir", dir, "--engine", "retrograde", "--progress", "none", "--json")
	r.same(t, dir, last)
}

// readers hands the layers to the commands that read them.
func (r *rehearsal) readers(t *testing.T) {
	last := strconv.Itoa(r.seeds)
	mustRun(t, "awari", "verify", "--prove", "--dir", r.dir, "--json", "--progress", "none")
	site := filepath.Join(t.TempDir(), "site")
	mustRun(t, "awari", "publish", "--dir", r.dir, "--out", site, "--json", "--progress", "none")
	scores := filepath.Join(t.TempDir(), "scores")
	mustRun(t, "awari", "export", "--dir", r.dir, "--layer", last, "--format", "colex", "--out", scores, "--json", "--progress", "none")
	text := must.Read(t, scores)
	r.probe(t, must.Get(awari.NewSpace(awaritest.Game(t, 8, awari.Awari), r.seeds))(t), string(text))
}

// probe compares scores of the last layer with those that were exported.
func (r *rehearsal) probe(t *testing.T, space *awari.Space, exported string) {
	rng := tries.Rand(t)
	var boards strings.Builder
	var want, values []string
	for range 200 {
		rank := rng.Uint64N(uint64(len(exported)))
		pits := space.Unrank(r.seeds, rank)
		fmt.Fprintln(&boards, strings.Trim(fmt.Sprint(pits[:8]), "[]"))
		want = append(want, strconv.Itoa(int(int8(exported[rank]))))
	}
	got := grenier(t.Context(), boards.String(), "awari", "probe", "--dir", r.dir, "-")
	must.Hold(t, got.status == cli.ExitOK, "%v", got.err)
	for line := range strings.Lines(got.out) {
		value, _, _ := strings.Cut(strings.TrimPrefix(line, "value "), ";")
		values = append(values, value)
	}
	should.Equal(t, cmp.Diff(want, values), "")
}
