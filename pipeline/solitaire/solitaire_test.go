package solitaire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/reach"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/solitairetest"
	"grenier/internal/testkit/tries"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/workfile"
	"grenier/kernels/fault"
	"grenier/layers/solitaire"
	"grenier/layers/symmetry"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// game returns the problem of a picture, whose full board begins without the peg of the given hole.
func game(t testing.TB, picture string, start int) Problem {
	t.Helper()
	b, p, err := solitaire.Parse(picture)
	must.OK(t, err)
	if start >= 0 {
		p = b.Full() &^ (1 << start)
	}
	return Problem{Board: b, Start: p}
}

func central(t testing.TB) Problem {
	t.Helper()
	b := solitaire.Named(solitaire.English)
	center := must.Get(b.Center())(t)
	return Problem{Board: b, Start: b.Full() &^ (1 << center)}
}

func options() Options { return Options{Job: job.Job{Memory: runs.LeastMemory(2), Workers: 2}} }

type answer struct {
	Layers, Winning []uint64
	Solutions       string
	Moves           int
	Solvable        bool
}

// solved returns what a table says, after a look at its solution.
func solved(t testing.TB, table *Table) (a answer) {
	t.Helper()
	a.Layers, a.Winning = table.Layers()
	advice := must.Get(table.Advise(t.Context(), State{table.Start, -1}))(t)
	jumps, moves, ok, err := table.Shortest(t.Context())
	must.OK(t, err)
	a.Solutions, a.Moves, a.Solvable = advice.Solutions.String(), moves, ok
	p := table.Start
	for _, j := range jumps {
		must.OK(t, must.Err(table.Board.FindJump(p, j.From, j.To)))
		p ^= j.Pegs()
	}
	should.Not(t, ok && (bits.OnesCount64(p) != 1 || p&table.ends() == 0 || len(solitaire.Moves(jumps)) != moves),
		"the solution with %d jumps and %d moves ends in %#x", len(jumps), moves, p)
	return a
}

func solve(t testing.TB, p Problem, o Options) answer {
	t.Helper()
	table := must.Get(Solve(t.Context(), p, o))(t)
	defer func() { must.OK(t, table.Close()) }()
	return solved(t, table)
}

// brute is the answers of plain recursion, position by position without symmetries. It shares the jumps with the search, and nothing else.
type brute struct {
	Problem
	counts map[solitaire.Position]*big.Int
	moves  map[State]int
}

// never is more moves than there can be.
const never = 1 << 20

func newBrute(p Problem) *brute { return &brute{p, map[solitaire.Position]*big.Int{}, map[State]int{}} }

func (b *brute) after(p solitaire.Position) (jumps []solitaire.Jump) {
	for _, j := range b.Board.Jumps() {
		if p>>j.From&1 == 1 && p>>j.Over&1 == 1 && p>>j.To&1 == 0 {
			jumps = append(jumps, j)
		}
	}
	return jumps
}

func (b *brute) count(p solitaire.Position) *big.Int {
	if n, ok := b.counts[p]; ok {
		return n
	}
	n := new(big.Int)
	if bits.OnesCount64(p) == 1 && p&b.ends() != 0 {
		n.SetInt64(1)
	}
	for _, j := range b.after(p) {
		n.Add(n, b.count(p^j.Pegs()))
	}
	b.counts[p] = n
	return n
}

func (b *brute) least(s State) int {
	if n, ok := b.moves[s]; ok {
		return n
	}
	n := never
	if bits.OnesCount64(s.Position) == 1 && s.Position&b.ends() != 0 {
		n = 0
	}
	for _, j := range b.after(s.Position) {
		m := b.least(State{s.Position ^ j.Pegs(), j.To})
		if j.From != s.Last {
			m++
		}
		n = min(n, m)
	}
	b.moves[s] = n
	return n
}

// answer returns everything. Which positions are reached is found by package reach.
func (b *brute) answer(t *testing.T) (a answer) {
	t.Helper()
	space := must.Get(solitairetest.NewSpace(b.Board))(t)
	set := must.Get(reach.From(t.Context(), space, b.Start))(t)
	var maps []symmetry.Map
	for _, m := range b.Board.Symmetries() {
		if symmetry.Image(&m, b.ends()) == b.ends() {
			maps = append(maps, m)
		}
	}
	for pegs := bits.OnesCount64(b.Start); pegs > 0; pegs-- {
		reached, winning := map[solitaire.Position]bool{}, map[solitaire.Position]bool{}
		for rank := range space.Size(pegs) {
			p := space.Unrank(pegs, rank)
			if p != b.Start && !set.Contains(p) {
				continue
			}
			least, _ := symmetry.Least(nil, maps, p)
			reached[least] = true
			if b.count(p).Sign() > 0 {
				winning[least] = true
			}
		}
		if len(reached) == 0 {
			break
		}
		a.Layers = append(a.Layers, uint64(len(reached)))
		a.Winning = append(a.Winning, uint64(len(winning)))
	}
	a.Solutions, a.Solvable = b.count(b.Start).String(), b.count(b.Start).Sign() > 0
	if a.Solvable {
		a.Moves = b.least(State{b.Start, -1})
	}
	return a
}

// small are boards for brute force, of several symmetries.
var small = []string{
	"o", "oo.", "ooo\nooo\nooo", "oooo\noooo\noooo", "ooooooo\n--ooo\n--ooo", "ooo-\noooo\n-ooo\n--oo", "-oo-\noooo\noooo\n-oo-",
	"ooooo\n-ooo-\n--o--\n-ooo-", "oo.oo\no.ooo\n..ooo",
}

// TestLongBrute compares searches with brute force: all starts of small boards and several ends.
func TestLongBrute(t *testing.T) {
	solvable, not, several, least := 0, 0, 0, tries.More(5, 10)
	for _, picture := range small {
		holes := game(t, picture, -1).Board.Holes()
		for start := -1; start < holes; start += tries.More(5, 1) {
			p := game(t, picture, start)
			if p.Start == 0 {
				continue
			}
			for _, p.Ends = range []solitaire.Position{0, 1, p.Board.Full() &^ p.Start, 6 & p.Board.Full()} {
				b := newBrute(p)
				want := b.answer(t)
				table := must.Get(Solve(t.Context(), p, options()))(t)
				must.Same(t, fmt.Sprintf("%s\nends %#x, brute force", p.Board.Picture(p.Start), p.Ends), want, solved(t, table))
				checkAdvice(t, table, b)
				c := must.Get(Count(t.Context(), p, options()))(t)
				should.List(t, c.Layers, want.Layers, "counted")
				should.Not(t, p.Parity() && (want.Solvable || c.Solved > 0),
					"%s\nends %#x: parity says no, but there is a solution", p.Board.Picture(p.Start), p.Ends)
				switch {
				case !want.Solvable:
					not++
				case want.Moves < bits.OnesCount64(p.Start)-1:
					several++
					fallthrough
				default:
					solvable++
				}
			}
		}
	}
	should.Not(t, solvable < 2*least || not < 2*least || several < least, "%d are solvable, %d not, %d in moves of several jumps", solvable, not, several)
}

// checkAdvice compares the advice in positions of a random game, the same in each run, with brute force.
func checkAdvice(t *testing.T, table *Table, b *brute) {
	s := State{table.Start, -1}
	for step := 0; ; step++ {
		a := must.Get(table.Advise(t.Context(), s))(t)
		must.Not(t, a.Solutions.Cmp(b.count(s.Position)) != 0 || a.Solutions.Sign() > 0 && a.Moves != b.least(s),
			"%v: %v solutions, %d moves, want %v, %d", s, a.Solutions, a.Moves, b.count(s.Position), b.least(s))
		if len(a.Jumps) == 0 {
			return
		}
		for i, j := range a.Jumps {
			next := State{s.Position ^ j.Pegs(), j.To}
			moves := b.least(next)
			if j.From != s.Last {
				moves++
			}
			o := a.Outlooks[i]
			must.Not(t, o.Solutions.Cmp(b.count(next.Position)) != 0 || o.Solutions.Sign() > 0 && o.Moves != moves,
				"%v, %v: %v, want %v, %d", s, j, o, b.count(next.Position), moves)
		}
		j := a.Jumps[(7*step+3)%len(a.Jumps)]
		s = State{s.Position ^ j.Pegs(), j.To}
	}
}

// TestLittleMemory searches with buffers so small that there are many runs, more than are merged at
// a time: the answer is the same with any memory and any number of workers.
func TestLittleMemory(t *testing.T) {
	p := game(t, "oooo\noooo\noooo\noooo", 1)
	want := solve(t, p, options())
	must.Hold(t, want.Solvable && slices.Max(want.Layers) >= 200, "%+v", want)
	for threads, dir := range map[int]string{1: t.TempDir(), 2: "", 3: t.TempDir()} {
		s := must.Get(newSearch(p, Options{Job: job.Job{Memory: runs.LeastMemory(threads), Workers: threads}, Dir: dir}, true))(t)
		s.room = 1
		must.Not(t, s.mostFound() > 2*mostChildren || s.abreast() != 2, "%d positions a buffer, %d runs at a time", s.mostFound(), s.abreast())
		must.OK(t, errors.Join(s.forward(t.Context()), s.backward(t.Context())))
		table := &Table{s}
		must.Same(t, fmt.Sprintf("%d threads, directory %q", threads, dir), want, solved(t, table))
		must.OK(t, table.Close())
	}
}

// TestLongEnglish compares the English central game with published values: the numbers of positions and
// of solutions, OEIS A112737 and durangobill.com/Peg33.html, winning positions
// OEIS A112738, and E. Bergholt's 18 moves of 1912. TestEnglishBeginning does so with the first layers each time.
func TestLongEnglish(t *testing.T) {
	tries.NeedsFull(t, "half a minute")
	p := central(t)
	p.Ends = p.Board.Full() &^ p.Start
	got := solve(t, p, Options{Job: job.Job{Memory: 276 << 20, Workers: 2}})
	want := answer{
		Layers: []uint64{
			1, 1, 2, 8, 39, 171, 719, 2757, 9751, 31312, 89927, 229614, 517854, 1022224, 1753737, 2598215, 3312423, 3626632, 3413313,
			2765623, 1930324, 1160977, 600372, 265865, 100565, 32250, 8688, 1917, 348, 50, 7, 2,
		},
		Winning: []uint64{
			1, 1, 2, 8, 38, 164, 635, 2089, 6174, 16020, 35749, 68326, 112788, 162319, 204992, 230230, 230230, 204992, 162319, 112788,
			68326, 35749, 16020, 6174, 2089, 635, 164, 38, 8, 2, 1, 1,
		},
		Solutions: "40861647040079968", Moves: 18, Solvable: true,
	}
	must.Same(t, "published", want, got)
}

// TestEnglishBeginning compares the first layers with the published ones.
func TestEnglishBeginning(t *testing.T) {
	o := options()
	o.Dir = t.TempDir()
	runstest.Interrupt(t, &o.Job, func(s job.Step) bool { return s.Doing == "24 pegs" }, func(ctx context.Context) error {
		return must.Err(Count(ctx, central(t), o))
	})
	s := must.Get(newSearch(central(t), Options{Job: job.Job{Memory: o.Memory}, Dir: o.Dir}, false))(t)
	got, want := fmt.Sprint(s.counts()), "[1 1 2 8 39 171 719 2757 9751]"
	should.Hold(t, got == want, "%s, published %s", got, want)
	must.OK(t, s.close())
}

func TestOptions(t *testing.T) {
	p := game(t, "ooo", 0)
	none, outside := p, p
	none.Start, outside.Ends = 0, 1<<3
	for name, c := range map[string]struct {
		p Problem
		o Options
	}{
		"no pegs":       {none, options()},
		"ends outside":  {outside, options()},
		"pegs outside":  {Problem{Board: p.Board, Start: 15}, options()},
		"little memory": {p, Options{Job: job.Job{Memory: runs.LeastMemory(1) - 1}}},
	} {
		should.Be(t, must.Err(Count(t.Context(), c.p, c.o)), fault.Usage, "%s", name)
	}
	must.As[*memory.Error](t, must.Err(Count(t.Context(), p, Options{})))
	s := must.Get(newSearch(game(t, "oooo\noooo\noooo\noooo", 1), options(), true))(t)
	s.store.Most = 1 << 11 // its layers do not fit
	err := s.failed(s.forward(t.Context()))
	should.Be(t, err, ErrMemory)
	should.Be(t, err, fault.Usage)
}

// TestLongWide counts solutions that need more than one word, if there is time for them.
func TestLongWide(t *testing.T) {
	p := game(t, tries.More("oooo\noooo\noooo\noooo", "oooooo\noooooo\noooooo\n-oooo-"), tries.More(1, 7))
	want := newBrute(p).count(p.Start)
	should.Equal(t, solve(t, p, options()).Solutions, want.String(), "solutions")
	should.Not(t, want.BitLen() < tries.More(9, 33), "%v solutions are too few", want)
	row, other := make([]uint32, countAt+3), make([]uint32, countAt+3)
	(&record{position: 1, moves: 2, pegs: 1, count: []uint32{0xffffffff, 0xffffffff}}).put(row)
	(&record{position: 1, moves: 2, pegs: 2, count: []uint32{1}}).put(other)
	combine(row, other)
	r := recordOf(row)
	should.Hold(t, numberOf(r.count).Cmp(new(big.Int).Lsh(big.NewInt(1), 64)) == 0 && r.pegs == 3 && r.moves == 2, "%+v", r)
	(&record{position: 1, moves: 1, pegs: 4, count: []uint32{5}}).put(other)
	combine(row, other)
	r = recordOf(row)
	should.Hold(t, r.pegs == 4 && r.moves == 1 && r.count[0] == 5, "%+v", r)
}

// onDisk returns options for a directory, with one worker, whose files are the same in each run.
func onDisk(dir string) Options {
	return Options{Job: job.Job{Memory: runs.LeastMemory(1), Workers: 1}, Dir: dir}
}

// diskGame is the problem of the files in testdata.
func diskGame(t testing.TB) Problem {
	p := game(t, "oooo\noooo\noooo", 1)
	p.Ends = 1 << 1
	return p
}

// TestGolden compares the files of two searches with those in testdata, and resumes from these (package runs tests that a search is stopped and
// resumed in each layer). If the compression library has changed, -update is right; otherwise the format has, and checkpointVersion must grow.
func TestGolden(t *testing.T) {
	p := diskGame(t)
	want := solve(t, p, options())
	for name, stop := range map[string]string{"forward": "7 pegs", "backward": "5 pegs, backward"} {
		begin, o := onDisk(""), options()
		o.Dir = runstest.Stopped(t, filepath.Join("testdata", name), &begin.Job, func(s job.Step) bool { return s.Doing == stop },
			func(ctx context.Context, dir string) error {
				begin.Dir = dir
				return must.Err(Solve(ctx, p, begin))
			})
		first := runstest.First(&o.Job)
		must.Same(t, name, want, solve(t, p, o))
		should.Equal(t, *first, stop, "%s: it began with", name)
	}
}

// TestShared: what Count leaves in a directory, Solve goes on with; other ends with the same
// symmetries use the layers too, and other games are refused.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	p := game(t, "ooo\nooo\nooo\nooo", 4)
	must.OK(t, must.Err(Count(t.Context(), p, onDisk(dir))))
	for _, p.Ends = range []uint64{0, p.Board.Full(), 1<<4 | 1<<7 | 1<<1 | 1<<10, 0} {
		o, forward := onDisk(dir), false
		o.Progress = func(s job.Step) { forward = forward || !strings.Contains(s.Doing, "backward") }
		must.Same(t, fmt.Sprintf("ends %#x", p.Ends), solve(t, p, options()), solve(t, p, o))
		should.Not(t, forward, "ends %#x: layers are counted again", p.Ends)
	}
	for name, other := range map[string]Problem{
		"another start": game(t, "ooo\nooo\nooo\nooo", 3), "another board": game(t, "ooo\nooo\nooo\noo", 4),
		"another end": {Board: p.Board, Start: p.Start, Ends: 1},
	} {
		should.Be(t, must.Err(Count(t.Context(), other, onDisk(dir))), rundir.ErrOtherRun, "%s", name)
	}
}

func on(t *testing.T, p Problem, dir string, fs *crashfs.FS) (a answer, err error) {
	t.Helper()
	table, err := Solve(t.Context(), p, Options{Job: job.Job{Memory: runs.LeastMemory(2), Workers: 2}, Dir: dir, work: fs.Dir("work")})
	if err != nil {
		return a, err
	}
	a = solved(t, table)
	return a, table.Close()
}

// TestLongCrashOtherEnds crashes a search that takes over the layers of one with other ends: that one can still be asked.
func TestLongCrashOtherEnds(t *testing.T) {
	p := game(t, "oooo\noooo\n-oo-", 1)
	q := p
	q.Ends = p.Board.Full()
	for _, p.Ends = range []uint64{1<<0 | 1<<3, 1<<1 | 1<<2, 1<<4 | 1<<7, 1<<5 | 1<<6, 1<<8 | 1<<9} {
		if solve(t, p, options()).Solvable {
			break
		}
	}
	want := []answer{solve(t, p, options()), solve(t, q, options())}
	dir, step := t.TempDir(), tries.More(13, 1)
	for k := 1 + rand.IntN(step); ; k += step {
		fs := crashfs.New()
		must.OK(t, must.Err(on(t, p, dir, fs)))
		fs = fs.Kill()
		fs.CrashAt(k)
		_, err := on(t, q, dir, fs)
		must.Not(t, err != nil && !errors.Is(err, crashfs.ErrCrashed), "crash %d: %v", k, err)
		for i, problem := range []Problem{p, q} {
			got, failed := on(t, problem, dir, fs.Kill())
			must.Hold(t, failed == nil, "after crash %d: %v", k, failed)
			must.Same(t, fmt.Sprint("after crash ", k), want[i], got)
		}
		if err == nil {
			t.Logf("less than %d changes", k)
			should.Not(t, k < 10 || !want[0].Solvable, "too few changes for %v and %v", want[0], want[1])
			return
		}
	}
}

// TestCheckpointContradicts opens checkpoints with one impossible field.
func TestCheckpointContradicts(t *testing.T) {
	p := diskGame(t)
	runstest.Contradicts(t, "testdata/backward", checkpointKind, checkpointVersion, map[string]func(c *checkpoint){
		"another picture":   func(c *checkpoint) { c.Picture = "ooo\n" },
		"symmetries":        func(c *checkpoint) { c.Symmetries++ },
		"no layers":         func(c *checkpoint) { c.Layers = nil },
		"too many layers":   func(c *checkpoint) { c.Layers = append(c.Layers, c.Layers...) },
		"not done":          func(c *checkpoint) { c.Done = false },
		"many winning":      func(c *checkpoint) { c.Winning = append(c.Winning, c.Winning...) },
		"words":             func(c *checkpoint) { c.Layers[1].Words++ },
		"winning words":     func(c *checkpoint) { c.Winning[1].Words = countAt },
		"many words":        func(c *checkpoint) { c.Winning[1].Words = 1 << 40 },
		"empty layer":       func(c *checkpoint) { c.Layers[3].Blocks = nil },
		"empty winning":     func(c *checkpoint) { c.Winning[1].Blocks = nil },
		"two starts":        func(c *checkpoint) { c.Layers[0].Blocks[0].Records++ },
		"no records":        func(c *checkpoint) { c.Layers[2].Blocks[0].Records = 0 },
		"another number":    func(c *checkpoint) { c.Layers[2].Blocks[0].Records++ },
		"winning number":    func(c *checkpoint) { c.Winning[2].Blocks[0].Records++ },
		"no place":          func(c *checkpoint) { c.Winning[2].Blocks[0].Extent = workfile.Extent{} },
		"one block twice":   func(c *checkpoint) { c.Layers[5] = c.Layers[4] },
		"layers exchanged":  func(c *checkpoint) { c.Layers[4], c.Layers[5] = c.Layers[5], c.Layers[4] },
		"winning exchanged": func(c *checkpoint) { c.Winning[2], c.Winning[3] = c.Winning[3], c.Winning[2] },
	}, func(dir string) error {
		table, err := Solve(t.Context(), p, onDisk(dir))
		if err != nil {
			return err
		}
		return errors.Join(must.Err(table.Shortest(t.Context())), table.Close())
	})
}

// FuzzCheckpoint loads checkpoints of any contents.
func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte(`{"picture":"o.oo\noooo\noooo\n","symmetries":1,"ends":2,"done":true,"layers":[{"words":2,"blocks":[{"offset":0,"length":8,"crc32c":1,"records":1}]}],"winning":[]}`))
	f.Add([]byte(`{"layers":[{"words":-1}]}`))
	p := diskGame(f)
	f.Fuzz(func(t *testing.T, payload []byte) {
		s := must.Get(newSearch(p, onDisk(""), false))(t)
		c := &checkpoint{}
		if json.Unmarshal(payload, c) != nil || s.load(c) != nil {
			return
		}
		should.Not(t, len(s.layers) == 0 || len(s.layers) > s.first || s.layers[0].N != 1 || len(s.winning) > 0 && len(s.layers) != s.first,
			"%d layers, %d winning", len(s.layers), len(s.winning))
	})
}
