package main

import (
	"context"
	"fmt"
	"time"

	"grenier/pipeline/check/prove"
)

// runProve is verify --prove.
func (a *app) runProve(ctx context.Context, f verifyFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	shown, err := a.newProgress(f.progress, f.json)
	if err != nil {
		return err
	}
	result, err := prove.Run(ctx, f.dir, prove.Options{
		Layers: o.Layers, Workers: o.Workers, Family: o.Family, Memory: o.Memory,
		Progress: func(p prove.Progress) { shown.update(proving(p)) },
	})
	shown.close()
	if err != nil {
		return f.memory.explain(err)
	}
	return a.checked(f.json, result, func() { a.printProved(result) })
}

// proving is how far a run of verify --prove is.
type proving prove.Progress

func (p proving) state(elapsed time.Duration) state {
	s := verifying{Seeds: p.Seeds, Done: p.Done, Total: p.Total}.state(elapsed)
	if p.Level > 0 {
		s.doing = fmt.Sprintf("layer %d, scores of %d, pass %d", p.Seeds, p.Level, p.Pass)
	}
	return s
}

func (a *app) printProved(r *prove.Result) {
	for i := range r.Layers {
		l := &r.Layers[i]
		a.printLayer(&l.Layer)
		a.printProof(l.Proof)
	}
	if r.OK {
		fmt.Fprintf(a.out, "everything is in order and proved (%.1f s)\n", r.Seconds)
	}
}

// printProof says what was proved of a layer; p is nil if nothing can be.
func (a *app) printProof(p *prove.Proof) {
	switch {
	case p == nil:
		fmt.Fprintln(a.out, "  not proved: scores here or below are wrong or damaged")
		return
	case p.Ungrounded == 0:
		fmt.Fprintf(a.out, "  proved: %s positive, %s negative, %s zero\n", comma(p.Positive), comma(p.Negative), comma(p.Zero))
		return
	}
	fmt.Fprintf(a.out, "  not proved: %s positive, %s negative are grounded, %s others are not; the first of them:\n",
		comma(p.Positive), comma(p.Negative), comma(p.Ungrounded))
	for i := range p.First {
		fmt.Fprintf(a.out, "  %s\n", &p.First[i])
	}
}
