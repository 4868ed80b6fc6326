package census

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"

	"grenier/io/memory"
	"grenier/kernels/boards"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/internal/parts"
)

// CountAccessible returns how many boards of each layer, from 0 seeds up, play can lead to
// from start by one move or more, with so many workers and at most that many bytes of memory,
// 0 for any number. It takes a bit for each board of all layers up to that of start, and one
// more for each of the largest. It fails with a memory.Error or with the error of ctx.
func CountAccessible(ctx context.Context, game awari.Game, start awari.Board, workers int, allowed uint64) ([]uint64, error) {
	top := start.Seeds()
	s := &accessible{game: game, workers: workers, layers: make([]*boards.Layer, top+1), reached: make([]bitset, top+1)}
	data := uint64(0)
	for n := range s.layers {
		layer, err := boards.For(cpu.Best(), game.Pits(), n)
		if err != nil {
			return nil, err
		}
		s.layers[n] = layer
		data += layer.Size() / 8
	}
	data += s.layers[top].Size() / 8
	if err := memory.Check(fmt.Sprintf("the search from %d seeds", top), data, allowed); err != nil {
		return nil, err
	}
	for n, layer := range s.layers {
		s.reached[n] = make(bitset, (layer.Size()+63)/64)
	}
	s.todo = make(bitset, len(s.reached[top]))
	ranks := []uint64{0}
	s.layers[top].Rank(ranks, start[:game.Pits()])
	s.todo.add(ranks[0])
	counts := make([]uint64, top+1)
	for n := top; ; n-- {
		if err := s.layer(ctx, n); err != nil {
			return nil, err
		}
		for _, word := range s.reached[n] {
			counts[n] += uint64(bits.OnesCount64(word))
		}
		if n == 0 {
			return counts, nil
		}
		s.reached[n] = nil
		s.todo = s.todo[:len(s.reached[n-1])]
		copy(s.todo, s.reached[n-1])
	}
}

// bitset is a set of ranks that workers share.
type bitset []uint64

// add adds a rank and reports whether it is new.
func (b bitset) add(rank uint64) bool {
	mask := uint64(1) << (rank % 64)
	word := &b[rank/64]
	return atomic.LoadUint64(word)&mask == 0 && atomic.OrUint64(word, mask)&mask == 0
}

// accessible is a search from the layer of the start down. A layer is done before the next
// one begins, as no move adds seeds.
type accessible struct {
	game    awari.Game
	workers int
	layers  []*boards.Layer
	reached []bitset // by layer
	todo    bitset   // boards of the layer whose moves are not played yet
}

// layer plays all moves from the boards of layer n that are reached, or to do.
func (s *accessible) layer(ctx context.Context, n int) error {
	players := make([]player, max(1, s.workers))
	for more := true; more; {
		err := parts.Each(ctx, s.workers, uint64(len(s.todo)), func(worker int, from, to uint64) error {
			return players[worker].play(ctx, s, n, int(from), int(to))
		})
		if err != nil {
			return err
		}
		more = false
		for i := range players {
			more = more || players[i].found
			players[i].found = false
		}
	}
	return nil
}

// player plays the moves of the boards of a worker.
type player struct {
	ranks    []uint64
	boards   []uint8
	children []uint8 // of quiet moves
	found    bool    // a board that is new and has to be played
}

// play plays the boards to do of the words from to to-1, in blocks.
func (p *player) play(ctx context.Context, s *accessible, n, from, to int) error {
	for w := from; w < to; w++ {
		if atomic.LoadUint64(&s.todo[w]) == 0 && w+1 < to { // others may add to it: then there is another sweep
			continue
		}
		for word := atomic.SwapUint64(&s.todo[w], 0); word != 0; word &= word - 1 {
			p.ranks = append(p.ranks, uint64(w)*64+uint64(bits.TrailingZeros64(word)))
		}
		if len(p.ranks) < blockSize && w+1 < to {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.block(s, n); err != nil {
			return err
		}
	}
	return nil
}

// block plays the boards of p.ranks.
func (p *player) block(s *accessible, n int) error {
	pits := s.game.Pits()
	p.boards = append(p.boards[:0], make([]uint8, len(p.ranks)*pits)...)
	if err := s.layers[n].Unrank(p.boards, p.ranks); err != nil {
		return err
	}
	p.children = p.children[:0]
	for rest := p.boards; len(rest) > 0; rest = rest[pits:] {
		var b awari.Board
		copy(b[:], rest[:pits])
		plays := s.game.Plays(b)
		for i := range plays[:s.game.Half()] {
			switch play := &plays[i]; {
			case !play.Legal:
			case play.Captured == 0:
				p.children = append(p.children, play.Child[:pits]...)
			default:
				var rank [1]uint64
				left := n - play.Captured
				s.layers[left].Rank(rank[:], play.Child[:pits])
				s.reached[left].add(rank[0])
			}
		}
	}
	count := len(p.children) / pits
	p.ranks = append(p.ranks[:0], make([]uint64, count)...)
	s.layers[n].Rank(p.ranks, p.children)
	for _, rank := range p.ranks {
		if s.reached[n].add(rank) {
			s.todo.add(rank)
			p.found = true
		}
	}
	p.ranks = p.ranks[:0]
	return nil
}
