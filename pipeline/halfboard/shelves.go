package halfboard

import (
	"sync"
	"time"

	"grenier/io/workfile"
)

// shelves collects packed offers before they are stored: what is needed together is
// stored together, so by the seeds in the last pit of the opponent; those of the mover
// hardly change from one part to the next.
type shelves struct {
	mu   sync.Mutex
	open map[shelf]*parcel
}

type shelf struct {
	class rowClass
	last  uint8
}

// parcel is what is written together.
type parcel struct {
	packed  []byte
	tiles   []*tile
	lengths []int
}

// add packs the offers of a tile and puts them on a shelf, which is stored when it is full.
func (s *shelves) add(to *store, t *tile, q int, offers [][]int8) error {
	p := to.packers.Get().(*packer)
	defer to.packers.Put(p)
	p.reset()
	start := time.Now()
	n := p.offers(offers)
	lap(&to.traffic.packing, start)
	name := shelf{t.class, t.chunks.suffix[q-1]}
	s.mu.Lock()
	x := s.open[name]
	if x == nil {
		x = &parcel{}
		s.open[name] = x
	}
	x.packed = append(x.packed, p.packed...)
	x.tiles, x.lengths = append(x.tiles, t), append(x.lengths, n)
	full := len(x.packed) >= parcelSize
	if full {
		delete(s.open, name)
	}
	s.mu.Unlock()
	if full {
		return x.store(to)
	}
	return nil
}

// store stores a parcel of offers.
func (x *parcel) store(to *store) error {
	return to.put(x.packed, x.lengths, func(i int, e workfile.Extent) {
		to.drop(x.tiles[i].offers) // of a part that is captured again
		x.tiles[i].offers = e
	})
}

// flush stores what is left on the shelves.
func (s *shelves) flush(to *store) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.open {
		if err := x.store(to); err != nil {
			return err
		}
	}
	clear(s.open)
	return nil
}
