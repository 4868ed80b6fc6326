package layerfile

import (
	"context"
	"errors"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/tally"
	"grenier/kernels/cpu"
)

// Check reads all of the file at path and passes every problem to report, each
// an error that matches corrupt.ErrCorrupt and names the part or block. It
// returns nil and the summary of an intact file, the first problem otherwise;
// an error of the operating system or of ctx ends the check at once and is not
// reported.
//
// As long as header, model, footer or index are damaged the blocks cannot be found, so
// these are checked first and alone.
func Check(ctx context.Context, path string, family cpu.Family, report func(error)) (Summary, error) {
	return checkWith(ctx, path, openMapping, checker{family: family, workers: 1, report: report})
}

// CheckSparing is Check, with several workers, for a file that may be larger than memory,
// see OpenSparing. It calls progress with the number of bytes of the file read so far.
func CheckSparing(ctx context.Context, path string, family cpu.Family, workers int, progress func(int64), report func(error)) (Summary, error) {
	return checkWith(ctx, path, openSparing, checker{family: family, workers: workers, report: report, progress: progress})
}

func checkWith(ctx context.Context, path string, from opener, c checker) (Summary, error) {
	f, problems, err := open(path, from)
	if err != nil {
		return Summary{}, err
	}
	defer f.Close()
	c.f = f
	for _, p := range problems {
		c.problem(p)
	}
	if c.first != nil {
		return Summary{}, c.first
	}
	return c.blocks(ctx)
}

// checker collects problems.
type checker struct {
	f        *File
	family   cpu.Family
	workers  int
	report   func(error)
	progress func(int64) // may be nil
	first    error
}

// checked is a block that was decoded.
type checked struct {
	scores []int8 // valid unless there is an error; the memory is used again
	err    error
}

func (c *checker) problem(err error) {
	if c.first == nil {
		c.first = err
	}
	c.report(err)
}

// blocksEach is how many blocks there is memory for, for each worker.
const blocksEach = 8

// blocks checks all blocks and, if they are all intact, the sums in the footer. Blocks are
// decoded by all workers and counted in order.
func (c *checker) blocks(ctx context.Context) (Summary, error) {
	decoders := c.decoders()
	sum := Summary{Header: c.f.header, Footer: c.f.footer}
	hash := tally.NewHash(c.family)
	total := c.f.NumBlocks()
	spare := make([]*checked, blocksEach*len(decoders))
	for i := range spare {
		spare[i] = new(checked)
	}
	err := crew.Ordered[*checked]{
		Work: func(worker, i int, b *checked) error {
			var scores []int8
			switch scores, b.err = decoders[worker].Block(ctx, i, b.scores); {
			case b.err == nil:
				b.scores = scores
			case !errors.Is(b.err, corrupt.ErrCorrupt): // ctx has ended
				return b.err
			}
			return nil
		},
		Write: func(i int, b *checked) error {
			if b.err != nil {
				c.problem(b.err)
			} else {
				hash = hash.Add(b.scores)
				sum.Histogram.Add(b.scores)
			}
			if c.progress != nil {
				c.progress(int64(float64(i+1) / float64(total) * float64(c.f.footer.Bytes)))
			}
			return nil
		},
	}.Run(ctx, len(decoders), total, spare)
	if err != nil {
		return Summary{}, err
	}
	if c.first == nil {
		c.sums(&sum, hash.Sum())
	}
	if c.first != nil {
		return Summary{}, c.first
	}
	return sum, nil
}

// decoders returns one for each worker.
func (c *checker) decoders() (all []*Decoder) {
	for range max(1, c.workers) {
		all = append(all, c.f.NewDecoder(c.family))
	}
	return all
}

// sums compares what was read with the footer.
func (c *checker) sums(s *Summary, hash tally.Hash) {
	if hash != s.Footer.Hash {
		c.problem(corrupt.New(c.f.path, "footer", "hash of the scores %v instead of %v", hash, s.Footer.Hash))
	}
	win, draw, loss := s.Histogram.WinDrawLoss()
	if win != s.Footer.Win || draw != s.Footer.Draw || loss != s.Footer.Loss {
		c.problem(corrupt.New(c.f.path, "footer", "%d wins, %d draws, %d losses instead of %d, %d, %d",
			win, draw, loss, s.Footer.Win, s.Footer.Draw, s.Footer.Loss))
	}
}
