package workfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/vfs"
)

// content returns n bytes that depend on seed.
func content(seed uint64, n int) []byte {
	rng := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	b := make([]byte, n)
	rng.Read(b)
	return b
}

// open opens a directory of the operating system.
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

// expect reads an extent.
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

func TestNothing(t *testing.T) {
	f := create(t, crashfs.New().Dir(work), tilesName)
	e := put(t, f, nil)
	should.Equal(t, e, Extent{})
	should.Equal(t, len(must.Get(f.Get(e, make([]byte, 5)))(t)), 0)
	f.Drop(e)
	f.Drop(e)
	for _, lengths := range [][]int{nil, {0}, {0, 0}} {
		extents := must.Get(f.PutAll(nil, lengths))(t)
		should.List(t, extents, make([]Extent, len(lengths)))
		should.Equal(t, len(must.Get(f.GetAll(extents, make([]byte, 5)))(t)), 0)
	}
	should.Hold(t, f.Size() == 0 && f.Used() == 0, "it takes space")
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

func TestTaken(t *testing.T) {
	s := newSpace()
	s.take(30, 30)
	s.give(span{10, 10})
	for g, want := range map[span]bool{
		{0, 10}: true, {0, 11}: false, {9, 2}: false, {10, 10}: false, {12, 2}: false, {19, 2}: false, {20, 10}: true,
		{0, 30}: false, {20, 11}: false, {-1, 2}: false, {30, 1}: false,
	} {
		should.Hold(t, s.taken(g) == want, "%v", g)
	}
}

// TestPlace compares where extents go with what place promises.
func TestPlace(t *testing.T) {
	divided := 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 0))
		s := newSpace()
		var taken []bool
		var live []span
		for range 100 {
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
			for i, b := range taken {
				must.Hold(t, s.taken(span{int64(i), 1}) == b, "seed %d: byte %d is taken: %v", seed, i, !b)
			}
			free := slices.DeleteFunc(slices.Clone(taken), func(b bool) bool { return b })
			must.Hold(t, s.end == int64(len(taken)) && s.free() == int64(len(free)),
				"seed %d: %d of %d bytes free, want %d of %d", seed, s.free(), s.end, len(free), len(taken))
		}
	}
	should.Not(t, divided < 60, "divided %d times", divided)
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
