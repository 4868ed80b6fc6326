package workfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
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

// model holds the expected contents of a File.
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
	used := int64(0)
	all := slices.Concat(m.live, m.dropped)
	for _, p := range all {
		used += int64(p.Extent.Length)
	}
	must.Hold(t, m.f.Used() == used && m.f.Size() >= used, "%d bytes used of %d; want %d", m.f.Used(), m.f.Size(), used)
	noOverlap(t, all)
	for _, p := range m.committed {
		expect(t, m.f, p.Extent, p.content())
	}
}

func noOverlap(t must.Test, pieces []piece) {
	t.Helper()
	end := int64(0)
	for _, p := range slices.Concat(inRuns(pieces)...) {
		must.Not(t, p.Extent.Offset < end, "%+v overlaps what ends at %d", p.Extent, end)
		end = p.Extent.Offset + int64(p.Extent.Length)
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

// full puts pieces that do not fit the disk.
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

// TestReuse replaces all pieces again and again, one by one or a tenth of them at once: the file must not grow.
func TestReuse(t *testing.T) {
	const pieces, rounds = 100, 10
	for name, c := range map[string]struct {
		atOnce, least, longer int
		growth                float64 // of the file, to the most bytes that were used at a time
	}{
		"one length":   {1, 1000, 1, 1},
		"many lengths": {1, 500, 1000, 1.25},
		"at once":      {10, 2000, 4000, 2.5}, // which leaves gaps of a piece or two
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 0))
			f := create(t, crashfs.New().Dir(work), tilesName)
			live, most, lengths := make([]piece, pieces), int64(0), make([]int, c.atOnce)
			for range rounds {
				order := rng.Perm(pieces)
				for n := 0; n < pieces; n += c.atOnce {
					if n%10 == 0 {
						commit(t, f, checkpointName, nil)
					}
					for i := range lengths {
						f.Drop(live[order[n+i]].Extent)
						lengths[i] = c.least + rng.IntN(c.longer)
					}
					for i, p := range must.Get(putAll(f, rng.Uint64(), lengths))(t) {
						live[order[n+i]] = p
					}
					most = max(most, f.Used())
				}
			}
			noOverlap(t, live)
			must.OK(t, must.Err(getAll(f, live, nil)))
			should.Not(t, c.growth == 1 && f.Size() != most || float64(f.Size()) > float64(most)*c.growth,
				"the file grew to %d bytes, of which at most %d were used", f.Size(), most)
		})
	}
}

// TestConcurrent lets workers replace pieces of their own while checkpoints are written.
func TestConcurrent(t *testing.T) {
	const workers, rounds = 4, 300
	f := create(t, open(t, t.TempDir()), tilesName)
	defer f.Close()
	live := make([][]piece, workers)
	var working, committing sync.WaitGroup
	stop := make(chan struct{})
	committing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
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
	close(stop)
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

// getAll reads pieces at once and compares them.
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

// work does steps at random until one fails.
func (s *solver) work(steps int, rng *rand.Rand) error {
	for range steps {
		if err := s.step(rng); err != nil {
			return err
		}
	}
	return nil
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

// fillDisk puts pieces that the disk has no room for.
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

// failing lets operations of a kind fail.
func failing(kind crashfs.Op, failure error) func(crashfs.Op, string) error {
	return func(op crashfs.Op, _ string) error {
		if op == kind {
			return failure
		}
		return nil
	}
}

// failToCommit commits while the file system fails in one operation.
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
