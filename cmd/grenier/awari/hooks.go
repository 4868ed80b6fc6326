package awari

import (
	"context"
	"path/filepath"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/solve"
)

// hooks is a reader that calls commands of the user: one for each sealed layer, one at the end of a run.
type hooks struct {
	watch *watch
	ctx   context.Context // of the run
}

// callsMade returns the number of layers for which --on-layer needs no call any more, as the
// report of the last run has it. If there is none, nobody knows whether the command was called for
// the newest layer.
func callsMade(dir *rundir.Locked, sealed int) int {
	last, err := dir.Status()
	switch {
	case err != nil:
		return max(sealed-1, 0)
	case last.Calls == nil:
		return sealed // it had no such command
	}
	return min(*last.Calls, sealed)
}

// take calls the command for each layer that is sealed and for which it was not called to its end
// yet: a run before may have been killed. A failure is told, nothing else; a call that is cut
// short by the end of the run is left to the next one.
func (h *hooks) take(e solve.Event) error {
	sealed, ok := e.(solve.Sealed)
	if _, locked := e.(solve.Locked); !ok && !locked {
		return nil
	}
	c := h.watch.now()
	if c.calls == nil {
		return nil
	}
	for _, n := range c.manifest.Sealed() {
		if n < *c.calls && !(ok && n == sealed.Layer.Seeds) {
			continue
		}
		if err := h.ctx.Err(); err != nil {
			return err
		}
		h.call(c.dir.Path(), &c.manifest.Layers[n])
	}
	return h.ctx.Err()
}

// call calls the command for a layer.
func (h *hooks) call(run string, l *manifest.Layer) {
	start := time.Now()
	err := cli.Shell(h.ctx, h.watch.flags.onLayer, layerEnvironment(run, l), h.watch.app.Err)
	h.watch.tell(called{l.Seeds, time.Since(start), err})
}

// layerEnvironment returns the environment that tells the command of --on-layer about a layer.
func layerEnvironment(run string, l *manifest.Layer) []string {
	return cli.Environment("event", "layer", "dir", absolute(run), "seeds", l.Seeds, "file", absolute(rundir.LayerFile(run, l)),
		"positions", l.Positions, "bytes", l.Bytes, "seconds", l.Seconds, "win", l.Win, "draw", l.Draw, "loss", l.Loss, "fnv1a64", l.Hash)
}

// finish calls the command for the end of a run, for which err is the reason. The run is
// unlocked by now.
func (h *hooks) finish(err error) {
	w, c := h.watch, h.watch.now()
	if w.flags.onFinish == "" || c.dir == nil {
		return
	}
	environment := cli.Environment("event", "finish", "dir", absolute(c.dir.Path()), "state", stateOf(err),
		"status", cli.StatusOf(h.ctx, err), "layers", len(c.manifest.Layers), "seconds", int64(time.Since(w.start).Seconds()), "error", reasonOf(err))
	if failure := cli.Shell(context.WithoutCancel(h.ctx), w.flags.onFinish, environment, w.app.Err); failure != nil {
		w.warn("--on-finish", failure)
	}
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
