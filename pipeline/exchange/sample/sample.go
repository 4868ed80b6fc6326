package sample

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize/english"

	"grenier/io/memory"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/exchange/internal/output"
	"grenier/pipeline/internal/chance"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
)

// ErrSample reports a sample that there cannot be.
var ErrSample = fault.New(fault.Usage, "sample")

// Options say what to write and how. Only the first six decide on the bytes.
type Options struct {
	// Workers read all scores; looking up positions uses all CPUs. A Memory of 0
	// stands for DefaultMemory. Note is not used.
	job.Job
	From, To int    // layers, by seeds
	Count    uint64 // positions, 1 to those in the layers
	Seed     uint64
	ByScore  bool // uniform over scores, not over positions
	Format   Format
}

// DefaultMemory is the default of Options.Memory.
const DefaultMemory = 256 << 20

// Summary says what was written.
type Summary struct {
	Rules     string `json:"rules"`
	Pits      int    `json:"pits"`
	From      int    `json:"from"`
	To        int    `json:"to"`
	Format    Format `json:"format"`
	Seed      uint64 `json:"seed"`
	ByScore   bool   `json:"by_score"`
	Positions uint64 `json:"positions"`
	Bytes     uint64 `json:"bytes"`
}

// WriteFile writes a sample from the run directory dir to the file at path. The file has its
// name only when it is complete, and replaces a file of that name, but nothing else. It fails
// like Write.
func WriteFile(ctx context.Context, dir, path string, o Options) (Summary, error) {
	return output.ToFile(path, func(w io.Writer) (Summary, error) { return Write(ctx, dir, w, o) })
}

// Write writes a sample from the run directory dir to w. It fails with ErrSample, with a
// *memory.Error, like tables.Open and Tables.Probes, and with the error of ctx or w; what was
// written then is the beginning of the sample.
func Write(ctx context.Context, dir string, w io.Writer, o Options) (s Summary, err error) {
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	o.Workers = max(1, o.Workers)
	t, err := tables.Open(ctx, dir, tables.Kernel(o.Family), tables.CacheBytes(int64(cacheBytes)))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	d, err := newDraw(t, o)
	if err != nil {
		return s, err
	}
	next, err := d.order(ctx)
	if err != nil {
		return s, err
	}
	below := &output.Counter{W: w}
	if err := d.write(ctx, below, next); err != nil {
		return s, err
	}
	return Summary{
		Rules: t.Game().Rules().String(), Pits: t.Game().Pits(), From: o.From, To: o.To,
		Format: o.Format, Seed: o.Seed, ByScore: o.ByScore, Positions: o.Count, Bytes: below.N,
	}, nil
}

// draw is a sample in the making. Its positions are numbered through all layers, from the lowest up.
type draw struct {
	Options
	tables *tables.Tables
	space  *awari.Space
	total  uint64 // positions in all layers
	batch  uint64
}

// newDraw checks what is asked for.
func newDraw(t *tables.Tables, o Options) (*draw, error) {
	switch {
	case o.From < 0 || o.From > o.To:
		return nil, fmt.Errorf("%w of layers %d to %d", ErrSample, o.From, o.To)
	case o.To > t.MaxSeeds():
		return nil, fmt.Errorf("%w: layer %d (0 to %d are solved)", tables.ErrUnsolved, o.To, t.MaxSeeds())
	}
	space, err := awari.NewSpace(t.Game(), o.To)
	if err != nil {
		return nil, err
	}
	d := &draw{Options: o, tables: t, space: space}
	for n := o.From; n <= o.To; n++ {
		d.total += space.Size(n)
	}
	if o.Count < 1 || o.Count > d.total {
		return nil, fmt.Errorf("%w of %d positions: the layers have %d", ErrSample, o.Count, d.total)
	}
	return d, d.divide()
}

// What a sample takes, in bytes.
const (
	cacheBytes = 32 << 20
	// perPosition is the memory to look up a position: it, its children, the questions for
	// their scores, the answer, and its text.
	perPosition = 2 << 10
	// A batch has this many positions at least, and this many at most.
	leastBatch, mostBatch = 1 << 10, 1 << 18
)

// divide divides the memory.
func (d *draw) divide() error {
	fixed := d.tables.Overhead(d.Workers) + cacheBytes
	if d.ByScore {
		fixed += d.Count*perPick + uint64(2*d.Workers+2)*perRead
	}
	if err := memory.Check("a sample of "+english.Plural(int(d.Count), "position", ""), fixed+leastBatch*perPosition, d.Memory); err != nil {
		return err
	}
	room := memory.Room(d.Memory) - fixed
	mapped := uint64(0)
	for _, l := range d.tables.Layers()[:d.To+1] {
		mapped += uint64(l.Bytes)
	}
	room -= min(room/4, mapped) // pages that the system can take back, but may be slow to
	d.batch = min(max(room/perPosition, leastBatch), mostBatch)
	return nil
}

// order returns the function that gives the number of each position of the sample.
func (d *draw) order(ctx context.Context) (func(i uint64) uint64, error) {
	if d.ByScore {
		numbers, err := d.byScore(ctx)
		return func(i uint64) uint64 { return numbers[i] }, err
	}
	p := chance.NewPermutation(d.total, d.Seed)
	return p.At, nil
}

// board returns the board with a number.
func (d *draw) board(number uint64) awari.Board {
	n := d.From
	for number >= d.space.Size(n) {
		number -= d.space.Size(n)
		n++
	}
	return d.space.Unrank(n, number)
}

// write looks up the positions, batch by batch, and writes them.
func (d *draw) write(ctx context.Context, w io.Writer, next func(i uint64) uint64) error {
	e := newEncoder(d.tables.Game(), d.Format)
	text := e.header(d.Count)
	boards := make([]awari.Board, 0, min(d.batch, d.Count))
	for done := uint64(0); done < d.Count; {
		boards = boards[:0]
		for i := done; i < min(done+d.batch, d.Count); i++ {
			boards = append(boards, d.board(next(i)))
		}
		probes, err := d.tables.Probes(ctx, boards)
		if err != nil {
			return err
		}
		for i := range probes {
			text = e.encode(text, &probes[i])
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		text = text[:0]
		done += uint64(len(boards))
		d.Tell(job.Step{Doing: "looking up", Done: float64(done), Total: float64(d.Count)})
	}
	return nil
}
