package distance

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
	"grenier/pipeline/distance/internal/piles"
	"grenier/pipeline/internal/marks"
	"grenier/pipeline/internal/parts"
)

// sweeper finds the distances of a layer, in the order of the plies. Its workers look at a piece of the layer at a time, each at another one.
//
// A position of which something becomes known tells those from which quiet moves lead to it: a letter, with its score, goes on the pile of
// their piece (package piles) and is read in the next sweep. To a winner who keeps the score by it the letter of a loser says that his distance is
// known. A loser has it when the last winner has written to whom he can move and keep the score; how many there are he knows because all winners whose
// distance is not known write when the layer is loaded. Letters may be read in any order, as all those of a sweep are before the next one.
type sweeper struct {
	*packed.Rules
	space   *awari.Space
	seeds   int
	size    uint64
	workers int
	grow    func(positions uint64) // is told how many were loaded, or have a distance that became known
	scores  reader
	known   reader // distances that an interrupted run has found; nil if there are none
	dir     vfs.Dir
	room    uint64 // bytes of memory, beyond leastBytes, for what is on disk otherwise

	marks    *marks.Set // winners of whom a capture keeps the score, which verify.Options.Backed has
	cells    cells
	piles    *piles.Set
	shift    int // pieces are 1 << shift positions
	desks    []*desk
	counting bool // letters are of winners whose distance is not known
	done     int  // the last sweep that is complete

	mu           sync.Mutex
	valued, left uint64 // positions with a distance, and those of which it was not known when they were loaded
	longest      int    // of the distances that were known then
}

// reader reads scores, or distances, from a rank on.
type reader func(from uint64, dst []int8) error

// maxShift makes a letter of 32 bits: where in the piece it goes, and 8 bits of score.
const maxShift = 24

// desk is where a worker looks at a piece.
type desk struct {
	*sweeper
	walk
	adder  *piles.Adder
	piece  piece
	fresh  []uint64 // a bit for each position of the piece whose distance is that of the sweep in progress
	scores [parts.Size]int8
	plies  [parts.Size]int8 // that are known, 0 for others
	marked [parts.Size / 8]byte
	sheet  [piles.SheetBytes]byte
	ranks  []uint64
}

// leastBytes returns the memory of sweeps, besides rows and what takes as much for any layer, if the layer is on disk.
func leastBytes(size uint64, workers, shift int) uint64 {
	return uint64(workers)*(pieceBytes(shift)+1<<shift/8) + piles.Bytes(pieces(size, shift), workers)
}

// shiftOf returns the size of pieces that take the least memory.
func shiftOf(size uint64, workers int) int {
	best := pageShift
	for shift := best + 1; shift <= maxShift; shift++ {
		if leastBytes(size, workers, shift) < leastBytes(size, workers, best) {
			best = shift
		}
	}
	return best
}

// pieces returns how many pieces a layer has.
func pieces(size uint64, shift int) int { return int((size + 1<<shift - 1) >> shift) }

// load takes the scores, and distances that are known.
func (s *sweeper) load(ctx context.Context) (err error) {
	s.shift, s.counting = shiftOf(s.size, s.workers), true
	rest, err := s.cells.open(s.dir, s.size, s.room)
	if err != nil {
		return err
	}
	s.piles = piles.New(s.dir, rundir.DistancesName, pieces(s.size, s.shift), s.workers, rest)
	rows, size := newRows(s.space, s.Rules, s.seeds), min(s.size, 1<<s.shift)
	for i := range s.workers {
		s.desks = append(s.desks, &desk{
			sweeper: s, walk: walk{rows: rows, past: s.NewPast()}, adder: s.piles.Adder(i), piece: s.cells.newPiece(size), fresh: make([]uint64, size/64+1),
		})
	}
	return s.pass(ctx, (*desk).load)
}

// pass has workers look at all pieces. The letters that they write are read in the next one.
func (s *sweeper) pass(ctx context.Context, look func(k *desk) error) error {
	err := crew.Each(ctx, s.workers, pieces(s.size, s.shift), func(worker, i int) error {
		k, from := s.desks[worker], uint64(i)<<s.shift
		k.begin(from)
		k.piece.begin(from, min(s.size-from, 1<<s.shift))
		return errors.Join(look(k), k.piece.end(), k.adder.Err())
	})
	if err != nil {
		return err
	}
	return s.piles.Turn()
}

// load begins with the scores of a piece. Winners whose distance is not known write to losers; losers whose distance is known write to winners, as in the
// sweep in which they got it.
func (k *desk) load() error {
	for from := k.piece.from; from < k.piece.to; from += parts.Size {
		to := min(from+parts.Size, k.piece.to)
		if err := k.read(from, to); err != nil {
			return err
		}
		k.grow(to - from)
		for i, score := range k.scores[:to-from] {
			rank, plies := from+uint64(i), byte(k.plies[i])
			if score > 0 && plies == 0 || score < 0 && plies > 0 {
				k.write(rank, score)
			}
			k.piece.set(uint32(rank-k.piece.from), score, plies, k.marked[i/8]>>(i%8)&1)
		}
	}
	return nil
}

// read reads the positions from..to-1, parts.Size at most, and counts them.
func (k *desk) read(from, to uint64) error {
	scores, plies := k.scores[:to-from], k.plies[:to-from]
	err := errors.Join(k.sweeper.scores(from, scores), k.marks.Read(k.marked[:(to-from+7)/8], int64(from/8)))
	if k.known != nil {
		err = errors.Join(err, k.known(from, plies))
	}
	valued, left, longest := uint64(0), uint64(0), 0
	for i, score := range scores {
		if score != 0 {
			valued++
			longest = max(longest, int(uint8(plies[i])))
		}
		if score != 0 && plies[i] == 0 {
			left++
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.valued, k.left, k.longest = k.valued+valued, k.left+left, max(k.longest, longest)
	return err
}

// sweep gives the distance plies to the positions that have it, when all smaller ones are known, and returns how many there are.
func (s *sweeper) sweep(ctx context.Context, plies int) (uint64, error) {
	var found atomic.Uint64
	err := s.pass(ctx, func(k *desk) error {
		err := k.piles.Take(int(k.piece.from>>k.shift), k.sheet[:], k.take)
		if err == nil && k.counting {
			err = k.look()
		}
		if err != nil {
			return err
		}
		n := k.settle(byte(plies))
		found.Add(n)
		k.grow(n)
		return nil
	})
	s.counting = false
	return found.Load(), err
}

// take reads letters.
func (k *desk) take(letters []byte) error {
	p := &k.piece
	for rest := letters; len(rest) > 0; rest = rest[4:] {
		letter := binary.LittleEndian.Uint32(rest)
		at := letter >> 8
		if page := int(at >> pageShift); !p.there[page] {
			if err := p.fetch(page, len(letters) > 4*len(p.there)); err != nil {
				return err
			}
		}
		cell := p.bytes[2*at:][:2]
		switch score := int8(cell[0]); {
		case score != -int8(letter):
		case score > 0:
			cell[1] = 1
			k.add(at)
		case k.counting:
			cell[1]++
		default:
			if cell[1]--; cell[1] == 0 {
				k.add(at)
			}
		}
	}
	return nil
}

// add says that the distance of a position is that of the sweep.
func (k *desk) add(at uint32) { k.fresh[at/64] |= 1 << (at % 64) }

// look finds the positions of a piece that wait for no letter: winners who are backed, and losers no move of whom keeps the score and leads to an
// open winner.
func (k *desk) look() error {
	p := &k.piece
	for at := uint32(0); at < uint32(p.to-p.from); at++ {
		if page := int(at >> pageShift); !p.there[page] {
			if err := p.fetch(page, true); err != nil {
				return err
			}
		}
		score, waits := int8(p.bytes[2*at]), p.bytes[2*at+1]
		if score < 0 && waits == 0 || score > 0 && waits != 0 {
			k.add(at)
		}
	}
	return nil
}

// settle makes the distance of fresh positions known, and returns how many there are.
func (k *desk) settle(plies byte) (found uint64) {
	p := &k.piece
	for w, word := range k.fresh {
		found += uint64(bits.OnesCount64(word))
		for ; word != 0; word &= word - 1 {
			at := uint64(64*w + bits.TrailingZeros64(word))
			k.write(p.from+at, int8(p.bytes[2*at]))
			p.bytes[2*at], p.bytes[2*at+1] = 0, plies
		}
		k.fresh[w] = 0
	}
	return found
}

// write writes letters to the positions from which quiet moves lead to a rank.
func (k *desk) write(rank uint64, score int8) {
	k.ranks = k.before(k.ranks[:0], rank)
	for _, to := range k.ranks {
		k.adder.Add(int(to>>k.shift), uint32(to&(1<<k.shift-1))<<8|uint32(uint8(score)))
	}
}

// copyPlies writes the distances from rank start on to dst, as the signed bytes that a layer file has: those of complete sweeps.
func (s *sweeper) copyPlies(dst []int8, start uint64) error {
	some := make([]byte, 2*len(dst))
	if err := s.cells.read(some, start); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = 0
		if plies := some[2*i+1]; some[2*i] == 0 && int(plies) <= s.done {
			dst[i] = int8(plies)
		}
	}
	return nil
}

// first returns the first rank with a distance that there is.
func (s *sweeper) first(plies int) (uint64, error) {
	some := make([]int8, parts.Size)
	for start := uint64(0); start < s.size; start += parts.Size {
		some = some[:min(parts.Size, s.size-start)]
		if err := s.copyPlies(some, start); err != nil {
			return 0, err
		}
		if i := slices.Index(some, int8(plies)); i >= 0 {
			return start + uint64(i), nil
		}
	}
	return 0, fmt.Errorf("internal error: no distance of layer %d is %d", s.seeds, plies)
}

// close removes what is on disk.
func (s *sweeper) close() error {
	err := errors.Join(s.marks.Close(), s.cells.close())
	if s.piles != nil {
		err = errors.Join(err, s.piles.Close())
	}
	return err
}
