package access

import (
	"grenier/kernels/bitset"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
)

// tables describe moves without a board. They are made when they are needed first.
type tables struct {
	sowings  [awari.MaxSeeds + 1][]sowings                  // by the seeds of the mover, and those given
	gains    [awari.MaxSeeds + 1][awari.MaxSeeds + 1]gain   // by the seeds of the half afterwards, and those given
	captures [awari.MaxSeeds + 1][awari.MaxPits / 2]capture // likewise, and the last pit
}

// sowing is a move of a half of the mover: its rank, and the rank of the half that it leaves. The
// highest bit of the latter says that the last seed falls in the opponent's half.
type sowing struct{ from, to uint32 }

const (
	ends      = 1 << 31
	moveBytes = 8
)

// sowings are those that give the opponent the same number of seeds.
type sowings struct {
	list []sowing
	ends bool // one of them does
}

// sowingsOf returns the sowings of halves with own seeds, by the seeds that they give.
func (s *search) sowingsOf(own int) []sowings {
	if s.tables.sowings[own] != nil {
		return s.tables.sowings[own]
	}
	all := make([]sowings, own+1)
	var a, after [awari.MaxPits / 2]uint8
	for rank := range s.half.Size(own) {
		s.unrank(a[:s.q], own, rank)
		for pit := range s.q {
			if a[pit] == 0 {
				continue
			}
			after = a
			m := halves.Sow(after[:s.q], pit)
			given := &all[m.Seeds(s.q)]
			to := uint32(s.half.Rank(after[:s.q]))
			if m.Last >= 0 {
				to |= ends
				given.ends = true
			}
			given.list = append(given.list, sowing{uint32(rank), to})
		}
	}
	s.tables.sowings[own] = all
	return all
}

// unrank writes the half of the given rank, which there is.
func (s *search) unrank(half []uint8, seeds int, rank uint64) {
	if err := s.half.Unrank(seeds, rank, half); err != nil {
		panic(err)
	}
}

// gain is the effect of receiving seeds on the halves of the opponent: the halves that can have received
// them, among all with as many seeds.
type gain struct {
	made bool
	mask bitset.Mask
}

// received returns the seeds that a pit of the opponent has received of the given ones.
func (s *search) received(given, pit int) uint8 {
	seeds := given / s.q
	if pit < given%s.q {
		seeds++
	}
	return uint8(seeds)
}

// gainOf returns the gain of given seeds, for halves that have total seeds then.
func (s *search) gainOf(total, given int) *bitset.Mask {
	g := &s.tables.gains[total][given]
	if g.made {
		return &g.mask
	}
	words := make([]uint64, bitset.Words(int(s.half.Size(total))))
	s.each(total, func(rank int, half []uint8) {
		for pit, x := range half {
			if x < s.received(given, pit) {
				return
			}
		}
		words[rank/64] |= 1 << (rank % 64)
	})
	*g = gain{true, bitset.NewMask(words)}
	return &g.mask
}

// each calls do for the halves with the given seeds.
func (s *search) each(seeds int, do func(rank int, half []uint8)) {
	all, err := s.half.Iterate(seeds)
	if err != nil {
		panic(err) // halves of at most awari.MaxSeeds seeds
	}
	for rank, half := range all {
		do(int(rank), half)
	}
}

// capture is the seeds that a move which ends in a pit of the opponent takes from his halves.
type capture struct {
	quiet  []uint64 // the halves from which it takes nothing
	taken  []taken  // by rank
	counts [maxCapture + 1]bool
}

// taken is the seeds that are taken from a half, and the rank of the half that is left.
type taken uint32

// Three seeds of each pit are the most that a move captures.
const (
	maxCapture = 3 * awari.MaxPits / 2
	rankBits   = 27
)

func (t taken) seeds() int { return int(t >> rankBits) }
func (t taken) rank() int  { return int(t & (1<<rankBits - 1)) }

// captureOf returns the capture of a move that ends in pit last, from halves of total seeds.
func (s *search) captureOf(total, last int) *capture {
	c := &s.tables.captures[total][last]
	if c.quiet != nil {
		return c
	}
	size := int(s.half.Size(total))
	c.quiet, c.taken = make([]uint64, bitset.Words(size)), make([]taken, size)
	var left [awari.MaxPits / 2]uint8
	s.each(total, func(rank int, half []uint8) {
		first, seeds := halves.Chain(half, last, s.game.Rules())
		if seeds == 0 {
			c.quiet[rank/64] |= 1 << (rank % 64)
			return
		}
		copy(left[:], half)
		clear(left[first : last+1])
		c.counts[seeds] = true
		c.taken[rank] = taken(seeds)<<rankBits | taken(s.half.Rank(left[:s.q]))
	})
	return c
}

// tableBytes returns the memory that all tables take in the end.
func (s *search) tableBytes() (bytes uint64) {
	for seeds := range s.n + 1 {
		size := s.half.Size(seeds)
		bytes += size * uint64(s.q) * 2 * moveBytes // a list that grows is there twice
		bytes += size * uint64(s.q) * 4
		bytes += (size/8 + 8) * uint64(s.q+seeds+1)
	}
	return bytes
}

// playBytes returns the most memory that a play takes for sets, setBytes the memory of all sets.
func (s *search) playBytes() (most uint64) {
	for own := range s.n + 1 {
		b := s.newBlock(s.n, own)
		x := 8 * uint64(b.columns*b.turnedStride())
		most = max(most, x+8*uint64(b.todo.size))
		for given := range own + 1 {
			to := s.n - own + given
			bytes := x + 16*uint64(s.newBlock(s.n, to).reached.size)
			for seeds := 2; seeds <= min(maxCapture, to-1); seeds++ {
				bytes += 8 * uint64(s.newBlock(s.n-seeds, to-seeds).reached.size)
			}
			most = max(most, bytes)
		}
	}
	return most
}

func (s *search) setBytes() (bytes uint64) {
	turned := uint64(0)
	for n := range s.n + 1 {
		for own := range n + 1 {
			b := s.newBlock(n, own)
			bytes += 8 * uint64(b.reached.size)
			if n == s.n {
				bytes += 8 * uint64(b.todo.size)
				turned = max(turned, 8*uint64(b.columns*b.turnedStride()))
			}
		}
	}
	return bytes + turned
}
