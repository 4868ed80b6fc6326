package awari

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/pipeline/tables"
)

// hooks calls commands of the user: one for each sealed layer, one at the end of a run.
type hooks struct {
	app               *app
	onLayer, onFinish string // empty for none
	journal           *journal

	dir   *rundir.Locked
	calls *rundir.Calls // nil without onLayer
}

// begin makes up for the calls that a run before owes: it was killed between sealing a layer and
// calling.
func (h *hooks) begin(ctx context.Context, dir *rundir.Locked) (err error) {
	h.dir = dir
	if h.onLayer == "" {
		return nil
	}
	if h.calls, err = dir.OpenCalls(); err != nil {
		return err
	}
	return h.call(ctx)
}

// want notes that the command is to be called for a layer that is about to begin.
func (h *hooks) want(n int) error {
	if h.calls == nil {
		return nil
	}
	return h.calls.Want(n)
}

// call calls the command for each sealed layer for which it was not called yet. A failure is
// reported and logged, nothing else; a call that the end of ctx keeps from beginning is left to the
// next run.
func (h *hooks) call(ctx context.Context) error {
	if h.calls == nil {
		return nil
	}
	m, err := tables.Manifest(h.dir)
	if err != nil {
		return err
	}
	for {
		n, ok := h.calls.Pending(len(m.Layers))
		if !ok || ctx.Err() != nil {
			return ctx.Err()
		}
		if err := h.calls.Called(n); err != nil {
			return err
		}
		h.run(ctx, fmt.Sprintf("--on-layer for layer %d", n), h.onLayer, layerEnvironment(h.dir.Path(), &m.Layers[n]))
	}
}

// run runs a command of the user, and tells if that fails.
func (h *hooks) run(ctx context.Context, what, line string, environment []string) {
	start := time.Now()
	err := cli.Shell(ctx, line, environment, h.app.Err)
	h.journal.called(what, time.Since(start), err)
}

// layerEnvironment says what happened for --on-layer.
func layerEnvironment(run string, l *manifest.Layer) []string {
	return cli.Environment("event", "layer", "dir", absolute(run), "seeds", l.Seeds, "file", absolute(rundir.LayerFile(run, l)),
		"positions", l.Positions, "bytes", l.Bytes, "seconds", l.Seconds, "win", l.Win, "draw", l.Draw, "loss", l.Loss, "fnv1a64", l.Hash)
}

// finish calls the command for the end of a run, for which err is the reason. The run is
// unlocked by now.
func (h *hooks) finish(ctx context.Context, err error) {
	if h.onFinish == "" || h.dir == nil {
		return
	}
	environment := cli.Environment("event", "finish", "dir", absolute(h.dir.Path()), "state", stateOf(err),
		"status", cli.StatusOf(ctx, err), "layers", h.layers(), "seconds", int64(time.Since(h.journal.start).Seconds()), "error", reasonOf(err))
	if failure := cli.Shell(context.WithoutCancel(ctx), h.onFinish, environment, h.app.Err); failure != nil {
		h.journal.warn("--on-finish", failure)
	}
}

// layers returns how many layers are sealed.
func (h *hooks) layers() int {
	m, err := h.dir.Manifest()
	if err != nil {
		return 0 // the error of the run tells more
	}
	return len(m.Layers)
}

// close closes the notes.
func (h *hooks) close() error {
	if h.calls == nil {
		return nil
	}
	return h.calls.Close()
}

// stateOf says in a word how a run ended.
func stateOf(err error) string {
	switch {
	case err == nil:
		return "finished"
	case errors.Is(err, fault.Pause):
		return "paused"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return "failed"
}

// reasonOf returns the text of an error, empty if there is none.
func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return cli.OneLine(err)
}

// absolute returns a path for a command that may work in another directory.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
