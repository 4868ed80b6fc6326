package census

import (
	"context"

	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/spaces/retro"
)

// Layer is the census of the boards with one number of seeds.
type Layer struct {
	Seeds     int
	Positions uint64
	Moves
	// Cost is the number of accesses that the formula of document 001 has, as in Row.
	Cost uint64
	// Analysis is nil unless the layer was analysed.
	Analysis *Analysis
}

// Share returns X as a multiple of the number of boards.
func (l *Layer) Share() float64 { return float64(l.X()) / float64(l.Positions) }

// Options say how a census is taken. Of the job, Workers count, and Memory bounds the process.
type Options struct {
	job.Job
	// Analyse asks for Layer.Analysis.
	Analyse bool
}

// Census goes through layers from 0 seeds up.
type Census struct {
	game    awari.Game
	options Options
	analyst *analyst // nil if layers are not analysed
	next    int
	last    int
}

// Begin returns a census of the layers of up to seeds seeds. It fails with awari.ErrSeeds.
func Begin(game awari.Game, seeds int, o Options) (*Census, error) {
	analyst, err := newAnalyst(game, seeds, o.Memory)
	if err != nil {
		return nil, err
	}
	if !o.Analyse {
		analyst = nil
	}
	return &Census{game: game, options: o, analyst: analyst, last: seeds}, nil
}

// More reports whether there is another layer.
func (c *Census) More() bool { return c.next <= c.last }

// Next returns the next layer. It fails with a memory.Error when there is too little memory
// for its analysis, and with the error of ctx.
func (c *Census) Next(ctx context.Context) (Layer, error) {
	n, pits := c.next, c.game.Pits()
	size, err := colex.Binomial(pits+n-1, pits-1)
	if err != nil {
		return Layer{}, err
	}
	l := Layer{Seeds: n, Positions: size, Cost: retro.Cost(pits, n, size)}
	if l.Moves, err = CountMoves(ctx, c.game, n, c.options.Workers); err != nil {
		return l, err
	}
	if c.analyst != nil {
		a, err := c.analyst.Next(ctx)
		if err != nil {
			return l, err
		}
		l.Analysis = &a
	}
	c.next++
	return l, nil
}
