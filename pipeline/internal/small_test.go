// Package internal_test has the tests of small packages below, which take less time than it takes to link a program for each.
package internal_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/workfile"
	"grenier/pipeline/internal/blocks"
	"grenier/pipeline/internal/chance"
	"grenier/pipeline/internal/resume"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const perLayer = 10

func newStore(limit, chunk int) *blocks.Store {
	return blocks.New(6, func(int) uint64 { return perLayer }, limit, chunk, false)
}

func mark(n int, block uint64) int8 { return int8(n*perLayer + int(block)) }

func fetch(s *blocks.Store, n int, block uint64) *blocks.Block {
	for {
		if b := s.Find(n, block); b != nil {
			return b
		}
		b := s.Room()
		for i := range b {
			b[i] = mark(n, block)
		}
		s.Keep(n, block, b)
	}
}

// TestLimit: no more blocks are in memory than may be, the newest are, and those that were kept at the same time count once.
func TestLimit(t *testing.T) {
	for _, limit := range []int{1, 3, 8} {
		for _, chunk := range []int{1, 2} {
			s := newStore(limit, chunk)
			for i := range 5 * perLayer {
				n, block := i/perLayer, uint64(i%perLayer)
				fetch(s, n, block)
				s.Keep(n, block, s.Room())
				for k := range i + 1 {
					found := s.Find(k/perLayer, uint64(k%perLayer)) != nil
					want := i-k < limit
					must.Hold(t, found == want, "limit %d, %d blocks: block %d is in memory: %v", limit, i+1, k, found)
				}
			}
		}
	}
}

// TestAsked counts from the time that a block was in memory.
func TestAsked(t *testing.T) {
	s := newStore(1, 1)
	for round := range 3 {
		for i := range uint32(3) {
			must.Equal(t, s.Asked(4, 7), i+1, "round %d", round)
		}
		fetch(s, 4, 7)
		fetch(s, 4, 8)
	}
}

// TestMemoryIsUsedAgain: what was given back, or came too late, is used again; what gave way is as soon as those have left who were reading
// then, and not before.
func TestMemoryIsUsedAgain(t *testing.T) {
	s := newStore(2, 1)
	b := s.Room()
	s.GiveBack(b)
	should.Hold(t, s.Room() == b, "memory given back is not used again")
	fetch(s, 0, 0)
	s.Keep(0, 0, b)
	should.Hold(t, s.Room() == b, "memory of a block that came too late is not used again")

	s = blocks.New(6, func(int) uint64 { return perLayer }, 1, 1, true)
	reader := s.Enter()
	first := fetch(s, 0, 0)
	must.Not(t, first == fetch(s, 0, 1) || fetch(s, 0, 2) == first, "memory that somebody reads is used again")
	reader.Leave()
	should.Hold(t, s.Room() == first, "memory that nobody reads is not used again")
}

// TestReaders: a score that was read between Enter and Leave belongs to its block, though memory is used again at once; where it is not, a
// block that somebody has found holds the same scores for ever, whatever gives way.
func TestReaders(t *testing.T) {
	for again, rounds := range map[bool]int{false: 150, true: 1000} {
		s := blocks.New(6, func(int) uint64 { return perLayer }, 3, 2, again)
		var group sync.WaitGroup
		memory, rooms := sync.Map{}, atomic.Int32{}
		for seed := range uint64(4) {
			group.Go(func() {
				random := rand.New(rand.NewPCG(seed, 2))
				held := map[*blocks.Block]int8{}
				holds := func(b *blocks.Block, mark int8) {
					should.Hold(t, b[0] == mark && b[blocks.Bytes-1] == mark, "a block of %d has %d and %d", mark, b[0], b[blocks.Bytes-1])
				}
				for range rounds {
					n, block := random.IntN(3), random.Uint64N(perLayer)
					reader := s.Enter()
					b := s.Find(n, block)
					if b != nil {
						holds(b, mark(n, block))
					}
					reader.Leave()
					if b == nil {
						b = s.Room()
						memory.Store(b, true)
						rooms.Add(1)
						for i := range b {
							b[i] = mark(n, block)
						}
						s.Keep(n, block, b)
					} else if !again {
						held[b] = mark(n, block)
					}
				}
				for b, mark := range held {
					holds(b, mark)
				}
			})
		}
		group.Wait()
		count := int32(0)
		memory.Range(func(any, any) bool { count++; return true })
		should.Not(t, again && count == rooms.Load(), "%d blocks, and none used memory again", count) // how many do depends on who waits for a processor
	}
}

func TestPermutation(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 4, 5, 16, 17, 1000, 4096, 4097, 70000} {
		p, seen := chance.NewPermutation(n, n^12345), make([]bool, n)
		for i := range n {
			at := p.At(i)
			must.Not(t, at >= n || seen[at], "%d numbers: %d comes out at %d, which is too large or was there", n, at, i)
			seen[at] = true
		}
	}
	p := chance.NewPermutation(1<<62, 1)
	a, b := p.At(0), p.At(1<<62-1)
	should.Not(t, a >= 1<<62 || b >= 1<<62 || a == b, "%d, %d", a, b)
}

// TestUniform counts the number that comes first, and the one after the number 0, over many seeds: each
// number comes equally often, as far as a chi-square test tells.
func TestUniform(t *testing.T) {
	const n, seeds = 23, 23 * 2000
	var first [n]int
	var follows [n]int
	for seed := range uint64(seeds) {
		p := chance.NewPermutation(n, seed)
		first[p.At(0)]++
		follows[(p.At(1)+n-p.At(0))%n]++
	}
	should.Hold(t, follows[0] == 0, "a number follows itself %d times", follows[0])
	check := func(name string, counts []int) {
		mean, sum := float64(seeds)/float64(len(counts)), 0.0
		for _, c := range counts {
			sum += (float64(c) - mean) * (float64(c) - mean) / mean
		}
		// The sum has the mean k and the variance 2k, for k degrees of freedom.
		k := float64(len(counts) - 1)
		should.Not(t, sum > k+6*math.Sqrt(2*k), "%s: chi-square %.1f with %.0f degrees of freedom: %v", name, sum, k, counts)
	}
	check("first", first[:])
	check("differences", follows[1:])
}

// TestGolden: samples that were published stay reproducible.
func TestGolden(t *testing.T) {
	p := chance.NewPermutation(1_000_000, 7)
	want := [3]uint64{593443, 383901, 18571}
	should.Equal(t, [3]uint64{p.At(0), p.At(1), p.At(999_999)}, want)
}

// oneBlock is a search whose checkpoint is the extent of its only block.
type oneBlock struct {
	resume.Search
	saved []byte
	at    workfile.Extent
}

var errLoad = errors.New("not so")

func newSearch(at workfile.Extent) *oneBlock {
	b := &oneBlock{at: at}
	b.Search = resume.Search{
		Identity: manifest.Identity{Game: "swap", Rules: "1x2", Pits: 2}, Kind: "test", Version: 3,
		Load: func(path string, payload []byte) ([]workfile.Extent, error) {
			if string(payload) == "wrong" {
				return nil, errLoad
			}
			b.saved = payload
			return []workfile.Extent{b.at}, nil
		},
	}
	return b
}

func kept(t *testing.T, path, payload string) workfile.Extent {
	t.Helper()
	b := newSearch(workfile.Extent{})
	d := must.Get(resume.Open(path, b.Search))(t)
	should.Hold(t, b.saved == nil, "a new directory has the checkpoint %q", b.saved)
	at, err := d.Put([]byte("block"))
	must.OK(t, errors.Join(err, d.Checkpoint([]byte(payload)), d.Close()))
	return at
}

// TestResume: the blocks of a checkpoint are there until it is cleared.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	b := newSearch(kept(t, path, "saved"))
	d := must.Get(resume.Open(path, b.Search))(t)
	should.Equal(t, string(must.Get(d.Get(b.at, nil))(t))+string(b.saved), "blocksaved")
	must.As[*rundir.LockedError](t, must.Err(resume.Open(path, b.Search)), "opened twice")
	must.OK(t, errors.Join(d.Clear(), d.Close()))
	must.Empty(t, filepath.Join(path, rundir.WorkName))
	kept(t, path, "again")
}

// TestRefused: a checkpoint that cannot be resumed is refused, and the directory unlocked.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		change  func(work string, s *resume.Search) error
		want    error
	}{
		"another run":  {"saved", func(_ string, s *resume.Search) error { s.Identity.Rules = "2x1"; return nil }, rundir.ErrOtherRun},
		"another kind": {"saved", func(_ string, s *resume.Search) error { s.Kind = "other"; return nil }, corrupt.ErrForeign},
		"older":        {"saved", func(_ string, s *resume.Search) error { s.Version++; return nil }, corrupt.ErrVersion},
		"newer":        {"saved", func(_ string, s *resume.Search) error { s.Version--; return nil }, corrupt.ErrVersion},
		"what it says": {"wrong", func(string, *resume.Search) error { return nil }, errLoad},
		"no blocks":    {"saved", func(work string, _ *resume.Search) error { return os.Remove(filepath.Join(work, rundir.BlocksName)) }, corrupt.ErrCorrupt},
		"too few blocks": {"saved", func(work string, _ *resume.Search) error {
			return os.Truncate(filepath.Join(work, rundir.BlocksName), 1)
		}, corrupt.ErrCorrupt},
		"half checkpoint": {"saved", func(work string, _ *resume.Search) error {
			return os.Truncate(filepath.Join(work, rundir.CheckpointName), 20)
		}, corrupt.ErrCorrupt},
	} {
		path := t.TempDir()
		b := newSearch(kept(t, path, c.payload))
		must.OK(t, c.change(filepath.Join(path, rundir.WorkName), &b.Search))
		for range 2 {
			should.Be(t, must.Err(resume.Open(path, b.Search)), c.want, "%s", name)
		}
	}
}

// TestDamaged: the error names file and block.
func TestDamaged(t *testing.T) {
	path := t.TempDir()
	d := must.Get(resume.Open(path, newSearch(workfile.Extent{}).Search))(t)
	defer d.Close()
	err := d.Damaged("block 7", errLoad)
	want := filepath.Join(path, rundir.WorkName, rundir.BlocksName) + ": block 7: not so"
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, errLoad) && err.Error() == want, "%v, want %s", err, want)
}
