package awari

import (
	"context"
	"fmt"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/check/prove"
)

// runProve is verify --prove.
func (a *app) runProve(ctx context.Context, f verifyFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.Begin(&f.JobFlags, &o.Job)
	if err != nil {
		return err
	}
	a.tellStale(shown, f.dir)
	po := prove.Options{Job: o.Job, Layers: o.Layers, Resume: true, Restart: f.restart}
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
	return a.Checked(f.JSON, result, func() {
		if result.OK {
			fmt.Fprintf(a.Out, "everything is in order and proved (%.1f s)\n", result.Seconds)
		}
	})
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
