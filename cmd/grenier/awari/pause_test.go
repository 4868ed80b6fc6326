package awari

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
)

// TestParseUntil: a time is the next moment at which clocks show it, also when they are changed
// in the night.
func TestParseUntil(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err) // no time zones on this machine
	}
	summer := time.Date(2026, 10, 24, 22, 0, 0, 0, zone) // clocks go back in this night
	for text, want := range map[string]string{
		"07:00": "2026-10-25T07:00:00+01:00", "22:00": "2026-10-25T22:00:00+01:00", "22:00:01": "2026-10-24T22:00:01+02:00",
		"23:59": "2026-10-24T23:59:00+02:00", "2026-10-26 07:00": "2026-10-26T07:00:00+01:00", "2026-10-24 22:00:30": "2026-10-24T22:00:30+02:00",
		"2026-10-24T22:30:00Z": "2026-10-25T00:30:00+02:00", "8h": "2026-10-25T05:00:00+01:00", "90m": "2026-10-24T23:30:00+02:00",
		"7am": "2026-10-25T07:00:00+01:00", "11PM": "2026-10-24T23:00:00+02:00", "7:30am": "2026-10-25T07:30:00+01:00",
	} {
		got, err := parseUntil(text, summer)
		should.Hold(t, err == nil && got.In(zone).Format(time.RFC3339) == want, "%s: %v, %v, want %s", text, got, err, want)
	}
	for text, why := range map[string]string{
		"2026-10-24 22:00": "must be in the future", "2020-01-01T00:00:00Z": "must be in the future", "7 o'clock": "must be a time like 07:00", "25:00": "must be a time", "": "must be a time",
	} {
		got, err := parseUntil(text, summer)
		should.Hold(t, errors.Is(err, fault.Usage) && strings.Contains(err.Error(), why), "%q: %v, %v", text, got, err)
	}
}

// TestCauseOf: only the event that ended a run is its cause.
func TestCauseOf(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	end(errAtOnce)
	broken := errors.New("disk full")
	for _, c := range []struct{ err, want error }{
		{nil, nil}, {broken, broken}, {context.Canceled, errAtOnce}, {errAfterLayer, errAfterLayer},
	} {
		should.Be(t, causeOf(ctx, c.err), c.want, "%v", c.err)
	}
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	for err, want := range map[error]struct {
		state  rundir.State
		status int
	}{
		nil: {"done", cli.ExitOK}, broken: {"failed", cli.ExitFailure}, errAtOnce: {"paused", cli.ExitPaused},
		context.Canceled: {"interrupted", cli.ExitInterrupted},
	} {
		state, status := stateOf(err), cli.StatusOf(interrupted, err)
		should.Hold(t, state == want.state && status == want.status, "%v: %s, %d", err, state, status)
	}
}

// TestPlaces tells which layers are where.
func TestPlaces(t *testing.T) {
	var layers []statusLayer
	for _, directory := range []string{"", "", "/a", "/a", "/b", "", "/a", "/b", "/b"} {
		layers = append(layers, statusLayer{Directory: directory})
	}
	want := []placed{{"/a", "2-3, 6"}, {"/b", "4, 7-8"}}
	directory := func(l statusLayer) string { return l.Directory }
	should.Equal(t, cmp.Diff(want, runs(layers, directory), cmp.AllowUnexported(placed{})), "")
	got := runs(layers[:2], directory)
	should.Hold(t, len(got) == 0, "%v", got)
}

// TestFullDisk: the error of a full disk says what is missing where, and that the run resumes; others are left as they are.
func TestFullDisk(t *testing.T) {
	dir, other := t.TempDir(), errors.New("other")
	f := &solveFlags{dir: filepath.Join(dir, "run")}
	game, err := awari.New(12, awari.Awari)
	o := &solve.Options{Seeds: 48, Job: job.Job{Workers: 2, Memory: 64 << 30}}
	should.Hold(t, err == nil && f.explain(nil, game, o) == nil && f.explain(other, game, o) == other, "%v", err)
	full := fmt.Errorf("solving layer 21: %w", &os.PathError{Op: "write", Path: "x.tmp", Err: syscall.ENOSPC})
	got := f.explain(full, game, o)
	for _, part := range []string{"solving layer 21: write x.tmp: ", "; about ", "iB more needed on the disk of " + f.dir, "; the same command resumes when there is room"} {
		should.Hold(t, errors.Is(got, syscall.ENOSPC) && strings.Contains(got.Error(), part), "%v lacks %q", got, part)
	}
}
