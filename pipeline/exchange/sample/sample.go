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

// Options say what to write and how. Only layers, Count, Seed, ByScore, Format, Split and Shards decide on the bytes.
type Options struct {
	// Workers read all scores; looking up positions uses all CPUs. A Memory of 0
	// stands for DefaultMemory. Note is not used.
	job.Job
	From, To int    // layers, by seeds
	Count    uint64 // positions, 1 to those in the layers
	Seed     uint64
	ByScore  bool // uniform over scores, not over positions
	Format   Format
	// Split says which files of WriteFile positions go to, by their boards; without any there is one for all.
	Split []Part
	// Shards is how many files WriteFile writes instead of each; 0 stands for one.
	Shards int
	// Part is the part of the sample that is written, an equal share of its positions: the parts one behind the other are the file.
	// It goes with one file, without a Split.
	Part job.Part
	// Licence is what the card says about rights; DefaultLicence if it is empty.
	Licence string
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
	// Files are those that WriteFile wrote, and Card is the one that describes them.
	Files []File `json:"files,omitempty"`
	Card  string `json:"card,omitempty"`
}

// Write writes a sample from the run directory dir to w, all in one piece. It fails with ErrSample, with a
// *memory.Error, like tables.Open and Tables.Probes, and with the error of ctx or w; what was
// written then is the beginning of the sample.
func Write(ctx context.Context, dir string, w io.Writer, o Options) (Summary, error) {
	o.Split, o.Shards = nil, 1
	return drawn(ctx, dir, o, func(d *draw, next func(i uint64) uint64) (Summary, error) {
		below := &output.Counter{W: w}
		p := piece{count: d.Count}
		p.from, p.to = d.Part.Share(d.Count)
		err := d.write(ctx, below, next, p)
		return d.summary(below.N), err
	})
}

// drawn opens the run directory dir, and has write write what is drawn: next gives the number of each position.
func drawn(ctx context.Context, dir string, o Options, write func(d *draw, next func(i uint64) uint64) (Summary, error)) (s Summary, err error) {
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	o.Workers = max(1, o.Workers)
	t, err := tables.Open(ctx, dir, tables.Kernel(o.Family), tables.CacheBytes(int64(cacheBytes)))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	d, err := newDraw(ctx, t, o)
	if err != nil {
		return s, err
	}
	next, err := d.order(ctx)
	if err != nil {
		return s, err
	}
	if s, err = write(d, next); err != nil {
		return Summary{}, err
	}
	return s, nil
}

// summary says what was written, so many bytes.
func (d *draw) summary(bytes uint64) Summary {
	game := d.tables.Game()
	return Summary{
		Rules: game.Rules().String(), Pits: game.Pits(), From: d.From, To: d.To,
		Format: d.Format, Seed: d.Seed, ByScore: d.ByScore, Positions: d.due(), Bytes: bytes,
	}
}

// draw is a sample in the making. Its positions are numbered through all layers, from the lowest up.
type draw struct {
	Options
	tables *tables.Tables
	space  *awari.Space
	total  uint64 // positions in all layers
	plies  bool   // some of them have distances
	batch  uint64
	done   uint64 // positions that were looked up
}

// newDraw checks what is asked for.
func newDraw(ctx context.Context, t *tables.Tables, o Options) (*draw, error) {
	if o.From < 0 || o.From > o.To {
		return nil, fmt.Errorf("%w of layers %d to %d", ErrSample, o.From, o.To)
	}
	if err := t.NeedAll(o.From, o.To); err != nil {
		return nil, err
	}
	space, err := awari.NewSpace(t.Game(), o.To)
	if err != nil {
		return nil, err
	}
	d := &draw{Options: o, tables: t, space: space}
	for n := o.From; n <= o.To; n++ {
		d.total += space.Size(n)
		f, err := t.ListedDistances(ctx, n)
		if err != nil {
			return nil, err
		}
		d.plies = d.plies || f != nil
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
		mapped += uint64(l.Bytes + l.Distances.Bytes)
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

// due returns how many positions are to be looked up.
func (d *draw) due() uint64 {
	from, to := d.Part.Share(d.Count)
	return to - from
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

// piece is a part of a sample: positions from to to-1 in their order, as far as their boards are in the part of the
// split; the file has count, of which a part of it (Options.Part) has fewer.
type piece struct {
	from, to, count uint64
	part            int
}

// write looks up the positions of a piece, batch by batch, and writes them.
func (d *draw) write(ctx context.Context, w io.Writer, next func(i uint64) uint64, p piece) error {
	e := newEncoder(d.tables.Game(), d.Format, d.plies)
	var text []byte
	if d.Part.Index <= 1 {
		text = e.header(p.count)
	}
	boards, plies := make([]awari.Board, 0, min(d.batch, p.count)), make([]int16, min(d.batch, p.count))
	for i := p.from; i < p.to; {
		for boards = boards[:0]; i < p.to && uint64(len(boards)) < d.batch; i++ {
			if b := d.board(next(i)); d.partOf(b) == p.part {
				boards = append(boards, b)
			}
		}
		probes, err := d.tables.Probes(ctx, boards)
		if err != nil {
			return err
		}
		if d.plies {
			if err := d.tables.Distances(ctx, boards, plies[:len(boards)]); err != nil {
				return err
			}
		}
		for i := range probes {
			text = e.encode(text, &probes[i], plies[i])
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		text = text[:0]
		d.done += uint64(len(boards))
		d.Tell(job.Step{Doing: "looking up", Done: float64(d.done), Total: float64(d.due())})
	}
	return nil
}
