package halfboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"grenier/io/workfile"
	"grenier/kernels/planes"
)

// paged is what a tile has besides when its layer does not fit into memory.
type paged struct {
	runs   [][]int8 // its scores, whole pages; of a full tile, first its offers
	bytes  int64
	scores workfile.Extent // zero: all are 0, or those of a full tile are not computed
	offers workfile.Extent // lz4
	packed []byte          // the offers of an open tile, while they are in memory
	place  int             // in the order in which tiles are stored: those needed together are neighbours
	here   bool            // in memory
	dirty  bool            // memory is newer than what is stored
	used   int             // the last turn of the store that needed it
	met    int             // the last group that was to have it
}

// A store keeps tiles within a budget of memory. Their addresses stay the same, so
// kernels need not know: the system has back the pages of tiles that are away. What is
// needed next is held, as a whole; for that, the tiles that were needed longest ago go.
//
// It is not safe for concurrent use, but works with several goroutines itself, more than
// there are processors: some wait for the disk while others pack and unpack.
type store struct {
	file    *workfile.File
	limit   int64 // bytes
	free    int64
	present []*tile
	turn    int
	feeders int
	packers sync.Pool
	traffic traffic
	before  Paging // of the runs before

	mu      sync.Mutex
	live    int64 // bytes stored
	dropped int64 // and not needed any more, since the last commit
}

// traffic is what has gone through a store.
type traffic struct {
	fetched, saved                atomic.Int64 // bytes of memory
	read, written                 atomic.Int64 // bytes of the file
	reading, writing              atomic.Int64 // nanoseconds of goroutines
	unpacking, packing, computing atomic.Int64
}

// taken returns what has gone through the store, in the runs before too.
func (s *store) taken() Paging {
	t := &s.traffic
	bytes := func(n *atomic.Int64) uint64 { return uint64(n.Load()) }
	took := func(n *atomic.Int64) time.Duration { return time.Duration(n.Load()) }
	p := Paging{
		Fetched: bytes(&t.fetched), Saved: bytes(&t.saved), Read: bytes(&t.read), Written: bytes(&t.written),
		File: uint64(s.file.Size()), Reading: took(&t.reading), Unpacking: took(&t.unpacking),
		Computing: took(&t.computing), Packing: took(&t.packing), Writing: took(&t.writing),
	}
	return p.plus(s.before)
}

// plus returns what was taken before p, too.
func (p Paging) plus(b Paging) Paging {
	p.Fetched, p.Saved = p.Fetched+b.Fetched, p.Saved+b.Saved
	p.Read, p.Written = p.Read+b.Read, p.Written+b.Written
	p.Reading, p.Unpacking, p.Computing = p.Reading+b.Reading, p.Unpacking+b.Unpacking, p.Computing+b.Computing
	p.Packing, p.Writing = p.Packing+b.Packing, p.Writing+b.Writing
	return p
}

// lap adds the time since start to sum and returns the time.
func lap(sum *atomic.Int64, start time.Time) time.Time {
	now := time.Now()
	sum.Add(int64(now.Sub(start)))
	return now
}

// feedersOfWorker is how many goroutines read and write for each worker: disks want many
// requests at a time.
const feedersOfWorker = 8

func newStore(limit int64, workers int, kernel planes.Kernel) *store {
	s := &store{limit: limit, free: limit, feeders: feedersOfWorker * workers}
	s.packers.New = func() any { return &packer{planes: kernel} }
	return s
}

// parcelSize is about the number of packed bytes that are read or written at once.
const parcelSize = 256 << 10

// hold brings tiles into memory, where they stay until other ones are held.
func (s *store) hold(ctx context.Context, tiles []*tile) error {
	s.turn++
	var missing []*tile
	need, all := int64(0), int64(0)
	for _, t := range tiles {
		t.used = s.turn
		if !t.here {
			missing = append(missing, t)
			need += t.bytes
		}
		all += t.bytes
	}
	if all > s.limit {
		return fmt.Errorf("%w: %d bytes are needed at once, %d are left for them", ErrMemory, all, s.limit)
	}
	if err := s.makeRoom(ctx, need); err != nil {
		return err
	}
	return s.fetch(ctx, missing)
}

// spareShare is the part of memory that is made free at least, when any has to be.
const spareShare = 32

// makeRoom lets tiles go until need bytes are free.
func (s *store) makeRoom(ctx context.Context, need int64) error {
	if s.free >= need {
		return nil
	}
	need = max(need, s.limit/spareShare) // to sort seldom
	slices.SortFunc(s.present, func(a, b *tile) int { return cmp.Compare(b.used, a.used) })
	stay, room := len(s.present), s.free
	for room < need && stay > 0 && s.present[stay-1].used < s.turn {
		stay--
		room += s.present[stay].bytes
	}
	return s.letGo(ctx, stay)
}

// letGo puts away the tiles present from index stay on.
func (s *store) letGo(ctx context.Context, stay int) error {
	leaving := s.present[stay:]
	if err := s.save(ctx, leaving); err != nil {
		return err
	}
	release(joined(runsOf(leaving)))
	for _, t := range leaving {
		t.here = false
		s.free += t.bytes
	}
	clear(leaving)
	s.present = s.present[:stay]
	return nil
}

// save stores those of tiles of which memory is newer.
func (s *store) save(ctx context.Context, tiles []*tile) error {
	dirty := slices.DeleteFunc(slices.Clone(tiles), func(t *tile) bool { return !t.dirty })
	slices.SortFunc(dirty, func(a, b *tile) int { return cmp.Compare(a.place, b.place) })
	return forEach(ctx, s.feeders, parcels(dirty), func(_, _ int, part []*tile) error {
		p := s.packers.Get().(*packer)
		defer s.packers.Put(p)
		p.reset()
		start := time.Now()
		lengths := make([]int, len(part))
		for i, t := range part {
			lengths[i] = p.scores(t.runs)
		}
		lap(&s.traffic.packing, start)
		return s.put(p.packed, lengths, func(i int, e workfile.Extent) {
			t := part[i]
			s.drop(t.scores)
			t.scores, t.dirty = e, false
			s.traffic.saved.Add(t.bytes)
		})
	})
}

// put writes packed parts of the given lengths and tells where each of them is.
func (s *store) put(packed []byte, lengths []int, done func(i int, e workfile.Extent)) error {
	start := time.Now()
	extents, err := s.file.PutAll(packed, lengths)
	if err != nil {
		return err
	}
	lap(&s.traffic.writing, start)
	s.traffic.written.Add(int64(len(packed)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live += int64(len(packed))
	for i, e := range extents {
		done(i, e)
	}
	return nil
}

// drop says that an extent is not needed any more. The mutex is held.
func (s *store) drop(e workfile.Extent) {
	s.file.Drop(e)
	s.live -= int64(e.Length)
	s.dropped += int64(e.Length)
}

// parcels cuts tiles into runs that are written together.
func parcels(tiles []*tile) (parts [][]*tile) {
	begin, bytes := 0, int64(0)
	for i, t := range tiles {
		if bytes += t.bytes; bytes >= 2*parcelSize || i == len(tiles)-1 { // scores pack to half
			parts = append(parts, tiles[begin:i+1])
			begin, bytes = i+1, 0
		}
	}
	return parts
}

// fetch brings tiles in for which there is room.
func (s *store) fetch(ctx context.Context, tiles []*tile) error {
	before := len(s.present)
	s.present = slices.Grow(s.present, len(tiles))
	for _, t := range tiles {
		s.free -= t.bytes
		t.here = true
		s.present = append(s.present, t)
	}
	err := s.get(ctx, tiles, (*tile).extent, func(p *packer, t *tile, packed []byte) error {
		s.traffic.fetched.Add(t.bytes)
		if t.scores.IsZero() {
			return unpackOffers(t.runs, packed)
		}
		return p.unpackScores(t.runs, packed)
	})
	if err != nil {
		return errors.Join(err, s.letGo(ctx, before)) // some of them are not there, or in part
	}
	return nil
}

// ahead has the file read what holding tiles will take, and their offers, as far as limit
// bytes go.
func (s *store) ahead(tiles, offers []*tile, limit int64) {
	var extents []workfile.Extent
	add := func(e workfile.Extent) {
		if limit -= int64(e.Length); limit >= 0 && !e.IsZero() {
			extents = append(extents, e)
		}
	}
	for _, t := range offers {
		if t.packed == nil {
			add(t.offers)
		}
	}
	for _, t := range tiles {
		if !t.here {
			add(t.extent())
		}
	}
	slices.SortFunc(extents, func(a, b workfile.Extent) int { return cmp.Compare(a.Offset, b.Offset) })
	s.file.Ahead(extents)
}

// extent is what is to be read to bring a tile in, zero if nothing.
func (t *tile) extent() workfile.Extent {
	if t.scores.IsZero() && t.class == fullRows {
		return t.offers
	}
	return t.scores
}

// get reads an extent for each of tiles, together where they are neighbours, and has
// them unpacked.
func (s *store) get(ctx context.Context, tiles []*tile, of func(*tile) workfile.Extent, unpack func(*packer, *tile, []byte) error) error {
	stored := slices.DeleteFunc(slices.Clone(tiles), func(t *tile) bool { return of(t).IsZero() })
	slices.SortFunc(stored, func(a, b *tile) int { return cmp.Compare(of(a).Offset, of(b).Offset) })
	return forEach(ctx, s.feeders, neighbours(stored, of), func(_, _ int, part []*tile) error {
		p := s.packers.Get().(*packer)
		defer s.packers.Put(p)
		start := time.Now()
		var extents []workfile.Extent
		for _, t := range part {
			extents = append(extents, of(t))
		}
		packed, err := s.file.GetAll(extents, p.packed)
		if err != nil {
			return err
		}
		start = lap(&s.traffic.reading, start)
		s.traffic.read.Add(int64(len(packed)))
		p.packed = packed
		for i, t := range part {
			n := extents[i].Length
			if err := unpack(p, t, packed[:n]); err != nil {
				return err
			}
			packed = packed[n:]
		}
		lap(&s.traffic.unpacking, start)
		return nil
	})
}

// neighbours cuts tiles, sorted by where their extents are, into runs that can be read
// together.
func neighbours(tiles []*tile, of func(*tile) workfile.Extent) (parts [][]*tile) {
	begin, bytes := 0, int64(0)
	for i, t := range tiles {
		e := of(t)
		bytes += int64(e.Length)
		last := i == len(tiles)-1
		if last || bytes >= parcelSize || of(tiles[i+1]).Offset > e.Offset+int64(e.Length)+workfile.MaxGap {
			parts = append(parts, tiles[begin:i+1])
			begin, bytes = i+1, 0
		}
	}
	return parts
}

// runsOf lists the memory of tiles.
func runsOf(tiles []*tile) (runs [][]int8) {
	for _, t := range tiles {
		runs = append(runs, t.runs...)
	}
	return runs
}

// joined returns runs by address, neighbours joined.
func joined(runs [][]int8) [][]int8 {
	slices.SortFunc(runs, comparePages)
	joined := runs[:0]
	for _, r := range runs {
		if last := len(joined) - 1; last >= 0 && adjoins(joined[last], r) {
			joined[last] = unsafe.Slice(unsafe.SliceData(joined[last]), len(joined[last])+len(r))
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

func address(run []int8) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(run))) }

func comparePages(a, b []int8) int { return cmp.Compare(address(a), address(b)) }

// adjoins reports whether b begins where a ends.
func adjoins(a, b []int8) bool { return address(a)+uintptr(len(a)) == address(b) }
