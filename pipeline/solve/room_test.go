package solve_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
)

// roomy returns options for a disk on which so many bytes are free.
func roomy(seeds int, free uint64) solve.Options {
	o := options(seeds)
	o.Free = func(string) (uint64, error) { return free, nil }
	return o
}

// TestNoRoom: what has no room on the disk is refused before anything is changed, and only what is still to do counts.
func TestNoRoom(t *testing.T) {
	game, dir := awaritest.Game(t, 8, awari.Awari), filepath.Join(t.TempDir(), "run")
	_, err := solve.Solve(t.Context(), dir, game, roomy(14, 1000))
	e, ok := errors.AsType[*rundir.RoomError](err)
	must.Hold(t, ok, "error %v", err)
	should.Hold(t, e.Path == dir && e.Free == 1000 && e.Need >= 50e3, "%+v", e)
	for _, word := range []string{"layer 14", dir, "1000 B free", "enough up to layer "} {
		should.Hold(t, strings.Contains(err.Error(), word), "%q lacks %q", err, word)
	}
	should.Be(t, must.Err(os.Stat(dir)), os.ErrNotExist, "the directory was made")
	mustSolve(t, dir, game, roomy(13, 1<<20))
	mustSolve(t, dir, game, roomy(13, 0)) // nothing to do
	before := must.Tree(t, dir)
	_, err = solve.Solve(t.Context(), dir, game, roomy(14, 1000))
	next, ok := errors.AsType[*rundir.RoomError](err)
	should.Hold(t, ok && next.Need < e.Need && strings.Contains(err.Error(), "too little for layer 14"), "error %v", err)
	after := must.Tree(t, dir)
	should.Hold(t, len(after) == len(before), "%d files, before %d", len(after), len(before))
	mustSolve(t, dir, game, roomy(14, next.Need))
}

// TestNoRoomForStreams: streams of layers in windows count, as a plan says.
func TestNoRoomForStreams(t *testing.T) {
	game, dir := awaritest.Game(t, 12, awari.Awari), filepath.Join(t.TempDir(), "run")
	refused := func(memory uint64) uint64 {
		t.Helper()
		o := roomy(22, 1<<20)
		o.Memory = memory
		_, err := solve.Solve(t.Context(), dir, game, o)
		e, ok := errors.AsType[*rundir.RoomError](err)
		must.Hold(t, ok, "error %v", err)
		r := plan.Run{Game: game, Seeds: 22, Memory: memory, Cores: o.Workers}
		peak, err := r.DiskPeak()
		should.Hold(t, err == nil && peak == e.Need, "%d bytes, planned %d, error %v", e.Need, peak, err)
		return e.Need
	}
	whole, windows := refused(0), refused(halfboard.Least(game, 22, options(0).Workers))
	should.Not(t, windows < whole+halfboard.Positions(game, 22), "%d bytes in windows, %d in one piece", windows, whole)
	should.Be(t, must.Err(os.Stat(dir)), os.ErrNotExist, "the directory was made")
}

// TestRoomUnknown: a disk of unknown size is taken to be large enough; other errors are reported.
func TestRoomUnknown(t *testing.T) {
	game, dir, broken := awaritest.Game(t, 4, awari.Awari), filepath.Join(t.TempDir(), "run"), errors.New("broken")
	o := options(3)
	o.Free = func(string) (uint64, error) { return 0, broken }
	should.Be(t, must.Err(solve.Solve(t.Context(), dir, game, o)), broken)
	o.Free = func(string) (uint64, error) { return 0, errors.ErrUnsupported }
	mustSolve(t, dir, game, o)
}
