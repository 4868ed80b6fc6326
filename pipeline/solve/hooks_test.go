package solve_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
)

// TestBeginEnd: the hooks run while the directory is locked.
func TestBeginEnd(t *testing.T) {
	game, dir := mustGame(t, 4, awari.Awari), filepath.Join(t.TempDir(), "run")
	refused, calls := errors.New("refused"), ""
	o := options(3)
	locked := func(name string) {
		calls += name
		if _, err := rundir.Lock(dir, solve.Identity(game)); err == nil {
			t.Errorf("%s: the directory is not locked", name)
		}
	}
	o.Begin = func(*rundir.Locked) error { locked("begin "); return refused }
	o.End = func(err error) { locked(fmt.Sprintf("end %v ", err)) }
	if _, err := solve.Solve(t.Context(), dir, game, o); !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	o.Begin = func(*rundir.Locked) error { locked("begin "); return nil }
	mustSolve(t, dir, game, o)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Seeds = 4
	if _, err := solve.Solve(ctx, dir, game, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if !strings.HasPrefix(calls, "begin begin end <nil> begin end ") || !strings.HasSuffix(calls, "context canceled ") {
		t.Errorf("calls: %s", calls)
	}
}
