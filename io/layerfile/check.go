package layerfile

import (
	"context"

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

// blocksEach is how many blocks each worker decodes before they are counted.
const blocksEach = 8

// blocks checks all blocks and, if they are all intact, the sums in the footer. Some blocks
// at a time are decoded by all workers and then counted in order.
func (c *checker) blocks(ctx context.Context) (Summary, error) {
	decoders, err := c.decoders()
	if err != nil {
		return Summary{}, err
	}
	sum := Summary{Header: c.f.header, Footer: c.f.footer}
	hash := tally.NewHash(c.family)
	total := c.f.NumBlocks()
	decoded := make([]checked, min(blocksEach*len(decoders), total))
	for first := 0; first < total; first += len(decoded) {
		decoded = decoded[:min(len(decoded), total-first)]
		if err := decodeAll(ctx, decoders, first, decoded); err != nil {
			return Summary{}, err
		}
		for _, b := range decoded {
			if b.err != nil {
				c.problem(b.err)
				continue
			}
			hash = hash.Add(b.scores)
			sum.Histogram.Add(b.scores)
		}
		if c.progress != nil {
			c.progress(int64(float64(first+len(decoded)) / float64(total) * float64(c.f.footer.Bytes)))
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

// decoders returns one for each worker.
func (c *checker) decoders() ([]*Decoder, error) {
	var all []*Decoder
	for range max(1, c.workers) {
		d, err := c.f.NewDecoder(c.family)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// decodeAll decodes consecutive blocks, each worker every n-th of them.
func decodeAll(ctx context.Context, decoders []*Decoder, first int, decoded []checked) error {
	group, ctx := crew.WithContext(ctx)
	for w, d := range decoders {
		group.Go(func() error {
			for i := w; i < len(decoded); i += len(decoders) {
				if err := ctx.Err(); err != nil {
					return err
				}
				b := &decoded[i]
				if scores, err := d.Block(first+i, b.scores); err == nil {
					b.scores, b.err = scores, nil
				} else {
					b.err = err
				}
			}
			return nil
		})
	}
	return group.Wait()
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
