package workfile_test

import (
	"math/rand/v2"
	"slices"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/io/workfile"
)

// replacer replaces pieces of 2 to 6 KB, chosen at random, some at once.
type replacer struct {
	f     *workfile.File
	rng   *rand.Rand
	live  []workfile.Extent
	bytes int // in live
	text  []byte
}

func newReplacer(t tb, pieces int) *replacer {
	return &replacer{
		f:    create(t, crashfs.New().Dir(work), tilesName),
		rng:  rand.New(rand.NewPCG(1, 0)),
		live: make([]workfile.Extent, pieces),
	}
}

// turn replaces as many pieces as there are, with a Commit for each twentieth.
func (r *replacer) turn(t tb, atOnce int) {
	lengths := make([]int, atOnce)
	for done := 0; done < len(r.live); done += atOnce {
		if done%(len(r.live)/20) == 0 {
			commit(t, r.f, checkpointName, nil)
		}
		total := 0
		for i := range lengths {
			other := i + r.rng.IntN(len(r.live)-i)
			r.live[i], r.live[other] = r.live[other], r.live[i]
			r.f.Drop(r.live[i])
			r.bytes -= int(r.live[i].Length)
			lengths[i] = 2_000 + r.rng.IntN(4_000)
			total += lengths[i]
		}
		r.text = slices.Grow(r.text, total)[:total]
		copy(r.live, must.Get(r.f.PutAll(r.text, lengths))(t))
		r.bytes += total
	}
}

// growth returns the length of the file for each byte in it.
func (r *replacer) growth() float64 { return float64(r.f.Size()) / float64(r.bytes) }
