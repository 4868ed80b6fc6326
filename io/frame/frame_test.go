package frame_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/frame"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var codecs = []frame.Codec{frame.None, frame.LZ4, frame.Zstd}

func contents(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(random.IntN(4) * random.IntN(4))
	}
	return data
}

func pack(t testing.TB, c frame.Codec, data []byte, workers int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(frame.NewWriter(&out, c, uint64(len(data)), workers))(t)
	for part := range slices.Chunk(data, 70_000) {
		must.OK(t, must.Err(w.Write(part)))
	}
	must.OK(t, w.Close())
	return out.Bytes()
}

func unpack(t testing.TB, c frame.Codec, r io.Reader) ([]byte, error) {
	t.Helper()
	z := must.Get(frame.NewReader(r, c, frame.MostRoom))(t)
	data, err := io.ReadAll(z)
	return data, errors.Join(err, z.Close())
}

// TestRoundTrip also checks that workers do not change a frame.
func TestRoundTrip(t *testing.T) {
	for _, size := range []int{1, 12, 65_536, 2<<20 + 5} {
		data := contents(size)
		for _, c := range codecs {
			should.Equal(t, must.Get(frame.ParseCodec(string(c)))(t), c)
			packed := pack(t, c, data, 1)
			should.Hold(t, bytes.Equal(packed, pack(t, c, data, 3)), "%s, %d bytes: three workers write another frame than one", c, size)
			got := must.Get(unpack(t, c, bytes.NewReader(packed)))(t)
			should.Hold(t, bytes.Equal(got, data), "%s, %d bytes: %d other bytes", c, size, len(got))
		}
	}
	for _, name := range []string{"", "gzip", "LZ4"} {
		should.Be(t, must.Err(frame.ParseCodec(name)), frame.ErrCodec, "%q", name)
		should.Be(t, must.Err(frame.NewReader(nil, frame.Codec(name), frame.MostRoom)), frame.ErrCodec, "reading %q", name)
		should.Be(t, must.Err(frame.NewWriter(nil, frame.Codec(name), 1, 1)), frame.ErrCodec, "writing %q", name)
	}
}

func TestTools(t *testing.T) {
	data := contents(2 << 20)
	for _, c := range codecs[1:] {
		tool, err := exec.LookPath(string(c))
		if err != nil {
			t.Logf("there is no %s", c)
			continue
		}
		got := must.Get(filter(tool, "-dc", pack(t, c, data, 2)))(t)
		should.Hold(t, bytes.Equal(got, data), "%s -d: %d other bytes", c, len(got))
		got = must.Get(unpack(t, c, bytes.NewReader(must.Get(filter(tool, "-c", data))(t))))(t)
		should.Hold(t, bytes.Equal(got, data), "packed by %s: %d other bytes", c, len(got))
	}
}

func filter(tool, flag string, in []byte) ([]byte, error) {
	cmd := exec.Command(tool, flag)
	cmd.Stdin = bytes.NewReader(in)
	return cmd.Output()
}

// TestDamage: a frame that a codec refuses, and bytes after a frame, are damage.
func TestDamage(t *testing.T) {
	data := contents(500)
	for _, c := range codecs[1:] {
		packed := pack(t, c, data, 1)
		flipped := bytes.Clone(packed)
		flipped[len(packed)/2] ^= 0x55
		for what, bad := range map[string][]byte{
			"nothing": nil, "cut": packed[:len(packed)-1], "changed": flipped, "no frame": data, "a byte more": append(bytes.Clone(packed), 'x'),
			"more": append(bytes.Clone(packed), "more rubbish after the frame"...),
		} {
			should.Be(t, must.Err(unpack(t, c, bytes.NewReader(bad))), frame.ErrDamaged, "%s, %s", c, what)
		}
	}
}

// TestFileErrors: an error of the file is not damage; a failure to write is not lost, and leaves no goroutine.
func TestFileErrors(t *testing.T) {
	broken := errors.New("the disk")
	f := must.Get(os.Create(filepath.Join(t.TempDir(), "file")))(t)
	f.Close()
	data := contents(4 << 20)
	for _, c := range codecs {
		packed := pack(t, c, data[:100_000], 1)
		_, err := unpack(t, c, io.MultiReader(bytes.NewReader(packed[:len(packed)/2]), iotest.ErrReader(broken)))
		should.Not(t, !errors.Is(err, broken) || errors.Is(err, frame.ErrDamaged), "%s: error %v", c, err)
		w := must.Get(frame.NewWriter(f, c, uint64(len(data)), 2))(t)
		should.Be(t, errors.Join(must.Err(w.Write(data)), w.Close()), os.ErrClosed, "%s", c)
	}
}

// FuzzReader feeds readers any bytes: they give contents or ErrDamaged, and stop.
func FuzzReader(f *testing.F) {
	for _, c := range codecs[1:] {
		packed := pack(f, c, contents(500), 1)
		f.Add(c == frame.LZ4, packed)
		f.Add(c == frame.LZ4, packed[:len(packed)-5])
	}
	f.Fuzz(func(t *testing.T, isLZ4 bool, data []byte) {
		c := frame.Zstd
		if isLZ4 {
			c = frame.LZ4
		}
		z := must.Get(frame.NewReader(bytes.NewReader(data), c, frame.MostRoom))(t)
		defer z.Close()
		_, err := io.Copy(io.Discard, io.LimitReader(z, 1<<20))
		should.Not(t, err != nil && !errors.Is(err, frame.ErrDamaged), "%v", err)
	})
}
