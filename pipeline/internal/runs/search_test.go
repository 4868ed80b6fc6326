package runs

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/runstest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/pipeline/internal/resume"
	"grenier/pipeline/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// walk is a search of the numbers below walkSize, along three edges from each; a layer has those that as many edges
// lead to, except some which are pruned, with the number of ways. Keep keeps all layers, as solitaire does; otherwise
// only the last one stays, as in chemin, and the directory is cleared in the end.
type walk struct {
	threads, abreast, most int // most is the records of a run
	keep                   bool
	dir                    string
	work                   vfs.Dir
	reached                func(layer int)       // called for each layer
	fails                  func(at string) error // called at each stage

	store   *Store
	layers  []*Run // dropped ones have no blocks
	checked uint32 // the number before
}

const (
	walkSize   = 300
	walkLayers = 7
	walkWords  = 3 // two of the number, high and low, and the ways
	walkChunk  = 5
)

// answer is the layers of a walk: how many numbers, and the last ones.
type answer struct {
	Sizes []int
	Last  [][]uint32
}

func edges(x uint32) [3]uint32 {
	return [3]uint32{(3*x + 1) % walkSize, (7*x + 5) % walkSize, (x + 11) % walkSize}
}

func pruned(x uint32) bool { return x%5 == 3 }

// number returns the words of a number: both matter to the order.
func walkRow(x, ways uint32) []uint32 { return []uint32{x / 32, x % 32, ways} }

func walkNumber(row []uint32) uint32 { return 32*row[0] + row[1] }

// plain is the answer of a walk that keeps all in maps.
var plain = sync.OnceValue(func() (a answer) {
	ways := map[uint32]uint32{0: 1}
	for range walkLayers {
		a.Sizes = append(a.Sizes, len(ways))
		next := map[uint32]uint32{}
		for x, n := range ways {
			for _, y := range edges(x) {
				if !pruned(y) {
					next[y] += n
				}
			}
		}
		ways = next
	}
	a.Sizes = append(a.Sizes, len(ways))
	for x, n := range ways {
		a.Last = append(a.Last, walkRow(x, n))
	}
	slices.SortFunc(a.Last, slices.Compare)
	return a
})

func (w *walk) at(what string) error {
	if w.fails == nil {
		return nil
	}
	return w.fails(what)
}

func (w *walk) run(ctx context.Context) (a answer, err error) {
	w.store, w.layers = &Store{Most: 1 << 20}, nil
	if w.dir != "" {
		if err := w.open(); err != nil {
			return a, err
		}
		defer func() { err = errors.Join(err, w.store.Dir.Close()) }()
	}
	s := &Search{Store: w.store, Job: job.Job{Workers: w.threads}, Abreast: w.abreast, Step: w.step, Reached: w.take, Checkpoint: w.checkpoint}
	if n := len(w.layers); n == 0 {
		var first *Run
		if first, err = w.store.One(walkRow(0, 1)); err == nil {
			err = s.Start(ctx, first)
		}
	} else if n <= walkLayers {
		err = s.Run(ctx, w.layers[n-1])
	}
	if err != nil {
		return a, err
	}
	return w.end()
}

// end returns the answer, and drops or clears what is not kept.
func (w *walk) end() (a answer, err error) {
	for _, l := range w.layers {
		a.Sizes = append(a.Sizes, l.N)
	}
	c, err := w.store.Open(w.layers[walkLayers])
	for err == nil && c.Row != nil {
		a.Last = append(a.Last, slices.Clone(c.Row))
		err = c.Next()
	}
	if err != nil || w.keep {
		return a, err
	}
	w.store.Drop(w.layers[walkLayers])
	if held := w.store.Held(); held != 0 {
		return a, fmt.Errorf("%d bytes are still held", held)
	}
	if w.dir != "" {
		err = w.store.Dir.Clear()
	}
	return a, err
}

type saved struct {
	N      int
	Blocks []Block
}

func (w *walk) checkpoint() ([]byte, error) {
	if len(w.layers) > walkLayers && !w.keep {
		return nil, nil
	}
	var all []saved
	for _, l := range w.layers {
		all = append(all, saved{l.N, l.Blocks})
	}
	payload, err := json.Marshal(all)
	return payload, errors.Join(err, w.at("checkpoint"))
}

const walkKind = "walk"

func (w *walk) open() error {
	search := resume.Search{Identity: manifest.Identity{Game: "walk", Rules: "test", Pits: 1}, Kind: walkKind, Version: 1, Work: w.work}
	return w.store.OpenDir(w.dir, search, func(path string, payload []byte) (live []*Run, err error) {
		var all []saved
		if err := json.Unmarshal(payload, &all); err != nil {
			return nil, corrupt.New(path, "", "%w", err)
		}
		for _, l := range all {
			if err := CheckAll(walkWords, l.Blocks); err != nil {
				return nil, corrupt.New(path, "", "%w", err)
			}
			r := Of(walkWords, l.Blocks)
			r.N = l.N
			w.layers = append(w.layers, r)
		}
		return w.layers, nil
	})
}

func (w *walk) take(layer *Run) bool {
	if n := len(w.layers); n > 0 && !w.keep {
		w.store.Drop(w.layers[n-1])
	}
	w.layers = append(w.layers, layer)
	if w.reached != nil {
		w.reached(len(w.layers) - 1)
	}
	return len(w.layers) <= walkLayers
}

func (w *walk) step(from *Run) (*Step, error) {
	first := true
	return &Step{
		From: from, Chunk: walkChunk, Group: 1,
		Check: func(row []uint32) error {
			x := walkNumber(row)
			if x >= walkSize || row[1] >= 32 || !first && x <= w.checked || row[2] == 0 {
				return w.store.Damaged("", fmt.Errorf("record %v", row))
			}
			w.checked, first = x, false
			return w.at("check")
		},
		At:     func(int) job.Step { _ = w.at("progress"); return job.Step{} },
		Expand: func(_ int, out *Output) Expander { return &walker{walk: w, out: out} },
		Words:  walkWords, Key: 2,
		Combine: func(row, other []uint32) { row[2] += other[2] },
		Prune: func(out *Writer, last bool) (Pruner, error) {
			if !last {
				return nil, w.at("prune")
			}
			return &walkPruner{w, out}, w.at("prune last")
		},
	}, w.at("step")
}

type walker struct {
	*walk
	out   *Output
	found [][]uint32
}

func (w *walker) Expand(ctx context.Context, words []uint32) error {
	if len(words) > walkChunk*walkWords {
		return fmt.Errorf("%d words", len(words))
	}
	for row := range slices.Chunk(words, walkWords) {
		if row[0] != words[0] {
			return fmt.Errorf("a chunk of %v", words)
		}
		for _, y := range edges(walkNumber(row)) {
			w.found = append(w.found, walkRow(y, row[2]))
		}
		if len(w.found) >= w.most {
			if err := w.Flush(ctx); err != nil {
				return err
			}
		}
	}
	return w.at("expand")
}

func (w *walker) Flush(context.Context) error {
	slices.SortFunc(w.found, slices.Compare)
	for _, row := range w.found {
		if err := w.out.Add(row); err != nil {
			return err
		}
	}
	w.found = nil
	return errors.Join(w.out.End(), w.at("flush"))
}

type walkPruner struct {
	*walk
	out *Writer
}

func (p *walkPruner) Take(_ context.Context, row []uint32) error {
	if pruned(walkNumber(row)) {
		return nil
	}
	return errors.Join(p.out.Add(row), p.at("take"))
}

func (p *walkPruner) End(context.Context) error { return p.at("end") }

func check(t *testing.T, what string, got answer, err error) {
	t.Helper()
	must.Hold(t, err == nil, "%s: %v", what, err)
	must.Same(t, what, plain(), got)
}

// TestSearch compares searches of all sorts with a plain one.
func TestSearch(t *testing.T) {
	for i := range 48 {
		w := &walk{threads: 1 + i%2*4, abreast: []int{2, 256}[i/2%2], keep: i/4%2 > 0, most: []int{1, 20, 1 << 20}[i/8%3], work: crashfs.New().Dir("work")}
		if i/24 > 0 {
			w.dir = t.TempDir()
		}
		what := fmt.Sprintf("%d threads, %d runs abreast, %d records, keep %v, directory %v", w.threads, w.abreast, w.most, w.keep, w.dir != "")
		got, err := w.run(t.Context())
		check(t, what, got, err)
		if w.dir != "" && w.keep { // all of it is on disk
			got, err := w.run(t.Context())
			check(t, what+", again", got, err)
		}
	}
}

// TestSearchFails: an error at any stage ends the search with it; on disk it resumes.
func TestSearchFails(t *testing.T) {
	bad := errors.New("disk on fire")
	for _, stage := range []string{"step", "check", "expand", "flush", "prune", "prune last", "take", "end", "checkpoint"} {
		for _, dir := range []string{"", t.TempDir()} {
			if stage == "checkpoint" && dir == "" {
				continue
			}
			w := &walk{threads: 1, abreast: 2, most: 10, dir: dir, work: crashfs.New().Dir("work")}
			layer := 0
			w.reached = func(l int) { layer = l }
			w.fails = func(at string) error {
				if at == stage && layer >= 3 {
					return bad
				}
				return nil
			}
			should.Be(t, must.Err(w.run(t.Context())), bad, "%s", stage)
			should.Equal(t, layer, 3, "%s: it ends after layer", stage)
			w.fails = nil
			got, err := w.run(t.Context())
			check(t, stage, got, err)
		}
	}
}

// TestSearchResumes: the context ends the search in any layer, which then goes on from the layer before, once.
func TestSearchResumes(t *testing.T) {
	for _, keep := range []bool{false, true} {
		w := &walk{threads: 2, abreast: 2, most: 10, keep: keep, dir: t.TempDir()}
		for layer := range walkLayers {
			ctx, cancel := context.WithCancel(t.Context())
			var reached []int
			w.reached = func(l int) {
				if reached = append(reached, l); l == layer {
					cancel()
				}
			}
			err := must.Err(w.run(ctx))
			should.Hold(t, errors.Is(err, context.Canceled) && slices.Equal(reached, []int{layer}), "layer %d: %v, reached %v", layer, err, reached)
		}
		w.reached = nil
		got, err := w.run(t.Context())
		check(t, "resumed", got, err)
	}
}

// TestSearchMemory: runs that do not fit are an error.
func TestSearchMemory(t *testing.T) {
	w := &walk{threads: 2, abreast: 2, most: 10}
	w.reached = func(layer int) {
		if layer == 2 {
			w.store.Most = 1000
		}
	}
	should.Be(t, must.Err(w.run(t.Context())), ErrMemory)
}

// on returns a search whose work files are in a file system of a test.
func on(t *testing.T, keep bool) func(*crashfs.FS) (answer, error) {
	dir := t.TempDir()
	return func(fs *crashfs.FS) (answer, error) {
		w := &walk{threads: 2, abreast: 2, most: 60, keep: keep, dir: dir, work: fs.Dir("work")}
		return w.run(context.Background())
	}
}

// TestLongCrash crashes a search at its first, second, ... change of a file, until it comes to its end, and resumes it
// after kill -9 and after a power cut. The short form leaves out most of the changes.
func TestLongCrash(t *testing.T) {
	rng := tries.Rand(t)
	for _, keep := range []bool{false, true} {
		search, step := on(t, keep), tries.More(5, 1)
		k := 1 + rng.IntN(step)
		for ; ; k += step {
			fs := crashfs.New()
			fs.CrashAt(k)
			got, err := search(fs)
			if err == nil {
				check(t, "no crash", got, err)
				break
			}
			must.Be(t, err, crashfs.ErrCrashed, "crash %d", k)
			for _, fs := range []*crashfs.FS{fs.Kill(), fs.PowerCut(rng)} {
				got, err := search(fs)
				check(t, fmt.Sprintf("after crash %d, keep %v", k, keep), got, err)
			}
		}
		t.Logf("less than %d changes", k)
		should.Not(t, k < 60, "these are too few")
	}
}

// TestDiskFull gives a search too small a disk, and then a larger one until it comes to its end.
func TestDiskFull(t *testing.T) {
	for _, keep := range []bool{false, true} {
		search, fs, full := on(t, keep), crashfs.New(), 0
		for limit := int64(100); ; limit += 100 {
			fs.Limit(limit)
			got, err := search(fs)
			if err == nil {
				check(t, "enough", got, err)
				break
			}
			must.Be(t, err, syscall.ENOSPC, "%d bytes", limit)
			full++
		}
		should.Not(t, full < 5, "the disk was full %d times only", full)
		left := fs.Names()
		should.Not(t, !keep && len(left) > 0, "left behind: %v", left)
	}
}

func stopped(t testing.TB, keep bool) string {
	t.Helper()
	w := &walk{threads: 1, abreast: 2, most: 60, keep: keep, dir: t.TempDir()}
	w.fails = func(at string) error {
		if at == "step" && len(w.layers) == 5 {
			return context.Canceled
		}
		return nil
	}
	must.Be(t, must.Err(w.run(t.Context())), context.Canceled)
	return w.dir
}

// FuzzDamage changes a byte of a file of a search, or cuts the file there: the result is right, or the damage is found.
func FuzzDamage(f *testing.F) {
	left := map[bool]string{false: stopped(f, false), true: stopped(f, true)}
	for file := range uint8(3) {
		for at := uint32(0); at < 600; at += 29 {
			f.Add(at%2 == 0, file, at, uint8(1)<<(at%8), at%7 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, keep bool, file uint8, at uint32, flip uint8, cut bool) {
		w := &walk{threads: 1, abreast: 2, most: 60, keep: keep, dir: t.TempDir()}
		runstest.Copy(t, left[keep], w.dir)
		runstest.Damage(t, w.dir, file, at, flip, cut)
		got, err := w.run(t.Context())
		switch {
		case err == nil:
			check(t, "damaged", got, err)
		case !errors.Is(err, corrupt.ErrCorrupt) && !errors.Is(err, rundir.ErrOtherRun):
			t.Error(err)
		}
	})
}

// TestForged resumes from checkpoints with one impossible field, under the right checksum.
func TestForged(t *testing.T) {
	left := stopped(t, false)
	for name, change := range map[string]func(b *Block){
		"no records":      func(b *Block) { b.Records = 0 },
		"a record more":   func(b *Block) { b.Records++ },
		"a record less":   func(b *Block) { b.Records-- },
		"many records":    func(b *Block) { b.Records = 1 << 60 },
		"negative offset": func(b *Block) { b.Offset = -1 },
		"far away":        func(b *Block) { b.Offset = 1 << 60 },
		"a long block":    func(b *Block) { b.Length = 1<<32 - 1 },
		"no place":        func(b *Block) { b.Extent.Length, b.Extent.Offset, b.Extent.Sum = 0, 0, 0 },
		"another sum":     func(b *Block) { b.Sum++ },
	} {
		w := &walk{threads: 1, abreast: 2, most: 60, dir: t.TempDir()}
		runstest.Copy(t, left, w.dir)
		runstest.ChangeCheckpoint(t, w.dir, walkKind, 1, func(all *[]saved) { change(&(*all)[4].Blocks[0]) })
		should.Be(t, must.Err(w.run(t.Context())), corrupt.ErrCorrupt, "%s", name)
	}
}

// FuzzGaps packs ascending numbers and unpacks them, and unpacks any bytes.
func FuzzGaps(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 128, 0, 0, 0, 0, 0, 0, 0, 127})
	f.Add(slices.Repeat([]byte{0x80}, 64))
	f.Fuzz(func(t *testing.T, data []byte) {
		var numbers []uint64
		for ; len(data) >= 8; data = data[8:] {
			numbers = append(numbers, binary.LittleEndian.Uint64(data))
		}
		slices.Sort(numbers)
		raw := make([]byte, 8*len(numbers))
		for i, x := range numbers {
			putNumber(raw[8*i:], x)
		}
		packed := make([]byte, 10*len(numbers))
		n := packGaps(packed, raw)
		again := make([]byte, len(raw))
		should.Hold(t, unpackGaps(again, packed[:n]) && slices.Equal(again, raw), "%x becomes %x in %d bytes", numbers, again, n)
		should.Not(t, n > 0 && (unpackGaps(again, packed[:n-1]) || packGaps(packed[:n-1], raw) != 0), "%x fit %d bytes of %d", numbers, n-1, n)
		unpackGaps(again, raw) // it may be anything
	})
}

// TestGaps has the records of the order that words have, and the bytes of the format.
func TestGaps(t *testing.T) {
	s := &Store{Most: 1 << 20}
	w := NewWriter(s, gapStride)
	rows := [][]uint32{{0, 5}, {0, 132}, {1, 132}, {1, 132}, {0xffffffff, 0xffffffff}}
	for _, row := range rows {
		must.OK(t, w.Add(row))
	}
	r := must.Get(w.Finish())(t)
	want := []byte{5, 127, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0xfb, 0xfe, 0xff, 0xff, 0xef, 0xff, 0xff, 0xff, 0xff, 0x01}
	should.List(t, r.Blocks[0].data, want, "packed")
	c, err := s.Open(r)
	for i := 0; err == nil && c.Row != nil; i++ {
		must.Hold(t, i < len(rows) && slices.Equal(c.Row, rows[i]), "record %d: %x", i, c.Row)
		err = c.Next()
	}
	must.OK(t, err)
}
