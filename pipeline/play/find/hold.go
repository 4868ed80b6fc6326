package find

import (
	"context"
	"math"
	"runtime"

	"grenier/io/memory"
	"grenier/io/tally"
	"grenier/layers/awari/packed"
	"grenier/pipeline/internal/parts"
)

// hold decodes the layers that are to be in memory while the layer of s is searched, frees the
// others, and divides the rest of the memory among the workers.
func (s *search) hold(ctx context.Context) error {
	room := memory.Room(s.options.Memory) - s.fixed()
	wanted, size := s.fitting(room)
	s.drop(wanted)
	for n, want := range wanted {
		if want && s.held[n] == nil {
			if err := s.decode(ctx, n); err != nil {
				return err
			}
		}
	}
	queue := batchSize * packed.MaxHalf
	s.partSize = pieceSize
	switch {
	case s.options.measures():
		s.partSize = batchSize // a best line takes long
	case !s.all(wanted):
		queue = int(min((room-size)/uint64(s.options.Workers)/perChild, math.MaxUint32/2))
		s.partSize = max(1, uint64(queue/childrenEach)/pieceSize) * pieceSize
	}
	s.makeScanners(queue)
	return nil
}

// measures reports whether the search finds best lines.
func (o *Options) measures() bool { return o.Condition.asked[line] || o.Order.most == line }

// fitting chooses the layers to be in memory, and returns their size: the layer itself first,
// then those below in the order of how often captures lead there. A capture takes two seeds at
// least. If there is no room for all, half of it is for children that wait.
func (s *search) fitting(room uint64) (wanted []bool, size uint64) {
	wanted = make([]bool, len(s.held))
	if s.blind {
		return wanted, 0
	}
	for _, budget := range []uint64{room, room / 2} {
		clear(wanted)
		size = 0
		for n := s.seeds; n >= 0; n-- {
			if k := s.space.Size(n); n != s.seeds-1 && size+k <= budget {
				wanted[n] = true
				size += k
			}
		}
		if s.all(wanted) {
			break
		}
	}
	return wanted, size
}

// all reports whether all layers that are asked for scores are among the wanted.
func (s *search) all(wanted []bool) bool {
	if s.blind {
		return true
	}
	for n := range s.seeds + 1 {
		if !wanted[n] && n != s.seeds-1 {
			return false
		}
	}
	return true
}

// drop frees the layers that are not wanted, and the queues.
func (s *search) drop(wanted []bool) {
	s.scanners = nil
	for n := range s.held {
		if !wanted[n] {
			s.held[n] = nil
		}
	}
	if s.space.Size(s.seeds) >= 1<<18 {
		runtime.GC() // layers are large: have the memory back before taking more
	}
}

// decode brings a layer into memory.
func (s *search) decode(ctx context.Context, n int) error {
	scores := make([]int8, s.space.Size(n))
	memory.Huge(tally.Bytes(scores))
	err := parts.Each(ctx, s.options.Workers, uint64(len(scores)), func(_ int, from, to uint64) error {
		return s.tables.Read(ctx, n, from, scores[from:to])
	})
	if err == nil {
		s.held[n] = scores
	}
	return err
}

// makeScanners makes the workers, and the parts that they share.
func (s *search) makeScanners(queue int) {
	for range s.options.Workers {
		x := &scanner{search: s, row: s.rules.NewRow()}
		x.resize(queue)
		s.scanners = append(s.scanners, x)
	}
	for len(s.parts) < 2*s.options.Workers+2 {
		s.parts = append(s.parts, &part{})
	}
}
