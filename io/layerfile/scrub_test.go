package layerfile

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/kernels/cpu"
)

// manyBlocks writes a file whose blocks are several parts of the index, and several pieces.
func manyBlocks(t *testing.T) (path string, blocks int) {
	t.Helper()
	const size = 2048
	random := rand.New(rand.NewPCG(1, 2))
	scores := make([]int8, size*(scrubEntries+scrubEntries/2)-100)
	for i := range scores {
		scores[i] = int8(random.Uint32())
	}
	path = filepath.Join(t.TempDir(), "layer.gl")
	h := Header{
		Game: "awari", Rules: "awari", Pits: 12, Seeds: 9, Codec: LZ4, Transform: Ranks,
		BlockSize: size, Positions: uint64(len(scores)),
	}
	writeFile(t, path, h, scores)
	return path, h.Blocks()
}

// scrubbed returns the problems of a file, and how far the scrub came.
func scrubbed(t *testing.T, path string, from int) (problems []string, last Scrubbed) {
	t.Helper()
	f, bad, err := Inspect(path)
	must.OK(t, err)
	defer f.Close()
	for _, p := range bad {
		problems = append(problems, p.Error())
	}
	if len(bad) > 0 {
		return problems, last
	}
	progress := func(p Scrubbed) {
		should.Not(t, p.Block <= last.Block || p.Bytes <= last.Bytes, "progress from %v to %v", last, p)
		last = p
	}
	report := func(err error) {
		should.Be(t, err, corrupt.ErrCorrupt, "is no corruption")
		problems = append(problems, err.Error())
	}
	must.OK(t, f.Scrub(t.Context(), from, f.NumBlocks(), 3, progress, report))
	return problems, last
}

// TestScrubBlocks: every damaged block is found, in order.
func TestScrubBlocks(t *testing.T) {
	path, blocks := manyBlocks(t)
	problems, last := scrubbed(t, path, 0)
	all := must.Get(os.Stat(path))(t).Size() - headerSize - footerSize - int64(blocks)*indexEntrySize
	should.Hold(t, len(problems) == 0 && last == (Scrubbed{blocks, all}), "%d blocks of %d bytes: %v, %q", blocks, all, last, problems)
	file := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer file.Close()
	for _, block := range []int64{0, 1, 2049, 4095, 4096, int64(blocks) - 1} {
		var b [1]byte
		offset := headerSize + block*2048 + 7
		must.OK(t, must.Err(file.ReadAt(b[:], offset)))
		b[0] ^= 4
		must.OK(t, must.Err(file.WriteAt(b[:], offset)))
	}
	problems, _ = scrubbed(t, path, 0)
	for i, want := range []string{"block 0:", "block 1:", "block 2049:", "block 4095:", "block 4096:", "block 6143:"} {
		must.Hold(t, len(problems) == 6 && strings.Contains(problems[i], want+" checksum of the stored bytes "),
			"%q lacks %s", problems, want)
	}
	problems, last = scrubbed(t, path, 4096)
	should.Hold(t, len(problems) == 2 && last.Block == blocks && last.Bytes == all-4096*2048, "from block 4096 on: %q, %v", problems, last)
	f, bad, err := Inspect(path)
	must.OK(t, errors.Join(append(bad, err)...))
	defer f.Close()
	for end, want := range map[int]int{1: 0, 2: 1, 2049: 1, 2050: 2, 4096: 3, 4097: 4} { // of the damaged blocks, from block 1 on
		found, last := 0, Scrubbed{Block: 1}
		must.OK(t, f.Scrub(t.Context(), 1, end, 2, func(p Scrubbed) { last = p }, func(error) { found++ }))
		should.Hold(t, found == want && last.Block == end && last.Bytes == int64(end-1)*2048,
			"blocks 1 to %d: %d problems, %v", end-1, found, last)
	}
}

// spoilt is a source of which one byte cannot be read.
type spoilt struct {
	source
	at int64
}

func (s spoilt) read(ctx context.Context, dst []byte, offset int64) error {
	if offset <= s.at && s.at < offset+int64(len(dst)) {
		return syscall.EIO
	}
	return s.source.read(ctx, dst, offset)
}

// TestScrubUnreadable: of a piece that cannot be read as a whole, the block that cannot be read is named, and no other.
func TestScrubUnreadable(t *testing.T) {
	path, _ := manyBlocks(t)
	f, bad, err := Inspect(path)
	must.Hold(t, err == nil && len(bad) == 0, "%v %v", bad, err)
	defer f.Close()
	f.source = spoilt{f.source, headerSize + 3*2048 + 5}
	var problems []string
	must.OK(t, f.Scrub(t.Context(), 0, f.NumBlocks(), 3, func(Scrubbed) {}, func(err error) { problems = append(problems, err.Error()) }))
	should.Hold(t, len(problems) == 1 && strings.Contains(problems[0], "block 3: "), "%q", problems)
}

// TestScrubEveryByte: no changed byte is missed, although nothing is
// decoded.
func TestScrubEveryByte(t *testing.T) {
	text := golden(t, "lz4")
	path := filepath.Join(t.TempDir(), "layer.gl")
	for i := range text {
		bad := slices.Clone(text)
		bad[i] ^= 1 << (i % 8)
		must.Write(t, path, bad)
		problems, _ := scrubbed(t, path, 0)
		should.Not(t, len(problems) == 0, "byte %d of %d: nothing found", i, len(text))
	}
}

// TestScrubTruncated cuts a file that is open.
func TestScrubTruncated(t *testing.T) {
	path, blocks := manyBlocks(t)
	f, bad, err := Inspect(path)
	must.Hold(t, err == nil && len(bad) == 0, "%v %v", bad, err)
	defer f.Close()
	must.OK(t, os.Truncate(path, headerSize+5*2048+100))
	count := 0
	err = f.Scrub(t.Context(), 0, f.NumBlocks(), 1, func(Scrubbed) {}, func(error) { count++ })
	// Either the index was read before, and blocks are missing, or it is missing.
	should.Not(t, !errors.Is(err, corrupt.ErrCorrupt) && (err != nil || count < blocks/3), "%d problems of %d, %v", count, blocks, err)
}

func TestScrubEnds(t *testing.T) {
	path, _ := manyBlocks(t)
	f, _, err := Inspect(path)
	must.OK(t, err)
	none := func(error) { t.Error("a problem") }
	ctx, cancel := context.WithCancel(t.Context())
	err = f.Scrub(ctx, 0, f.NumBlocks(), 2, func(Scrubbed) { cancel() }, none)
	should.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
	must.OK(t, f.Close())
	should.Be(t, f.Scrub(t.Context(), 0, f.NumBlocks(), 2, func(Scrubbed) {}, none), os.ErrClosed, "closed")
}

// TestInspect distinguishes foreign entries from damaged ones.
func TestInspect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layer.gl")
	text := golden(t, "lz4")
	newer := slices.Clone(text)
	newer[8] = Version + 1
	for _, c := range []struct {
		name           string
		text           []byte
		known, strange bool
	}{
		{"empty", nil, false, false},
		{"foreign", []byte("Dear diary"), false, true},
		{"newer", newer, false, true},
		{"short", text[:50], false, false},
		{"cut", text[:len(text)-1], true, false},
	} {
		must.Write(t, path, c.text)
		f, problems, err := Inspect(path)
		must.OK(t, err)
		if h := f.Header(); len(problems) == 0 || h.Known() != c.known || Strange(problems) != c.strange {
			t.Errorf("%s: known %v, strange %v, %v", c.name, h.Known(), Strange(problems), problems)
		}
		f.Close()
	}
	should.Be(t, must.Err(Inspect(t.TempDir())), corrupt.ErrForeign, "a directory")
	should.Be(t, must.Err(CheckSparing(t.Context(), path, cpu.Generic, 3, nil, func(error) {})), corrupt.ErrCorrupt, "CheckSparing")
}
