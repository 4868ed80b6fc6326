package solve_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/solve"
)

// TestEvents: events come while the directory is locked, the end in any case, and who fails at one ends the run.
func TestEvents(t *testing.T) {
	game, dir := awaritest.Game(t, 4, awari.Awari), filepath.Join(t.TempDir(), "run")
	refused, told, fails := errors.New("refused"), "", ""
	o := options(1)
	o.Events = func(e solve.Event) error {
		name := strings.TrimPrefix(fmt.Sprintf("%T", e), "solve.")
		told += name + " "
		should.Not(t, must.Err(rundir.Lock(dir, solve.Identity(game))) == nil, "%s: the directory is not locked", name)
		if ended, ok := e.(solve.Ended); ok && !errors.Is(ended.Err, refused) && ended.Err != nil && !errors.Is(ended.Err, context.Canceled) {
			t.Errorf("ended with %v", ended.Err)
		}
		if name == fails {
			return refused
		}
		return nil
	}
	check := func(ctx context.Context, want string, is error) {
		t.Helper()
		told = ""
		should.Be(t, must.Err(solve.Solve(ctx, dir, game, o)), is)
		should.Equal(t, told, want, "told")
	}
	for _, c := range []struct{ fails, want string }{
		{"Locked", "Locked Ended "}, {"Begins", "Locked Begins Ended "}, {"Sealed", "Locked Begins Sealed Ended "}, {"Ended", "Locked Begins Sealed Ended "},
	} {
		fails = c.fails
		check(t.Context(), c.want, refused)
	}
	fails = ""
	check(t.Context(), "Locked Ended ", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Seeds = 4
	check(ctx, "Locked Begins Ended ", context.Canceled)
}
