package census

import (
	"context"

	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/spaces/retro"
)

// Layer is the census of the boards with one number of seeds.
type Layer struct {
	Seeds     int    `json:"seeds"`
	Positions uint64 `json:"positions"`
	Moves
	X                uint64  `json:"x"`                 // moves that take seeds, as document 001 calls them
	Share            float64 `json:"x_share"`           // X as a multiple of the boards
	MeanPredecessors float64 `json:"mean_predecessors"` // of a board
	// Cost is the number of accesses that the formula of document 001 has, as in Row.
	Cost uint64 `json:"cost"`
	// Analysis is nil unless the layer was analysed.
	*Analysis
}

// Options say how a census is taken. Of the job, Workers count, and Memory bounds the process.
type Options struct {
	job.Job
	// Analyse asks for Layer.Analysis.
	Analyse bool
}

// Census goes through layers from 0 seeds up.
type Census struct {
	space   *awari.Space
	options Options
	next    int
	last    int
	table   [][]int8 // of the layers that were analysed
}

// Begin returns a census of the layers of up to seeds seeds. It fails with awari.ErrSeeds.
func Begin(game awari.Game, seeds int, o Options) (*Census, error) {
	space, err := awari.NewSpace(game, seeds)
	return &Census{space: space, options: o, last: seeds}, err
}

// More reports whether there is another layer.
func (c *Census) More() bool { return c.next <= c.last }

// Next returns the next layer. It fails with a memory.Error when there is too little memory
// for its analysis, and with the error of ctx.
func (c *Census) Next(ctx context.Context) (l Layer, err error) {
	n, size := c.next, c.space.Size(c.next)
	l = Layer{Seeds: n, Positions: size, Cost: retro.Cost(c.space.Pits(), n, size)}
	if l.Moves, err = CountMoves(ctx, c.space.Game, n, c.options.Workers); err != nil {
		return l, err
	}
	l.X = l.Captures + l.TakesAll
	l.Share, l.MeanPredecessors = float64(l.X)/float64(size), float64(l.Predecessors)/float64(size)
	if c.options.Analyse {
		if l.Analysis, err = c.analyse(ctx, n); err != nil {
			return l, err
		}
	}
	c.next++
	return l, nil
}
