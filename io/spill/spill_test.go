package spill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/sealed"
	"grenier/io/vfs"
	"grenier/kernels/crc32c"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var aHeader = Header{Kind: "test", Version: 3, Identity: []byte("mine")}

// contents returns bytes; some parts can be packed, others cannot.
func contents(rng *rand.Rand, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(rng.IntN(4) * rng.IntN(4))
		if i/700%3 == 0 {
			b[i] = byte(rng.Uint32())
		}
	}
	return b
}

// write writes a stream in pieces of any length.
func write(rng *rand.Rand, d vfs.Dir, h Header, data []byte, workers, blockSize int) error {
	w, err := create(d, "a", h, LZ4, workers, blockSize)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		n := 1 + rng.IntN(min(len(data), 3*blockSize))
		if got, err := w.Write(data[:n]); err != nil || got != n {
			return errors.Join(fmt.Errorf("%d bytes of %d: %w", got, n, err), w.Abort())
		}
		data = data[n:]
	}
	return w.Publish()
}

func read(rng *rand.Rand, d vfs.Dir, h Header, workers int) (data []byte, err error) {
	r, err := Open(d, "a", h, workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var b bytes.Buffer
	_, err = io.CopyBuffer(struct{ io.Writer }{&b}, struct{ io.Reader }{r}, make([]byte, 1+rng.IntN(5000)))
	return b.Bytes(), err
}

func systemDir(t testing.TB) vfs.Dir {
	t.Helper()
	d := must.Get(vfs.OpenDir(t.TempDir()))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

// TestWhatIsWrittenIsRead: any length, any size of blocks, any number of goroutines; and the bytes of the file do not depend on that.
func TestWhatIsWrittenIsRead(t *testing.T) {
	rng := tries.Rand(t)
	for i := range 40 {
		blockSize := 1 + rng.IntN(2000)
		data := contents(rng, rng.IntN(9*blockSize))
		if i%4 == 0 { // whole blocks, and a byte
			data = data[:min(len(data)/blockSize*blockSize+i/4%2, len(data))]
		}
		var files [2][]byte
		for i := range files {
			d := systemDir(t)
			must.OK(t, write(rng, d, aHeader, data, 1+rng.IntN(5), blockSize))
			got := must.Get(read(rng, d, aHeader, 1+rng.IntN(5)))(t)
			must.Hold(t, bytes.Equal(got, data), "%d bytes, blocks of %d: %d bytes", len(data), blockSize, len(got))
			files[i] = must.Read(t, d.Path("a"))
		}
		must.Hold(t, bytes.Equal(files[0], files[1]), "%d bytes, blocks of %d: two files of the same contents differ", len(data), blockSize)
	}
}

// TestUsualBlocks writes and reads a stream longer than all buffers.
func TestUsualBlocks(t *testing.T) {
	rng := tries.Rand(t)
	data := contents(rng, 80*usualBlock+5)
	for p, most := range map[Packing]int{LZ4: len(data) * 7 / 10, Huffman: len(data) * 3 / 4, Direct: len(data) + 2000} {
		d := systemDir(t)
		w := must.Get(Create(d, "a", aHeader, p, 3))(t)
		must.OK(t, must.Err(w.Write(data)))
		must.OK(t, w.Publish())
		size := must.Get(d.Lstat("a"))(t).Size()
		should.Not(t, size != w.Bytes() || size > int64(most) || p == Direct && size < int64(len(data)),
			"%d bytes are packed to %d, %d of them on disk", len(data), w.Bytes(), size)
		should.Hold(t, bytes.Equal(must.Get(read(rng, d, aHeader, 2))(t), data), "other bytes")
	}
}

// TestWhose: a stream of something else is not given out.
func TestWhose(t *testing.T) {
	rng, d := tries.Rand(t), systemDir(t)
	var bad Header // what else is: package sealed
	should.Be(t, must.Err(Create(d, "a", bad, LZ4, 1)), sealed.ErrHead)
	should.Be(t, must.Err(Open(d, "a", bad, 1)), sealed.ErrHead)
	should.Equal(t, len(must.Get(d.Entries())(t)), 0, "left behind")
	h := Header{Kind: strings.Repeat("z", sealed.MaxKind), Version: 1<<32 - 1, Identity: make([]byte, sealed.MaxIdentity)}
	must.OK(t, write(rng, d, h, nil, 1, 1))
	must.Same(t, "another header", h, must.Get(ReadHeader(d, "a"))(t))
	must.OK(t, d.Remove("a"))
	should.Be(t, must.Err(Open(d, "a", aHeader, 1)), fs.ErrNotExist)
	must.OK(t, write(rng, d, aHeader, contents(rng, 999), 1, 100))
	for h, want := range map[*Header]error{
		{Kind: "tests", Version: 3, Identity: []byte("mine")}: corrupt.ErrMismatch,
		{Kind: "test", Version: 2, Identity: []byte("mine")}:  corrupt.ErrVersion,
		{Kind: "test", Version: 3, Identity: []byte("mine2")}: corrupt.ErrMismatch,
	} {
		broken := must.As[*corrupt.Error](t, must.Err(Open(d, "a", *h, 1)), "%+v", h)
		should.Hold(t, errors.Is(broken, want) && broken.File == d.Path("a") && broken.Part == "header", "%+v: %v", h, broken)
	}
	r := must.Get(Open(d, "a", Header{Kind: "test", Version: 4, Identity: []byte("mine")}, 1))(t)
	should.Equal(t, r.head.Version, 3, "version")
	must.OK(t, r.Close())
	for text, foreign := range map[string]bool{"": false, "\x89G": false, "\x88G": true, "something else entirely": true} {
		must.OK(t, vfs.Write(d, "a", []byte(text)))
		_, err := ReadHeader(d, "a")
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, corrupt.ErrForeign) == foreign, "%q: %v", text, err)
	}
	must.OK(t, d.Mkdir("dir"))
	should.Be(t, must.Err(ReadHeader(d, "dir")), corrupt.ErrForeign)
}

// TestAbandonedStreams: whatever was done before, nothing is left, and the one before stays.
func TestAbandonedStreams(t *testing.T) {
	rng, d := tries.Rand(t), systemDir(t)
	data := contents(rng, 5000)
	must.OK(t, write(rng, d, aHeader, data, 1, 100))
	for _, n := range []int{0, 99, 100, 4000} {
		w := must.Get(create(d, "a", aHeader, LZ4, 2, 100))(t)
		must.OK(t, errors.Join(must.Err(w.Write(data[:n])), w.Abort(), w.Abort()))
		should.Be(t, must.Err(w.Write(data)), os.ErrClosed, "writing after Abort")
		should.Be(t, w.Publish(), os.ErrClosed, "Publish after Abort")
		r := must.Get(Open(d, "a", aHeader, 2))(t)
		must.OK(t, errors.Join(must.Err(io.ReadFull(r, make([]byte, n))), r.Close()))
		_, err := r.Read(make([]byte, 1))
		should.Not(t, err == nil || errors.Is(err, io.EOF), "reading after Close: %v", err)
	}
	should.Equal(t, len(must.Get(d.Entries())(t)), 1, "left behind")
	should.Hold(t, bytes.Equal(must.Get(read(rng, d, aHeader, 1))(t), data), "other contents")
}

// spans returns where the blocks of a file are, and where its end begins.
func spans(file []byte) (blocks [][2]int, end int) {
	at := headSize + int(little.Uint32(file[hIdentity:])) + 4
	for at+blockHeadSize <= len(file) && little.Uint32(file[at:]) != 0 {
		next := at + blockHeadSize + int(little.Uint32(file[at:])&^uint32(rawFlag|codedFlag))
		if next > len(file) {
			break
		}
		blocks = append(blocks, [2]int{at, next})
		at = next
	}
	return blocks, at
}

func stream(t testing.TB, rng *rand.Rand, h Header, data []byte, blockSize int) []byte {
	t.Helper()
	disk := crashfs.New()
	must.OK(t, write(rng, disk.Dir("x"), h, data, 1, blockSize))
	return must.Get(vfs.Read(disk.Dir("x"), "a", 1<<30))(t)
}

// TestDamage: whatever becomes of a file, a reader notices, names the file, and gives nothing but what was written.
func TestDamage(t *testing.T) {
	rng := tries.Rand(t)
	data := contents(rng, 1050)
	file := stream(t, rng, aHeader, data, 100)
	older := stream(t, rng, aHeader, contents(rng, 1050), 100)
	foreign := stream(t, rng, Header{Kind: "test", Version: 3, Identity: []byte("thei")}, data, 100)
	blocks, end := spans(file)
	olders, olderEnd := spans(older)
	others, _ := spans(foreign)
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	block := func(i int) []byte { return file[blocks[i][0]:blocks[i][1]] }
	damaged := map[string][]byte{
		"a block is missing":             join(file[:blocks[3][0]], file[blocks[4][0]:]),
		"the last block is missing":      join(file[:blocks[10][0]], file[end:]),
		"a block is there twice":         join(file[:blocks[4][0]], file[blocks[3][0]:]),
		"two blocks are exchanged":       join(file[:blocks[3][0]], block(4), block(3), file[blocks[5][0]:]),
		"a block of an older stream":     join(file[:blocks[3][0]], older[olders[3][0]:olders[3][1]], file[blocks[4][0]:]),
		"the blocks of an older stream":  join(file[:blocks[0][0]], older[olders[0][0]:olderEnd], file[end:]),
		"a block of somebody else":       join(file[:blocks[3][0]], foreign[others[3][0]:others[3][1]], file[blocks[4][0]:]),
		"the end comes early":            join(file[:blocks[3][0]], file[end:]),
		"the end of an older stream":     join(file[:end], older[olderEnd:]),
		"something follows":              join(file, []byte{0}),
		"another stream follows":         join(file, file),
		"there is nothing but a header":  file[:blocks[0][0]],
		"zeros follow the header":        join(file[:blocks[0][0]], make([]byte, 500)),
		"zeros at the end, as truncated": join(file[:end-30], make([]byte, len(file)-end+30)),
	}
	const early = "a short block is not the last, with the right checksums"
	damaged[early] = join(file[:blocks[9][0]], block(10), block(9), file[end:])
	fix(damaged[early])
	for at := range file {
		damaged[fmt.Sprintf("cut at %d", at)] = file[:at]
		flipped := slices.Clone(file)
		flipped[at] ^= 1 << rng.IntN(8)
		damaged[fmt.Sprintf("byte %d", at)] = flipped
	}
	d := crashfs.New().Dir("x")
	for name, bad := range damaged {
		must.OK(t, vfs.Write(d, "a", bad))
		got, err := read(rng, d, aHeader, 1+rng.IntN(3))
		h, headErr := ReadHeader(d, "a")
		should.Not(t, headErr == nil && !reflect.DeepEqual(h, aHeader), "%s: header %+v", name, h)
		broken := must.As[*corrupt.Error](t, err, "%s", name)
		should.Hold(t, broken.File == d.Path("a") && broken.Part != "", "%s: %d bytes, %v", name, len(got), err)
		should.Not(t, name != early && name != "a block of an older stream" && name != "the blocks of an older stream" && !bytes.HasPrefix(data, got),
			"%s: gives other bytes", name)
	}
}

// goldenContents are three whole blocks, for lz4, for a code, for neither, and a part.
func goldenContents() []byte {
	return append(bytes.Repeat([]byte{0, 127, 255, 1}, 16), "aaabaacaadabbabcabdacbaccacdadbadcaddbbbcbbdbccbcdbdcbddcccdcddd"+
		"Nothing here comes again, so that a block of 64 bytes is as it is, then: end"...)
}

// TestGolden: if only the version of lz4 changed, -update is right; otherwise the format changed and needs a new version number.
func TestGolden(t *testing.T) {
	want := string(goldenContents())
	golden.Check(t, "testdata/golden.spill", stream(t, tries.Rand(t), aHeader, goldenContents(), 64))
	d := must.Get(vfs.OpenDir("testdata"))(t)
	defer d.Close()
	for name, want := range map[string]string{"golden.spill": want, "version1.spill": want[:64] + want[128:]} { // that version has no codes
		r := must.Get(Open(d, name, aHeader, 1))(t)
		should.Equal(t, string(must.Get(io.ReadAll(r))(t)), want, "%s", name)
		must.OK(t, r.Close())
	}
}

// TestCrashes crashes in each operation, or lets it fail: the error says so, the stream before is there, or the new one, and after a
// failure nothing else.
func TestCrashes(t *testing.T) {
	rng := tries.Rand(t)
	older, newer := contents(rng, 3000), contents(rng, 2500)
	for want, spoil := range map[error]func(disk *crashfs.FS, k int){
		crashfs.ErrCrashed: func(disk *crashfs.FS, k int) { disk.CrashAt(disk.Ops() + k) },
		syscall.ENOSPC: func(disk *crashfs.FS, k int) {
			calls := 0
			disk.Fail(func(op crashfs.Op, _ string) error {
				if calls++; calls == k && op != crashfs.Remove {
					return syscall.ENOSPC
				}
				return nil
			})
		},
	} {
		for k, err := 1, want; err != nil; k++ {
			disk := crashfs.New()
			must.OK(t, write(rng, disk.Dir("x"), aHeader, older, 2, 300))
			spoil(disk, k)
			err = write(rng, disk.Dir("x"), aHeader, newer, 2, 300)
			must.Hold(t, err == nil || errors.Is(err, want), "operation %d: %v", k, err)
			found := []*crashfs.FS{disk}
			if want == crashfs.ErrCrashed {
				found = []*crashfs.FS{disk.Kill(), disk.PowerCut(rng), disk.PowerCut(rng), disk.Kill().PowerCut(rng)}
			} else {
				must.Equal(t, len(disk.Names()), 1, "operation %d: files", k)
			}
			for _, disk := range found {
				got := must.Get(read(rng, disk.Dir("x"), aHeader, 1))(t)
				must.Not(t, !bytes.Equal(got, newer) && (err == nil || !bytes.Equal(got, older)), "operation %d, %v: %d bytes", k, err, len(got))
			}
		}
	}
}

// TestAbortAfterPublish: a stream that could not be published is gone, and Abort does nothing.
func TestAbortAfterPublish(t *testing.T) {
	disk := crashfs.New()
	w := must.Get(Create(disk.Dir("x"), "a", aHeader, LZ4, 1))(t)
	disk.Fail(func(op crashfs.Op, _ string) error { return map[bool]error{true: syscall.ENOSPC}[op == crashfs.Sync] })
	should.Be(t, w.Publish(), syscall.ENOSPC, "Publish")
	must.OK(t, w.Abort())
	should.List(t, disk.Names(), nil)
}

// fix makes the checksums of a file right, as far as it can be divided into blocks.
func fix(file []byte) {
	if len(file) < headSize || int(little.Uint32(file[hIdentity:])) > len(file)-headSize-4 {
		return
	}
	start := headSize + int(little.Uint32(file[hIdentity:]))
	header := crc32c.Of(file[:start])
	little.PutUint32(file[start:], header)
	blocks, end := spans(file)
	var all totals
	for i, s := range blocks {
		b := block{number: uint64(i), stored: file[s[0]:s[1]]}
		little.PutUint32(b.stored[bSum:], b.checksum(header))
		all.add(b.stored)
	}
	if rest := file[end:]; len(rest) >= tailSize && little.Uint32(rest) == 0 {
		copy(rest, all.encode(header))
	}
}

// FuzzRead: no file makes a reader panic or give what no writer wrote, even if its
// checksums are right: what is read can be written, and is read again.
func FuzzRead(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	f.Add(stream(f, rng, aHeader, goldenContents(), 64), true)
	f.Add(stream(f, rng, aHeader, nil, 1), true)
	f.Add(stream(f, rng, aHeader, contents(rng, 5000), 1000), false)
	f.Fuzz(func(t *testing.T, file []byte, fixed bool) {
		if fixed {
			file = slices.Clone(file)
			fix(file)
		}
		d := crashfs.New().Dir("x")
		must.OK(t, vfs.Write(d, "a", file))
		h, err := ReadHeader(d, "a")
		must.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
		if err != nil {
			return
		}
		rng := rand.New(rand.NewPCG(1, 1))
		data, err := read(rng, d, h, 2)
		if err != nil {
			must.Be(t, err, corrupt.ErrCorrupt)
			return
		}
		must.OK(t, write(rng, d, h, data, 2, 1+len(data)/3))
		again := must.Get(read(rng, d, h, 2))(t)
		must.Hold(t, bytes.Equal(data, again), "%d bytes, then %d", len(data), len(again))
	})
}
