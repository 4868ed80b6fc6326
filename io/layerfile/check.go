package layerfile

import (
	"context"

	"grenier/io/corrupt"
	"grenier/io/tally"
	"grenier/kernels/cpu"
)

// Check reads all of the file at path and passes every problem to report, each
// an error that matches corrupt.ErrCorrupt and names the part or block. It
// returns nil and the summary of the file if there is none, the first problem
// otherwise; an error of the operating system or of ctx ends the check at once
// and is not reported.
//
// As long as header, model, footer or index are damaged the blocks cannot be found, so
// these are checked first and alone.
func Check(ctx context.Context, path string, family cpu.Family, report func(error)) (Summary, error) {
	return checkWith(ctx, path, openMapping, checker{family: family, report: report})
}

// CheckSparing is Check for a file that may be larger than memory, see OpenSparing. It
// calls progress with the number of bytes that it has read of the file so far.
func CheckSparing(ctx context.Context, path string, family cpu.Family, progress func(int64), report func(error)) (Summary, error) {
	return checkWith(ctx, path, openSparing, checker{family: family, report: report, progress: progress})
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
	report   func(error)
	progress func(int64) // may be nil
	first    error
}

func (c *checker) problem(err error) {
	if c.first == nil {
		c.first = err
	}
	c.report(err)
}

// blocks checks all blocks and, if they are all intact, the sums in the footer.
func (c *checker) blocks(ctx context.Context) (Summary, error) {
	d, err := c.f.NewDecoder(c.family)
	if err != nil {
		return Summary{}, err
	}
	sum := Summary{Header: c.f.header, Footer: c.f.footer}
	hash := tally.NewHash(c.family)
	var scores []int8
	for i := range c.f.NumBlocks() {
		if err := ctx.Err(); err != nil {
			return Summary{}, err
		}
		if s, err := d.Block(i, scores); err != nil {
			c.problem(err)
		} else {
			scores = s
			hash = hash.Add(s)
			sum.Histogram.Add(s)
		}
		if c.progress != nil {
			c.progress(int64(float64(i+1) / float64(c.f.NumBlocks()) * float64(c.f.footer.Bytes)))
		}
	}
	if c.first == nil {
		c.sums(&sum, hash.Sum())
	}
	if c.first != nil {
		return Summary{}, c.first
	}
	return sum, nil
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
