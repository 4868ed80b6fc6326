package workfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/sealed"
	"grenier/io/vfs"
)

// content returns n bytes that depend on seed.
func content(seed uint64, n int) []byte {
	rng := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	b := make([]byte, n)
	rng.Read(b)
	return b
}

func open(t *testing.T, path string) vfs.Dir {
	t.Helper()
	d := must.Get(vfs.OpenDir(path))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

func create(t must.Test, d vfs.Dir, name string) *File {
	t.Helper()
	return must.Get(Create(d, name))(t)
}

func put(t must.Test, f *File, data []byte) Extent {
	t.Helper()
	return must.Get(f.Put(data))(t)
}

func expect(t must.Test, f *File, e Extent, want []byte) {
	t.Helper()
	must.Hold(t, bytes.Equal(must.Get(f.Get(e, nil))(t), want), "%+v: other bytes", e)
}

func commit(t must.Test, f *File, name string, data []byte) {
	t.Helper()
	must.OK(t, f.Commit(name, data))
}

// TestFullDisk fills a disk: what fits later is put into the space of what did not.
func TestFullDisk(t *testing.T) {
	disk := crashfs.New()
	f := create(t, disk.Dir(work), tilesName)
	a, b := content(1, 1000), content(2, 400)
	e := put(t, f, a)
	disk.Limit(1500)
	for range 3 {
		must.Be(t, must.Err(f.Put(a)), syscall.ENOSPC)
		must.Equal(t, f.Used(), 1000, "bytes used")
	}
	eb := put(t, f, b)
	should.Equal(t, eb.Offset, 1000, "put at")
	expect(t, f, eb, b)
	f.Drop(e)
	must.Be(t, f.Commit(checkpointName, make([]byte, 500)), syscall.ENOSPC)
	should.Equal(t, f.Used(), 1400, "bytes used after a commit that failed")
	commit(t, f, checkpointName, make([]byte, 50))
	should.Equal(t, f.Used(), 400, "bytes used")
	should.Equal(t, put(t, f, a).Offset, 0, "put at")
	disk.Limit(3000)
	f.Drop(put(t, f, b))
	commit(t, f, checkpointName, make([]byte, 50))
	should.Be(t, must.Err(f.Put(make([]byte, 3000))), syscall.ENOSPC)
	should.Equal(t, f.Size(), 1400, "bytes, cut behind what is in use")
	should.Equal(t, len(disk.Names()), 2, "left behind")
}

// TestSyncFails fails once: an operating system forgets what it could not write.
func TestSyncFails(t *testing.T) {
	disk := crashfs.New()
	f := create(t, disk.Dir(work), tilesName)
	commit(t, f, checkpointName, []byte("old"))
	e := put(t, f, []byte("text"))
	disk.Fail(failing(crashfs.Sync, syscall.EIO))
	for range 2 {
		should.Be(t, f.Sync(), syscall.EIO)
		should.Be(t, f.Commit(checkpointName, []byte("new")), syscall.EIO)
		disk.Fail(nil)
	}
	should.Equal(t, string(must.Get(vfs.Read(disk.Dir(work), checkpointName, 1<<20))(t)), "old")
	expect(t, f, e, []byte("text"))
}

// pausing is a directory that does something before each rename.
type pausing struct {
	vfs.Dir
	rename func()
}

func (p *pausing) Rename(from, to string) error {
	p.rename()
	return p.Dir.Rename(from, to)
}

// TestDuringCommit uses a file while a checkpoint of it is being written.
func TestDuringCommit(t *testing.T) {
	disk := &pausing{Dir: crashfs.New().Dir(work)}
	f := create(t, disk, tilesName)
	putAt := func(seed uint64, n int, offset int64) {
		t.Helper()
		should.Equal(t, put(t, f, content(seed, n)).Offset, offset, "put at")
	}
	a, b := put(t, f, content(1, 100)), put(t, f, content(2, 50))
	f.Drop(a)
	disk.rename = func() {
		should.Be(t, f.Commit(checkpointName, nil), ErrCommit)
		putAt(3, 100, 150) // the commit is not complete
		f.Drop(b)          // the checkpoint refers to it
		expect(t, f, a, content(1, 100))
		must.Panic(t, func() { f.Drop(a) }, "dropped twice")
	}
	commit(t, f, checkpointName, nil)
	disk.rename = func() {}
	putAt(4, 150, 250)
	putAt(5, 100, 0)
	expect(t, f, b, content(2, 50))
	commit(t, f, checkpointName, nil)
	putAt(6, 50, 100)
}

func TestMisuse(t *testing.T) {
	disk := crashfs.New()
	f := create(t, disk.Dir(work), tilesName)
	e := put(t, f, content(1, 100))
	f.Drop(e)
	must.Panic(t, func() { f.Drop(e) }, "dropped twice")
	commit(t, f, checkpointName, nil)
	must.Panic(t, func() { f.Drop(e) }, "dropped, free")
	must.Panic(t, func() { f.Drop(Extent{Offset: 100, Length: 1}) }, "beyond")
	must.Panic(t, func() { f.Drop(Extent{Offset: -1, Length: 1}) }, "negative")
	must.Panic(t, func() { f.Drop(Extent{Offset: 50}) }, "no bytes")
	for _, bad := range []Extent{{Offset: -1, Length: 1}, {Offset: 100, Length: 1}, {Length: math.MaxUint32},
		{Offset: math.MaxInt64, Length: 1}, {Offset: 50}, {Sum: 1}} {
		should.Be(t, must.Err(f.Get(bad, nil)), corrupt.ErrCorrupt, "%+v", bad)
		should.Be(t, must.Err(f.GetAll([]Extent{e, bad}, nil)), corrupt.ErrCorrupt, "%+v", bad)
	}
	for _, lengths := range [][]int{nil, {1}, {1, 3}, {4}, {-1, 4}, {4, -1}} {
		must.Panic(t, func() { f.PutAll([]byte("abc"), lengths) }, fmt.Sprint(lengths))
	}
	should.Equal(t, f.Used(), 0, "bytes used")

	// Nothing is no misuse, and takes no space.
	size := f.Size()
	should.Equal(t, put(t, f, nil), Extent{})
	should.Equal(t, len(must.Get(f.Get(Extent{}, make([]byte, 5)))(t)), 0)
	f.Drop(Extent{})
	f.Drop(Extent{})
	for _, lengths := range [][]int{nil, {0}, {0, 0}} {
		extents := must.Get(f.PutAll(nil, lengths))(t)
		should.List(t, extents, make([]Extent, len(lengths)))
		should.Equal(t, len(must.Get(f.GetAll(extents, make([]byte, 5)))(t)), 0)
	}
	should.Hold(t, f.Size() == size && f.Used() == 0, "it takes space")
	must.OK(t, f.Close())
	should.Be(t, must.Err(f.Put(content(1, 1))), fs.ErrClosed)
	should.Be(t, must.Err(Open(disk.Dir(work), "missing", nil)), fs.ErrNotExist)
}

// apart puts three pieces, with gaps of some bytes between them, into a file of its own.
func apart(t *testing.T, gap int) (*crashfs.FS, *File, []piece) {
	t.Helper()
	disk := crashfs.New()
	f := create(t, disk.Dir(work), tilesName)
	pieces := must.Get(putAll(f, 1, []int{100, gap, 200, gap, 300}))(t)
	f.Drop(pieces[1].Extent)
	f.Drop(pieces[3].Extent)
	commit(t, f, checkpointName, nil)
	return disk, f, []piece{pieces[0], pieces[2], pieces[4]}
}

// TestGaps: one read passes gaps of up to MaxGap bytes.
func TestGaps(t *testing.T) {
	for gap, want := range map[int]int{0: 1, 1: 1, MaxGap - 1: 1, MaxGap: 1, MaxGap + 1: 3} {
		disk, f, pieces := apart(t, gap)
		reads := 0
		disk.FailReads(func(string) error { reads++; return nil })
		should.OK(t, must.Err(getAll(f, pieces, nil)))
		should.Equal(t, reads, want, "reads past gaps of %d bytes", gap)
	}
}

// TestDamageBehindGaps: only damage to the extents counts, and the first one that is damaged is named, also if the file ends in a gap.
func TestDamageBehindGaps(t *testing.T) {
	for _, gap := range []int64{0, 1000} {
		for name, c := range map[string]struct {
			change func(h vfs.File)
			bad    int // the first piece that is damaged; 3: none
		}{
			"in a gap":               {func(h vfs.File) { h.WriteAt(make([]byte, gap), 100) }, 3},
			"the first":              {func(h vfs.File) { h.WriteAt(make([]byte, 5), 95) }, 0},
			"the second":             {func(h vfs.File) { h.WriteAt(make([]byte, 5), 100+gap) }, 1},
			"the last":               {func(h vfs.File) { h.WriteAt(make([]byte, 5), 300+2*gap) }, 2},
			"the second and last":    {func(h vfs.File) { h.WriteAt(make([]byte, 200+gap), 299+gap) }, 1},
			"it ends in a gap":       {func(h vfs.File) { h.Truncate(100 + gap/2) }, 1},
			"it ends where one does": {func(h vfs.File) { h.Truncate(300 + gap) }, 2},
			"it ends in the last":    {func(h vfs.File) { h.Truncate(500 + 2*gap) }, 2},
			"it ends in the second":  {func(h vfs.File) { h.Truncate(101 + gap) }, 1},
			"it is empty":            {func(h vfs.File) { h.Truncate(0) }, 0},
		} {
			disk, f, pieces := apart(t, int(gap))
			c.change(must.Get(disk.Dir(work).Edit(tilesName))(t))
			should.Be(t, must.Err(getAll(f, pieces[:c.bad], nil)), nil, "%s: the pieces before", name)
			if c.bad == len(pieces) {
				continue
			}
			want := fmt.Sprint("extent at ", pieces[c.bad].Extent.Offset)
			for _, err := range []error{must.Err(getAll(f, pieces, nil)), must.Err(f.Get(pieces[c.bad].Extent, nil))} {
				typed, ok := errors.AsType[*corrupt.Error](err)
				should.Hold(t, ok && typed.File == work+"/"+tilesName && typed.Part == want, "%s: %v, want %s", name, err, want)
			}
		}
	}
}

// TestAllocations reads into the memory that is given.
func TestAllocations(t *testing.T) {
	f := create(t, crashfs.New().Dir(work), tilesName)
	extents := must.Get(f.PutAll(content(1, 3000), []int{1000, 1500, 500}))(t)
	buffer := make([]byte, 3000)
	extents[0], extents[2] = extents[2], extents[0]
	n := testing.AllocsPerRun(100, func() { f.GetAll(extents, buffer) })
	should.Not(t, n > 0, "GetAll allocates %v times", n)
}

func mark(taken []bool, s span, as bool) {
	for i := s.offset; i < s.end(); i++ {
		if taken[i] == as {
			panic("overlap")
		}
		taken[i] = as
	}
}

// gaps returns the runs of free bytes.
func gaps(taken []bool) (all []span) {
	for i := range taken {
		switch {
		case taken[i]:
		case i > 0 && !taken[i-1]:
			all[len(all)-1].length++
		default:
			all = append(all, span{int64(i), 1})
		}
	}
	return all
}

// bestFit returns where n bytes go: the first one of the shortest runs of free bytes that have room, else the last run if it ends at the
// end, else the end.
func bestFit(taken []bool, n int) int {
	best := span{int64(len(taken)), math.MaxInt64}
	for _, gap := range gaps(taken) {
		if gap.length >= int64(n) && gap.length < best.length || best.length == math.MaxInt64 && gap.end() == int64(len(taken)) {
			best = gap
		}
	}
	return int(best.offset)
}

// TestPlace compares where extents go with what place promises.
func TestPlace(t *testing.T) {
	s := newSpace()
	s.take(30, 30)
	s.give(span{10, 10})
	for g, want := range map[span]bool{
		{0, 10}: true, {0, 11}: false, {9, 2}: false, {10, 10}: false, {12, 2}: false, {19, 2}: false, {20, 10}: true,
		{0, 30}: false, {20, 11}: false, {-1, 2}: false, {30, 1}: false,
	} {
		should.Equal(t, s.taken(g), want, "%v is taken", g)
	}
	divided := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 0))
		s := newSpace()
		var taken []bool
		var live []span
		for round := range 100 {
			for range rng.IntN(60) {
				if len(live) > 0 {
					i := rng.IntN(len(live))
					s.give(live[i])
					mark(taken, live[i], false)
					live = slices.Delete(live, i, i+1)
				}
			}
			extents := make([]Extent, rng.IntN(40))
			total, longest, most := 0, 0, 1+rng.IntN(20)
			for i := range extents {
				n := rng.IntN(most)
				extents[i].Length = uint32(n)
				total, longest = total+n, max(longest, n)
			}
			longestGap, end := 0, len(taken)
			for _, gap := range gaps(taken) {
				longestGap = max(longestGap, int(gap.length))
			}
			before := slices.Clone(taken)
			s.place(extents)
			var runs []int // where they begin
			next := int64(-1)
			for _, e := range extents {
				must.Not(t, e.Length == 0 && !e.IsZero(), "seed %d: %+v", seed, e)
				if e.Length > 0 {
					if e.Offset != next {
						runs = append(runs, int(e.Offset))
					}
					next = e.span().end()
					taken = append(taken, make([]bool, max(0, int(next)-len(taken)))...)
					mark(taken, e.span(), true)
					live = append(live, e.span())
				}
			}
			switch count := len(runs); {
			case longestGap >= total || longestGap < max(longest, total/mostGaps):
				want := bestFit(before, total)
				must.Not(t, total > 0 && (count != 1 || runs[0] != want), "seed %d: %v; want one run at %d", seed, extents, want)
			case count > 2*(mostGaps+1): // two runs fill at least one gap
				t.Fatalf("seed %d: %d runs", seed, count)
			case len(taken)-end >= total-(longestGap-longest):
				t.Fatalf("seed %d: a gap of %d bytes is not used for %v", seed, longestGap, extents)
			default:
				divided++
			}
			for i := round % 10; i < len(taken); i += 10 {
				must.Equal(t, s.taken(span{int64(i), 1}), taken[i], "seed %d: byte %d is taken", seed, i)
			}
			free := slices.DeleteFunc(slices.Clone(taken), func(b bool) bool { return b })
			must.Hold(t, s.end == int64(len(taken)) && s.free() == int64(len(free)),
				"seed %d: %d of %d bytes free, want %d of %d", seed, s.free(), s.end, len(free), len(taken))
		}
	}
	should.Not(t, divided < 300, "divided %d times", divided)
}

// Used returns the number of bytes in extents that are in use, or dropped but not
// free yet. Those that are being written count already; Size may not know them.
func (f *File) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.space.end - f.space.free()
}

// free returns the bytes in the gaps.
func (s *space) free() (bytes int64) {
	s.byOffset.Ascend(func(gap span) bool {
		bytes += gap.length
		return true
	})
	return bytes
}

type model struct {
	disk      *crashfs.FS
	f         *File
	live      []piece
	dropped   []piece // since the last Commit
	committed []piece // that the checkpoint refers to
}

// TestModel does all operations of a solver in any order.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{disk: crashfs.New()}
		m.f = create(t, m.disk.Dir(work), tilesName)
		t.Repeat(map[string]func(*rapid.T){
			"":       func(t *rapid.T) { m.check(t) },
			"put":    m.put,
			"putAll": m.putAll,
			"full":   m.full,
			"get":    m.get,
			"getAll": m.getAll,
			"drop":   m.drop,
			"commit": m.commit,
			"fail":   m.fail,
			"reopen": m.reopen,
		})
	})
}

func (m *model) check(t must.Test) {
	used, end := int64(0), int64(0)
	for _, p := range slices.Concat(inRuns(slices.Concat(m.live, m.dropped))...) {
		used += int64(p.Extent.Length)
		must.Not(t, p.Extent.Offset < end, "%+v overlaps what ends at %d", p.Extent, end)
		end = p.Extent.Offset + int64(p.Extent.Length)
	}
	must.Hold(t, m.f.Used() == used && m.f.Size() >= used, "%d bytes used of %d; want %d", m.f.Used(), m.f.Size(), used)
	for _, p := range m.committed {
		expect(t, m.f, p.Extent, p.content())
	}
}

func (m *model) put(t *rapid.T) {
	n := rapid.IntRange(1, 3000).Draw(t, "bytes")
	seed := rapid.Uint64().Draw(t, "seed")
	m.live = append(m.live, piece{put(t, m.f, content(seed, n)), seed})
}

func (m *model) putAll(t *rapid.T) {
	lengths := rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 8).Draw(t, "lengths")
	before := m.disk.Ops()
	pieces := must.Get(putAll(m.f, rapid.Uint64().Draw(t, "seed"), lengths))(t)
	pieces = slices.DeleteFunc(pieces, func(p piece) bool { return p.Extent.IsZero() })
	// One write for each run in this order: a later part may lie just behind an earlier one.
	writes := m.disk.Ops() - before
	must.Hold(t, writes == len(divide(pieces)), "%d writes of %v", writes, pieces)
	m.live = append(m.live, pieces...)
}

func (m *model) full(t *rapid.T) {
	m.disk.Limit(m.f.Size() + rapid.Int64Range(0, 100).Draw(t, "room"))
	n := rapid.IntRange(1, 300).Draw(t, "bytes")
	_, err := putAll(m.f, 0, slices.Repeat([]int{n}, int(m.f.Size()+200)/n+1))
	m.disk.Limit(-1)
	must.Be(t, err, syscall.ENOSPC)
}

func (m *model) get(t *rapid.T) {
	if all := slices.Concat(m.live, m.dropped); len(all) > 0 {
		p := rapid.SampledFrom(all).Draw(t, "piece")
		buffer := make([]byte, 7, 1000)
		got, err := m.f.Get(p.Extent, buffer)
		must.Hold(t, err == nil && bytes.Equal(got, p.content()), "%+v: %v", p, err)
		must.Not(t, len(got) <= cap(buffer) && &got[0] != &buffer[0], "the memory given was not used")
	}
}

func (m *model) getAll(t *rapid.T) {
	all := slices.Concat(m.live, m.dropped)
	if len(all) == 0 {
		return
	}
	if rapid.Bool().Draw(t, "sorted") {
		all = slices.Concat(inRuns(all)...)
	}
	some := all[rapid.IntRange(0, len(all)-1).Draw(t, "first"):]
	some = some[:rapid.IntRange(1, len(some)).Draw(t, "pieces")]
	some = slices.Insert(slices.Clone(some), rapid.IntRange(0, len(some)).Draw(t, "zero"), piece{})
	buffer := make([]byte, 7, rapid.IntRange(7, 20_000).Draw(t, "memory"))
	got := must.Get(getAll(m.f, some, buffer))(t)
	must.Not(t, memory(some) <= cap(buffer) && &got[0] != &buffer[0], "the memory given was not used")
}

// memory returns the bytes that it takes to read pieces at once: the pieces that were read before, and the run being read, with its gaps.
func memory(pieces []piece) (most int) {
	var begin, end, before, sum int64
	for i, p := range slices.DeleteFunc(slices.Clone(pieces), func(p piece) bool { return p.Extent.IsZero() }) {
		if at := p.Extent.Offset; i == 0 || at < end || at > end+MaxGap {
			begin, before = at, sum
		}
		end = p.Extent.Offset + int64(p.Extent.Length)
		sum += int64(p.Extent.Length)
		most = max(most, int(before+end-begin))
	}
	return most
}

func (m *model) drop(t *rapid.T) {
	if len(m.live) > 0 {
		i := rapid.IntRange(0, len(m.live)-1).Draw(t, "piece")
		m.f.Drop(m.live[i].Extent)
		m.dropped = append(m.dropped, m.live[i])
		m.live = slices.Delete(m.live, i, i+1)
	}
}

func (m *model) commit(t *rapid.T) {
	commit(t, m.f, checkpointName, []byte("checkpoint"))
	m.committed, m.dropped = slices.Clone(m.live), nil
}

func (m *model) fail(t *rapid.T) {
	m.disk.Fail(failing(rapid.SampledFrom([]crashfs.Op{crashfs.Create, crashfs.Rename, crashfs.SyncDir}).Draw(t, "failing"), syscall.EIO))
	must.Be(t, m.f.Commit(checkpointName, nil), syscall.EIO)
	m.disk.Fail(nil)
}

func (m *model) reopen(t *rapid.T) {
	must.OK(t, m.f.Close())
	m.f = must.Get(Open(m.disk.Dir(work), tilesName, extentsOf(m.committed)))(t)
	m.live, m.dropped = slices.Clone(m.committed), nil
}

// TestConcurrent lets workers replace pieces of their own while checkpoints are written.
func TestConcurrent(t *testing.T) {
	const workers, rounds = 4, 300
	f := create(t, open(t, t.TempDir()), tilesName)
	defer f.Close()
	live := make([][]piece, workers)
	var working, committing sync.WaitGroup
	var stopped atomic.Bool
	committing.Go(func() {
		for n := 0; !stopped.Load(); n++ {
			should.OK(t, f.Commit(checkpointName, fmt.Append(nil, n)))
		}
	})
	for w := range workers {
		working.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 0))
			var buffer []byte
			for range rounds {
				if len(live[w]) > 10 {
					i := rng.IntN(len(live[w]) - 3)
					some := inRuns(live[w][i : i+3])[0]
					var err error
					buffer, err = getAll(f, some, buffer)
					should.OK(t, err)
					for _, p := range some {
						f.Drop(p.Extent)
					}
					live[w] = slices.DeleteFunc(live[w], func(p piece) bool { return slices.Contains(some, p) })
				}
				lengths := make([]int, 1+rng.IntN(3))
				for i := range lengths {
					lengths[i] = 1 + rng.IntN(5000)
				}
				pieces, err := putAll(f, rng.Uint64(), lengths)
				should.OK(t, err)
				live[w] = append(live[w], pieces...)
			}
		})
	}
	working.Wait()
	stopped.Store(true)
	committing.Wait()
	commit(t, f, checkpointName, nil)
	(&model{f: f, live: slices.Concat(live...), committed: slices.Concat(live...)}).check(t)
}

// FuzzOpen opens a file with lists of extents: two bytes of offset, one of length for each.
func FuzzOpen(f *testing.F) {
	const size = 300
	f.Add([]byte{0, 0, 10, 0, 10, 10})
	f.Add([]byte{0, 0, 11, 0, 10, 10})
	f.Add([]byte{0, 0, 10, 0, 0, 0, 0, 10, 10})
	f.Add([]byte{1, 40, 4, 0, 0, 0})
	f.Add([]byte{1, 40, 5})
	f.Add([]byte{0xff, 0xff, 5})
	f.Fuzz(func(t *testing.T, list []byte) {
		disk := crashfs.New()
		put(t, create(t, disk.Dir(work), tilesName), make([]byte, size))
		var live []Extent
		var taken [size]bool
		good, used := true, int64(0)
		for ; len(list) >= 3; list = list[3:] {
			e := Extent{Offset: int64(int16(uint16(list[0])<<8 | uint16(list[1]))), Length: uint32(list[2])}
			live = append(live, e)
			used += int64(e.Length)
			good = good && (e.Length > 0 || e.IsZero())
			for i := e.Offset; i < e.Offset+int64(e.Length); i++ {
				if i < 0 || i >= size || taken[i] {
					good = false
				} else {
					taken[i] = true
				}
			}
		}
		given := slices.Clone(live)
		file, err := Open(disk.Dir(work), tilesName, live)
		must.List(t, live, given, "the list was changed")
		if !good {
			must.Be(t, err, corrupt.ErrCorrupt, "%v", live)
			return
		}
		must.OK(t, err)
		must.Hold(t, file.Used() == used && file.Size() == size, "%v: %d bytes used of %d", live, file.Used(), file.Size())
		for file.Size() == size { // fills the gaps
			e := put(t, file, []byte{1})
			must.Not(t, e.Offset < size && taken[e.Offset], "%v: put at %d", live, e.Offset)
		}
		must.Hold(t, file.Used() == size+1, "%v: %d bytes used", live, file.Used())
	})
}

const (
	work           = "work"
	tilesName      = "tiles"
	checkpointName = "checkpoint"
	kind           = "test"
)

// checkpoint is committed by the solver of these tests.
type checkpoint struct {
	Number int
	Pieces map[int]piece
}

type piece struct {
	Extent Extent
	Seed   uint64
}

func (p piece) content() []byte { return content(p.Seed, int(p.Extent.Length)) }

// putAll puts pieces of some lengths at once. Their seeds are seed and those after.
func putAll(f *File, seed uint64, lengths []int) ([]piece, error) {
	var data []byte
	for i, n := range lengths {
		data = append(data, content(seed+uint64(i), n)...)
	}
	extents, err := f.PutAll(data, lengths)
	if err != nil {
		if extents != nil {
			err = fmt.Errorf("%v in spite of %v", extents, err)
		}
		return nil, err
	}
	pieces := make([]piece, len(lengths))
	for i, n := range lengths {
		e := extents[i]
		if int(e.Length) != n || n == 0 && !e.IsZero() {
			return nil, fmt.Errorf("%+v is the extent of %d bytes", e, n)
		}
		pieces[i] = piece{e, seed + uint64(i)}
	}
	return pieces, nil
}

func getAll(f *File, pieces []piece, buffer []byte) ([]byte, error) {
	var want []byte
	for _, p := range pieces {
		want = append(want, p.content()...)
	}
	got, err := f.GetAll(extentsOf(pieces), buffer)
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("%v: other bytes", pieces)
	}
	return got, err
}

func extentsOf(pieces []piece) (all []Extent) {
	for _, p := range pieces {
		all = append(all, p.Extent)
	}
	return all
}

// inRuns sorts pieces by offset and divides them where one does not follow the one before.
func inRuns(pieces []piece) [][]piece {
	sorted := slices.Clone(pieces)
	slices.SortFunc(sorted, func(a, b piece) int { return cmp.Compare(a.Extent.Offset, b.Extent.Offset) })
	return divide(sorted)
}

// divide divides pieces where one does not follow the one before.
func divide(pieces []piece) (runs [][]piece) {
	start := 0
	for i := 1; i <= len(pieces); i++ {
		if i == len(pieces) || pieces[i].Extent.Offset != pieces[i-1].Extent.Offset+int64(pieces[i-1].Extent.Length) {
			runs = append(runs, pieces[start:i])
			start = i
		}
	}
	return runs
}

// solver is a program that works with a file until the file system crashes.
type solver struct {
	disk      *crashfs.FS
	f         *File
	now       checkpoint
	begun     int // number of the last checkpoint that was begun
	committed int // and of the last one that Commit said was made
}

// resume opens the file that is there, reads and compares it, and continues.
func resume(disk *crashfs.FS) (*solver, error) {
	s := &solver{disk: disk, now: checkpoint{Pieces: map[int]piece{}}}
	data, err := vfs.Read(disk.Dir(work), checkpointName, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		s.f, err = Create(disk.Dir(work), tilesName)
		return s, err
	}
	if err != nil {
		return s, err
	}
	_, payload, err := sealed.Unseal(checkpointName, kind, 1, data)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(payload, &s.now); err != nil {
		return s, err
	}
	s.begun, s.committed = s.now.Number, s.now.Number
	pieces := slices.Collect(maps.Values(s.now.Pieces))
	if s.f, err = Open(disk.Dir(work), tilesName, extentsOf(pieces)); err != nil {
		return s, err
	}
	_, err = getAll(s.f, pieces, nil)
	return s, err
}

func (s *solver) work(steps int, rng *rand.Rand) (err error) {
	for ; err == nil && steps > 0; steps-- {
		err = s.step(rng)
	}
	return err
}

func (s *solver) step(rng *rand.Rand) error {
	switch x := rng.IntN(10); {
	case x == 0:
		return s.commit()
	case x == 1:
		return s.f.Sync()
	case x == 3:
		return s.failToCommit([]crashfs.Op{crashfs.Create, crashfs.Rename, crashfs.SyncDir}[rng.IntN(3)])
	case x == 4:
		return s.fillDisk(rng.Int64N(1000))
	default: // replaces or removes pieces
		numbers := rng.Perm(5)[:1]
		if x >= 8 {
			numbers = rng.Perm(8)[:1+rng.IntN(8)]
		}
		var lengths []int
		for _, i := range numbers {
			if p, ok := s.now.Pieces[i]; ok {
				s.f.Drop(p.Extent)
				delete(s.now.Pieces, i)
			}
			lengths = append(lengths, rng.IntN(1500))
		}
		if x == 2 {
			return nil
		}
		pieces, err := putAll(s.f, rng.Uint64(), lengths)
		for n, p := range pieces {
			if !p.Extent.IsZero() {
				s.now.Pieces[numbers[n]] = p
			}
		}
		return err
	}
}

func (s *solver) commit() error {
	s.begun++
	s.now.Number = s.begun
	payload, err := json.Marshal(s.now)
	if err != nil {
		return err
	}
	if err := s.f.Commit(checkpointName, sealed.Seal(kind, 1, payload)); err != nil {
		return err
	}
	s.committed = s.begun
	return nil
}

func (s *solver) fillDisk(room int64) error {
	s.disk.Limit(s.f.Size() + room)
	_, err := putAll(s.f, 0, slices.Repeat([]int{200}, int(s.f.Size())/200+10))
	s.disk.Limit(-1)
	return but(syscall.ENOSPC, err)
}

// but returns an error that is not the expected one.
func but(expected, err error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

func failing(kind crashfs.Op, failure error) func(crashfs.Op, string) error {
	return func(op crashfs.Op, _ string) error { return map[bool]error{true: failure}[op == kind] }
}

func (s *solver) failToCommit(kind crashfs.Op) error {
	s.disk.Fail(failing(kind, syscall.EIO))
	err := s.commit()
	s.disk.Fail(nil)
	return but(syscall.EIO, err)
}

// afterCrash resumes the work of the solver before.
func afterCrash(disk *crashfs.FS, before *solver) (*solver, error) {
	s, err := resume(disk)
	if err != nil {
		return s, err
	}
	if n := s.now.Number; n < before.committed || n > before.begun {
		return s, fmt.Errorf("checkpoint %d is found instead of %d, or %d", n, before.committed, before.begun)
	}
	return s, nil
}

// crashIn runs a solver that crashes in operation k. It returns nil if it ends before that.
func crashIn(t *testing.T, disk *crashfs.FS, k int, before *solver, script uint64) *solver {
	t.Helper()
	disk.CrashAt(k)
	s, err := afterCrash(disk, before)
	if err == nil {
		before = s
		err = s.work(30, rand.New(rand.NewPCG(script, 1)))
	}
	if err == nil {
		return nil
	}
	must.Be(t, err, crashfs.ErrCrashed, "script %d, operation %d", script, k)
	return before
}

// TestLongCrash crashes in each operation of random scripts: the power goes, or the process is killed and the power goes in one of the
// first operations of the next one.
func TestLongCrash(t *testing.T) {
	scripts, cuts := tries.Pick(1, 5, 20), tries.Pick(uint64(4), 4, 10)
	crashes := 0
	for script := range uint64(scripts) {
		for k := 1; ; k++ {
			disk := crashfs.New()
			s := crashIn(t, disk, k, &solver{}, script)
			if s == nil {
				break
			}
			for seed := range cuts {
				fail := func(how string, err error) {
					t.Helper()
					must.Hold(t, err == nil, "script %d, %s operation %d, seed %d: %v", script, how, k, seed, err)
				}
				rng := rand.New(rand.NewPCG(seed, 2))
				crashes++
				after, err := afterCrash(disk.PowerCut(rng), s)
				fail("power cut in", err)
				fail("after the power cut in", after.work(20, rng))
				fail("last commit after", after.commit())

				again := disk.Kill()
				if second := crashIn(t, again, 1+int(seed)*2, s, seed); second != nil {
					_, err = afterCrash(again.PowerCut(rng), second)
					fail("power cut after a kill in", err)
				}
			}
		}
	}
	t.Logf("%d crashes", crashes)
}
