package awari

import (
	"context"
	"fmt"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/check/prove"
	"grenier/pipeline/job"
)

// runProve is verify --prove.
func (a *app) runProve(ctx context.Context, f verifyFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, new(job.Job))
	if err != nil {
		return err
	}
	a.tellStale(shown, f.dir)
	po := prove.Options{
		Layers: o.Layers, Workers: o.Workers, Family: o.Family, Memory: o.Memory,
		Resume: true, Restart: f.restart, Note: a.Telling(shown),
		Progress: func(p prove.Progress) { shown.Update(proving(p)) },
	}
	if !f.JSON {
		po.Done = func(l prove.Layer) {
			shown.Pause(func() {
				a.printLayer(&l.Layer)
				a.printProof(l.Proof)
			})
		}
	}
	a.Resume = "; the same command continues"
	result, err := prove.Run(ctx, f.dir, po)
	shown.Close()
	if err != nil {
		return f.Memory.Explain(err)
	}
	return a.Checked(f.JSON, result, func() { a.printProved(result) })
}

// proving is how far a run of verify --prove is.
type proving prove.Progress

func (p proving) State(elapsed time.Duration) cli.State {
	s := verifying{Seeds: p.Seeds, Begun: p.Begun, Done: p.Done, Total: p.Total}.State(elapsed)
	switch {
	case p.Level > 0:
		s.Doing = fmt.Sprintf("layer %d, scores of %d, pass %d", p.Seeds, p.Level, p.Pass)
	case p.Positions > 0:
		s.Doing = fmt.Sprintf("layer %d, pass %d (%d%%)", p.Seeds, p.Pass, 100*p.Looked/p.Positions)
	case p.Pass > 0:
		s.Doing = fmt.Sprintf("layer %d, pass %d", p.Seeds, p.Pass)
	}
	return s
}

func (a *app) printProved(r *prove.Result) {
	if r.OK {
		fmt.Fprintf(a.Out, "everything is in order and proved (%.1f s)\n", r.Seconds)
	}
}

// printProof prints the proof of a layer; p is nil if there is none.
func (a *app) printProof(p *prove.Proof) {
	switch {
	case p == nil:
		fmt.Fprintln(a.Out, "  not proved: scores of this layer or below are wrong or damaged")
		return
	case p.Ungrounded == 0:
		fmt.Fprintf(a.Out, "  proved: %s positive, %s negative, %s zero\n", cli.Comma(p.Positive), cli.Comma(p.Negative), cli.Comma(p.Zero))
		return
	}
	fmt.Fprintf(a.Out, "  not proved: %s positive, %s negative are grounded, %s others are not; the first of them:\n",
		cli.Comma(p.Positive), cli.Comma(p.Negative), cli.Comma(p.Ungrounded))
	for i := range p.First {
		fmt.Fprintf(a.Out, "  %s\n", &p.First[i])
	}
}
