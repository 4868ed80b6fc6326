package distance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/endgames"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/internal/testkit/writetest"
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/check/prove"
	"grenier/pipeline/check/scrub"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/search"
	"grenier/pipeline/play/uci"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

func verified(t testing.TB, dir string, n int, bytes int64) verify.Layer {
	t.Helper()
	o := verify.Options{Job: job.Job{Workers: 2, Family: cpu.Best()}, Layers: []int{n}, MemoryBytes: bytes}
	return must.Get(verify.Run(t.Context(), dir, o))(t).Layers[0]
}

func writeDistances(t testing.TB, dir string, n int, change func(plies []int8)) {
	t.Helper()
	_, plies := writetest.Read(t, filepath.Join(dir, rundir.DistanceName(n)))
	change(plies)
	newDistances(t, dir, n, plies)
}

// newDistances writes a file of distances of layer n that all checksums fit, and lists it.
func newDistances(t testing.TB, dir string, n int, plies []int8) {
	t.Helper()
	d := must.Get(vfs.OpenDir(dir))(t)
	defer d.Close()
	p := must.Get(vfs.NewPending(d, rundir.DistanceName(n)))(t)
	s := writetest.Layer(t, p, catalog.DistanceHeader(testrun.Manifest(t, dir), n), plies)
	testrun.EditManifest(t, dir, func(m *manifest.Manifest) { m.Layers[n].Distances = manifest.NewDistances(s.Footer) })
}

// TestLongVerify: true distances pass in panels of any size; each wrong one is found, with its board and the true one.
func TestLongVerify(t *testing.T) {
	rng := tries.Rand(t)
	for _, r := range rules {
		const top = 9
		game, layers, dir := testrun.Run(t, 8, r, top, layerfile.MaxBlockSize)
		compute(t, dir, options(2))
		want := brute(t, game, layers)
		for n := range top + 1 {
			for _, bytes := range []int64{0, 1, 9000} {
				l := verified(t, dir, n, bytes)
				must.Hold(t, len(l.Problems) == 0 && l.Checked == l.Positions, "%v, layer %d, %d bytes: %+v", r, n, bytes, l)
			}
		}
		for range tries.Runs(240) {
			n := 3 + rng.IntN(top-2)
			rank := rng.IntN(len(want[n]))
			wrong := (want[n][rank] + 1 + rng.IntN(255)) % 256
			other := testrun.Copy(t, dir)
			writeDistances(t, other, n, func(plies []int8) { plies[rank] = int8(wrong) })
			l := verified(t, other, n, 9000)
			text := fmt.Sprintf("rank %d: the distance is %d plies, but its moves give %d", rank, wrong, want[n][rank])
			found := false
			for _, p := range l.Problems {
				found = found || strings.HasSuffix(p.Text, text)
			}
			must.Hold(t, found, "%v, layer %d: %q is not said in %+v", r, n, text, l)
		}
	}
}

// TestVerifyDamage: a damaged file of distances, and one of other scores, are found, and scores are compared all the same.
func TestVerifyDamage(t *testing.T) {
	dir, layers := run(t, 7)
	compute(t, dir, options(1))
	path := filepath.Join(dir, rundir.DistanceName(7))
	good := must.Read(t, path)
	for name, data := range map[string][]byte{"cut": good[:len(good)-3], "changed": changed(good, len(good)/2), "foreign": []byte("words")} {
		must.Write(t, path, data)
		l := verified(t, dir, 7, 0)
		should.Hold(t, len(l.Problems) > 0 && errors.Is(l.Problems[0].Damage, corrupt.ErrCorrupt) && l.Checked == l.Positions, "%s: %+v", name, l)
	}
	must.Write(t, path, good)
	l := verified(t, dir, 7, 0)
	should.Not(t, len(l.Problems) > 0, "%+v", l)
	for what, change := range map[string]func(d *manifest.Distances){
		"bytes": func(d *manifest.Distances) { d.Bytes++ }, "hash": func(d *manifest.Distances) { d.Hash++ }, "checksum": func(d *manifest.Distances) { d.Checksum++ },
	} {
		listed := testrun.Copy(t, dir)
		testrun.EditManifest(t, listed, func(m *manifest.Manifest) { change(&m.Layers[7].Distances) })
		l := verified(t, listed, 7, 0)
		should.Not(t, len(l.Problems) == 0 || !errors.Is(l.Problems[0].Damage, corrupt.ErrMismatch), "other %s are listed: %+v", what, l)
	}
	// Two positions of a cycle may exchange scores, but then the distances are not of these scores.
	layers[7][5] = testrun.Other(layers[7][5])
	testrun.TakeLayer(t, dir, testrun.Write(t, testrun.Game(t, 8, 0), layers, 1<<16), 7)
	l = verified(t, dir, 7, 0)
	should.Not(t, len(l.Problems) == 0 || !errors.Is(l.Problems[0].Damage, tables.ErrMismatch) || l.Mismatches == 0, "%+v", l)
}

func changed(data []byte, at int) []byte {
	data = append([]byte(nil), data...)
	data[at] ^= 0x10
	return data
}

// TestNoted: a verification that was interrupted before there were distances compares them.
func TestNoted(t *testing.T) {
	dir, _ := run(t, 7)
	ctx, stop := context.WithCancel(t.Context())
	o := verify.Options{Job: job.Job{Workers: 1, Family: cpu.Best()}, Resume: true}
	o.Done = func(l verify.Layer) {
		if l.Seeds == 6 {
			stop()
		}
	}
	must.Not(t, must.Err(verify.Run(ctx, dir, o)) == nil, "not interrupted")
	compute(t, dir, options(1))
	writeDistances(t, dir, 5, func(plies []int8) { plies[len(plies)/2]++ })
	o.Done = nil
	result := must.Get(verify.Run(t.Context(), dir, o))(t)
	should.Not(t, result.OK || result.Layers[5].Before != nil, "%+v", result.Layers[5])
}

// TestScrub: scrub reads distances, and tells damaged ones and those of other scores from intact ones.
func TestScrub(t *testing.T) {
	dir, _ := run(t, 5)
	compute(t, dir, distance.Options{Layers: []int{1, 2, 4, 5}, Job: options(1).Job})
	must.OK(t, os.Remove(filepath.Join(dir, rundir.DistanceName(1))))
	for n, state := range map[int]scrub.State{4: scrub.Damaged, 5: scrub.Stale} {
		path := filepath.Join(dir, rundir.DistanceName(n))
		if state == scrub.Damaged {
			data := must.Read(t, path)
			must.Write(t, path, changed(data, len(data)-120))
			continue
		}
		other := testrun.Write(t, testrun.Game(t, 8, 1), testrun.Solve(t, testrun.Game(t, 8, 1), n), 1<<16)
		compute(t, other, options(1))
		must.Write(t, path, must.Read(t, filepath.Join(other, rundir.DistanceName(n))))
	}
	result := must.Get(scrub.Run(t.Context(), dir, scrub.Options{Job: job.Job{Workers: 2}}))(t)
	for n, want := range []scrub.State{"", scrub.Missing, scrub.Intact, "", scrub.Damaged, scrub.Stale} {
		l := result.Layers[n]
		should.Hold(t, l.Distances == want && l.State == scrub.Intact && (l.Count > 0) == (n > 3 || n == 1), "layer %d: %+v", n, l)
	}
	should.Not(t, result.OK || !errors.Is(result.Err(), corrupt.ErrCorrupt), "%v", result.Err())
}

// TestParts: what verify and scrub say of distances is the same in parts.
func TestParts(t *testing.T) {
	dir, _ := run(t, 7)
	compute(t, dir, options(1))
	path := filepath.Join(dir, rundir.DistanceName(7))
	good := must.Read(t, path)
	text := func(result any, err error) string {
		must.OK(t, err)
		data := must.Get(json.Marshal(result))(t)
		return regexp.MustCompile(`"seconds":[^}]*`).ReplaceAllString(string(data), "")
	}
	verified := func(p job.Part) string {
		return text(verify.Run(t.Context(), dir, verify.Options{Job: job.Job{Family: cpu.Best()}, Part: p}))
	}
	scrubbed := func(p job.Part) string { return text(scrub.Run(t.Context(), dir, scrub.Options{Part: p})) }
	for name, damage := range map[string]func(){
		"none":    func() {},
		"wrong":   func() { writeDistances(t, dir, 7, func(plies []int8) { plies[len(plies)/3]++ }) },
		"changed": func() { must.Write(t, path, changed(good, len(good)/2)) },
		"cut":     func() { must.Write(t, path, good[:len(good)-3]) },
	} {
		must.Write(t, path, good)
		damage()
		for _, check := range []func(job.Part) string{verified, scrubbed} {
			want := check(job.Part{})
			for _, i := range []int{2, 3, 1, 2} {
				check(job.Part{Index: i, Of: 3})
			}
			should.Equal(t, check(job.Part{All: true}), want, "%s", name)
			must.Write(t, path, must.Read(t, path)) // another file: nothing is known of it
			must.Touch(t, path)
			got := check(job.Part{All: true})
			should.Not(t, strings.Contains(got, `"ok":true`), "%s, replaced: %s", name, got)
		}
	}
}

func proved(t testing.TB, dir string) *prove.Result {
	t.Helper()
	return must.Get(prove.Run(t.Context(), dir, prove.Options{Job: job.Job{Workers: 2, Family: cpu.Best()}}))(t)
}

// TestProof: distances prove the layers that have them, without a pass, and prove the same as passes do.
func TestProof(t *testing.T) {
	for _, r := range rules {
		const top = 8
		dir := testrun.Dir(t, 8, r, top, layerfile.MaxBlockSize)
		want := proved(t, dir)
		o := options(2)
		o.Layers = []int{2, top - 1, top}
		compute(t, dir, o)
		got := proved(t, dir)
		must.Hold(t, want.OK && got.OK, "%v %v", want.Err(), got.Err())
		for n, l := range got.Layers {
			by, passes := *l.Proof, *want.Layers[n].Proof
			there := n == 2 || n >= top-1
			should.Not(t, n > 0 && there != (by.Passes == 0), "layer %d: %d passes", n, by.Passes) // layer 0 needs none
			by.Passes, passes.Passes = 0, 0
			must.Same(t, fmt.Sprintf("layer %d", n), fmt.Sprintf("%+v", passes), fmt.Sprintf("%+v", by))
		}
	}
}

// TestLongNoProof: scores that back each other in a circle are locally optimal, and no distances follow from them: those of the true ones do not, nor
// do any others. Short tests try fewer.
func TestLongNoProof(t *testing.T) {
	rng := tries.Rand(t)
	dir, positions := circle(t)
	r := proved(t, dir)
	must.Not(t, r.OK || r.Layers[2].Proof.Ungrounded == 0, "%+v is proved", r.Layers[2])
	o := options(1)
	o.Layers = []int{0, 1}
	compute(t, dir, o)
	for range tries.Runs(300) {
		plies := make([]int8, positions)
		for i := range plies {
			plies[i] = int8(rng.IntN([]int{3, 8, 256}[rng.IntN(3)]))
		}
		newDistances(t, dir, 2, plies)
		r := proved(t, dir)
		must.Not(t, r.OK || r.Layers[2].Proof != nil, "%+v is proved by %v", r.Layers[2], plies)
	}
}

// solved returns tables of 12 pits with distances, solved by the engine.
func solved(t testing.TB, seeds int) *tables.Tables {
	t.Helper()
	dir := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), seeds)
	compute(t, dir, options(2))
	return tabletest.Open(t, dir)
}

type scoresOnly struct{ line.Scores }

// TestSameLines: moves found by distances are those of the search in package line, with as many plies, on every board.
func TestSameLines(t *testing.T) {
	for _, c := range []struct{ pits, seeds int }{{4, 10}, {6, 7}, {8, 6}} {
		for _, r := range rules {
			game, _, dir := testrun.Run(t, c.pits, r, c.seeds, 1<<16)
			compute(t, dir, options(1))
			tb, space := tabletest.Open(t, dir), testrun.Space(t, game, c.seeds)
			for n := range c.seeds + 1 {
				for rank := range space.Size(n) {
					b := space.Unrank(n, rank)
					got, ok, err := line.Next(t.Context(), tb, b, line.Options{})
					must.OK(t, err)
					want, wantOK, err := line.Next(t.Context(), scoresOnly{tb}, b, line.Options{})
					must.OK(t, err)
					if got != want || ok != wantOK {
						t.Fatalf("%v, board %s: %+v, %v; searched %+v, %v", r, game.Text(b), got, ok, want, wantOK)
					}
				}
			}
		}
	}
}

// TestLongUCIWins: the UCI engine wins won endgames, and no board comes twice as long as it can win anything more.
func TestLongUCIWins(t *testing.T) {
	tb := solved(t, tries.Pick(8, 11, 14))
	endgames.Win(t, tb, tries.Rand(t), tries.Pick(5, 50, 200), func(b awari.Board) int { return askUCI(t, tb, b) })
}

var bestMove = regexp.MustCompile(`bestmove ([A-F])`)

func askUCI(t *testing.T, tb *tables.Tables, b awari.Board) int {
	var out strings.Builder
	session := uci.New(uci.Options{
		Name: "Test", Author: "Nobody", Scores: tb, Blocks: search.NewBlocks(tb, 1<<24), Bytes: 1 << 20, MostBytes: 1 << 20, Workers: 1,
	})
	fen := strings.ReplaceAll(tb.Game().Text(b), " ", "-") + "-" + strconv.Itoa(awari.MaxSeeds-b.Seeds()) + "-0-S"
	must.OK(t, session.Run(t.Context(), strings.NewReader(fmt.Sprintf("position fen %s\ngo depth 1\n", fen)), &out))
	m := bestMove.FindStringSubmatch(out.String())
	must.Not(t, m == nil, "board %s: %s", fen, out.String())
	return int(m[1][0] - 'A')
}

// TestMany: asked together, boards of all layers have the distances that they have one by one.
func TestMany(t *testing.T) {
	dir, _ := run(t, 8)
	compute(t, dir, distance.Options{Layers: []int{3, 6, 8}, Job: options(2).Job})
	tb, rng := tabletest.Open(t, dir), tries.Rand(t)
	space, boards := testrun.Space(t, tb.Game(), 8), make([]awari.Board, 500)
	for i := range boards {
		n := rng.IntN(9)
		boards[i] = space.Unrank(n, rng.Uint64N(space.Size(n)))
	}
	got := make([]int16, len(boards))
	must.OK(t, tb.Distances(t.Context(), boards, got))
	for i, b := range boards {
		plies, known, err := tb.Distance(t.Context(), b)
		must.OK(t, err)
		n := b.Seeds()
		should.Not(t, known != (n == 3 || n == 6 || n == 8) || known && int(got[i]) != plies || !known && got[i] != -1,
			"board %v: %d, one by one %d, %v", b, got[i], plies, known)
	}
	should.Be(t, tb.Distances(t.Context(), append(boards, awari.Board{9}), make([]int16, 501)), tables.ErrUnsolved)
}

// TestLongContradiction: a distance that the moves do not give is damage for a player, not a move.
func TestLongContradiction(t *testing.T) {
	rng := tries.Rand(t)
	dir, layers := run(t, 7)
	compute(t, dir, options(1))
	want := brute(t, testrun.Game(t, 8, awari.Awari), layers)
	space := testrun.Space(t, testrun.Game(t, 8, awari.Awari), 7)
	for range tries.Runs(200) {
		rank := rng.IntN(len(want[7]))
		if want[7][rank] == 0 {
			continue
		}
		other := testrun.Copy(t, dir)
		writeDistances(t, other, 7, func(plies []int8) { plies[rank] = int8(want[7][rank] + 100) })
		tb := tabletest.Open(t, other)
		m, _, err := line.Next(t.Context(), tb, space.Unrank(7, uint64(rank)), line.Options{})
		must.Hold(t, errors.Is(err, corrupt.ErrCorrupt), "rank %d: %+v, %v", rank, m, err)
	}
}
