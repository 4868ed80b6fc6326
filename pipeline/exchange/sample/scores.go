package sample

import (
	"cmp"
	"context"
	"math"
	"slices"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/pipeline/internal/chance"
	"grenier/pipeline/job"
)

// pick asks where position nth of those with a score is: they are counted by layer and rank.
type pick struct {
	nth, out uint64 // out is the place in the sample
}

// What a pick takes, with its number, and what reading scores takes for each worker.
const (
	perPick = 2*16 + 8 // in a list that grows
	perRead = 2 * layerfile.MaxBlockSize
)

// byScore returns the numbers of the positions of the sample.
func (d *draw) byScore(ctx context.Context) ([]uint64, error) {
	s := &seeker{wanted: d.picks(), numbers: make([]uint64, d.Count)}
	for n, first := d.From, uint64(0); n <= d.To; n++ {
		if err := d.seek(ctx, s, n, first); err != nil {
			return nil, err
		}
		first += d.space.Size(n)
	}
	for i, list := range s.wanted {
		if len(list) > 0 {
			return nil, corrupt.New(d.tables.Path(d.To), "", "layers %d to %d: fewer positions with score %d than in the manifest: %w",
				d.From, d.To, int8(i), corrupt.ErrMismatch)
		}
	}
	return s.numbers, nil
}

// picks returns the picks for each score, in the order of nth.
func (d *draw) picks() *[256][]pick {
	var left, taken [256]uint64
	for n := d.From; n <= d.To; n++ {
		h := &d.tables.Layers()[n].Histogram
		for score := math.MinInt8; score <= math.MaxInt8; score++ {
			left[uint8(score)] += h.Count(int8(score))
		}
	}
	var orders [256]chance.Permutation
	for i, size := range left {
		if size > 0 {
			orders[i] = chance.NewPermutation(size, d.Seed^chance.Mix(uint64(i)))
		}
	}
	var wanted [256][]pick
	for out := uint64(0); out < d.Count; {
		for score := math.MinInt8; score <= math.MaxInt8 && out < d.Count; score++ {
			i := uint8(score)
			if taken[i] < left[i] {
				wanted[i] = append(wanted[i], pick{orders[i].At(taken[i]), out})
				taken[i]++
				out++
			}
		}
	}
	for _, list := range wanted {
		slices.SortFunc(list, func(a, b pick) int { return cmp.Compare(a.nth, b.nth) })
	}
	return &wanted
}

// seeker finds picks while scores go by.
type seeker struct {
	wanted  *[256][]pick // those that are still to come
	seen    [256]uint64
	numbers []uint64
}

// scores takes in the next scores; first is the number of the first.
func (s *seeker) scores(first uint64, scores []int8) {
	for i, score := range scores {
		nth := s.seen[uint8(score)]
		s.seen[uint8(score)]++
		if list := s.wanted[uint8(score)]; len(list) > 0 && list[0].nth == nth {
			s.numbers[list[0].out] = first + uint64(i)
			s.wanted[uint8(score)] = list[1:]
		}
	}
}

// seek reads the scores of layer n, whose positions have numbers from first on.
func (d *draw) seek(ctx context.Context, s *seeker, n int, first uint64) error {
	const size = layerfile.MaxBlockSize
	total := d.space.Size(n)
	spare := make([]*[]int8, 2*d.Workers+2)
	for i := range spare {
		scores := make([]int8, min(size, total))
		spare[i] = &scores
	}
	piece := func(i int, memory []int8) (from uint64, scores []int8) {
		from = uint64(i) * size
		return from, memory[:min(size, total-from)]
	}
	return crew.Ordered[*[]int8]{
		Work: func(_, i int, memory *[]int8) error {
			from, scores := piece(i, *memory)
			return d.tables.Read(ctx, n, from, scores)
		},
		Write: func(i int, memory *[]int8) error {
			from, scores := piece(i, *memory)
			s.scores(first+from, scores)
			d.Tell(job.Step{Doing: "reading scores", Done: float64(first + from + uint64(len(scores))), Total: float64(d.total)})
			return nil
		},
	}.Run(ctx, d.Workers, int((total+size-1)/size), spare)
}
