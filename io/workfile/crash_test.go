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
	"syscall"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/io/sealed"
	"grenier/io/vfs"
)

const (
	work           = "work"
	tilesName      = "tiles"
	checkpointName = "checkpoint"
	kind           = "test"
)

// checkpoint is committed by the solver of these tests: the extent and the contents of each piece.
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
	var extents []Extent
	var want []byte
	for _, p := range pieces {
		extents = append(extents, p.Extent)
		want = append(want, p.content()...)
	}
	got, err := f.GetAll(extents, buffer)
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("%v: other bytes", extents)
	}
	return got, err
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
	var live []Extent
	for _, p := range s.now.Pieces {
		live = append(live, p.Extent)
	}
	if s.f, err = Open(disk.Dir(work), tilesName, live); err != nil {
		return s, err
	}
	_, err = getAll(s.f, slices.Collect(maps.Values(s.now.Pieces)), nil)
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
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}

// failToCommit commits while the file system fails in one operation.
func (s *solver) failToCommit(failing crashfs.Op) error {
	failure := errors.New("failure")
	s.disk.Fail(func(op crashfs.Op, _ string) error {
		if op == failing {
			return failure
		}
		return nil
	})
	err := s.commit()
	s.disk.Fail(nil)
	if errors.Is(err, failure) {
		return nil
	}
	return err
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
	must.Not(t, err != nil && !errors.Is(err, crashfs.ErrCrashed), "script %d, operation %d: %v", script, k, err)
	if err == nil {
		return nil
	}
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
