package layerfile

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/tally"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/ranks"
)

var update = flag.Bool("update", false, "rewrite golden files")

var (
	family = cpu.Generic
)

func testHeader(blockSize, positions int) Header {
	return Header{
		Game: "awari", Rules: "strict", Pits: 12, Seeds: 7,
		Codec: LZ4, Transform: Ranks, Model: testModel, BlockSize: blockSize, Positions: uint64(positions),
	}
}

// testModel is a model of layerScores.
var testModel = modelOf(layerScores(rand.New(rand.NewPCG(15, 16)), 2000), -maxTestScore, maxTestScore)

func modelOf(scores []int8, low, high int8) ranks.Model {
	n, err := ranks.NewCounts(low, high)
	if err != nil {
		panic(err)
	}
	n.Add(scores)
	return n.Model()
}

const maxTestScore = 5

// layerScores returns n scores that resemble a layer: small numbers, runs.
func layerScores(r *rand.Rand, n int) []int8 {
	out := make([]int8, n)
	s := int8(0)
	for i := range out {
		if r.IntN(4) == 0 {
			s = int8(max(-maxTestScore, min(maxTestScore, r.NormFloat64()*3)))
		}
		out[i] = s
	}
	return out
}

// noise returns n scores that no codec can shrink.
func noise(r *rand.Rand, n int) []int8 {
	out := make([]int8, n)
	for i := range out {
		out[i] = int8(r.Uint32())
	}
	return out
}

// begin begins a file that is going to be at path.
func begin(t testing.TB, path string) *vfs.Pending { t.Helper(); return must.Get(vfs.Begin(path))(t) }

func writeFile(t testing.TB, path string, h Header, scores []int8) Summary {
	t.Helper()
	w := must.Get(Create(begin(t, path), h, family))(t)
	defer w.Abort()
	e := must.Get(NewEncoder(h, family))(t)
	var b Block
	for part := range slices.Chunk(scores, h.BlockSize) {
		must.OK(t, e.Encode(&b, part))
		must.OK(t, w.Append(&b))
	}
	s, err := w.Finish()
	if err == nil {
		err = w.Publish()
	}
	must.OK(t, err)
	return s
}

// readAll returns the scores of a file, or the first error.
func readAll(path string) ([]int8, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return readBlocks(f)
}

// readBlocks returns the scores of f, or the first error, and closes f.
func readBlocks(f *File) ([]int8, error) {
	defer f.Close()
	d := f.NewDecoder(family)
	var all, part []int8
	for i := range f.NumBlocks() {
		var err error
		if part, err = d.Block(context.Background(), i, part); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

func check(path string) (Summary, []error) {
	var problems []error
	s, err := Check(context.Background(), path, family, func(err error) { problems = append(problems, err) })
	if err != nil && len(problems) == 0 {
		problems = append(problems, err)
	}
	return s, problems
}

func TestRoundTrip(t *testing.T) {
	const size = 1000
	r := tries.Rand(t)
	for _, n := range []int{0, 1, 2, 7, 8, 9, size - 1, size, size + 1, 3 * size, 5*size + 13} {
		for name, make := range map[string]func(*rand.Rand, int) []int8{"layer": layerScores, "noise": noise} {
			t.Run(fmt.Sprintf("%d/%s", n, name), func(t *testing.T) {
				roundTrip(t, testHeader(size, n), make(r, n))
			})
		}
	}
}

func TestRoundTripFullBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{MaxBlockSize - 1, MaxBlockSize, MaxBlockSize + 1, 3 * MaxBlockSize} {
		h := testHeader(MaxBlockSize, n)
		roundTrip(t, h, layerScores(r, n))
		roundTrip(t, h, noise(r, n))
		roundTrip(t, h, make([]int8, n))
	}
}

func TestEveryScore(t *testing.T) {
	scores := make([]int8, 256)
	for i := range scores {
		scores[i] = int8(i - 128)
	}
	roundTrip(t, testHeader(256, 256), scores)
	roundTrip(t, testHeader(2048, 8*256), slices.Repeat(scores, 8))
}

func roundTrip(t *testing.T, h Header, scores []int8) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layer.gl")
	written := writeFile(t, path, h, scores)
	must.Hold(t, slices.Equal(must.Get(readAll(path))(t), scores), "other scores than those written")
	checkSingle(t, path, scores)
	checked, problems := check(path)
	must.Not(t, len(problems) > 0, "%v", problems)
	should.Equal(t, cmp.Diff(written, checked, cmp.AllowUnexported(Footer{})), "", "summary written and read")
	should.Hold(t, written.Footer.Hash == tally.NewHash(cpu.Generic).Add(scores).Sum() && written.Histogram.Total() == uint64(len(scores)),
		"wrong sums")
	info, err := os.Stat(path)
	should.Hold(t, err == nil && info.Size() == written.Footer.Bytes, "%d bytes, not %d (%v)", info.Size(), written.Footer.Bytes, err)
}

// checkSingle reads single scores with all families: those at the ends of blocks and lanes, and some between.
func checkSingle(t *testing.T, path string, scores []int8) {
	f := must.Get(Open(path))(t)
	defer f.Close()
	for _, family := range cpu.Available() {
		d := f.NewDecoder(family)
		for i := 0; i < len(scores); i += 1 + i%(1+len(scores)/200) {
			if got, err := d.Score(t.Context(), uint64(i)); err != nil || got != scores[i] {
				t.Fatalf("%v: score %d is %d, %v; want %d", family, i, got, err, scores[i])
			}
		}
		should.Be(t, must.Err(d.Score(t.Context(), uint64(len(scores)))), ErrRange, "score %d of %d", len(scores), len(scores))
	}
}

// TestRealBlock encodes and decodes a block of a solved layer with all families:
// they agree on every byte, and the block shrinks as it should.
func TestRealBlock(t *testing.T) {
	scores := realBlock(t)
	model := modelOf(scores, -20, 20)
	var want []byte
	for _, f := range cpu.Available() {
		h := testHeader(len(scores), len(scores))
		h.Model = model
		e := must.Get(NewEncoder(h, f))(t)
		var b Block
		must.OK(t, e.Encode(&b, scores))
		if want == nil {
			want = slices.Clone(b.stored)
		}
		should.Not(t, !slices.Equal(b.stored, want) || float64(len(want)) > 0.44*float64(len(scores)), "%v: %d bytes", f, len(b.stored))
		d := forge(t, h, b.stored, scores)
		got, err := d.Block(t.Context(), 0, nil)
		should.Hold(t, err == nil && slices.Equal(got, scores), "%v: %v", f, err)
		for i := 0; i < len(scores); i += 97 {
			if got, err := d.Score(t.Context(), uint64(i)); err != nil || got != scores[i] {
				t.Fatalf("%v: score %d is %d, %v; want %d", f, i, got, err, scores[i])
			}
		}
	}
}
