// Package io_test has the tests of small packages below, which take less time than it takes to link a program for each.
package io_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/lines"
	"grenier/io/npy"
	"grenier/kernels/fault"
)

func TestMarkers(t *testing.T) {
	for _, cause := range []error{corrupt.ErrForeign, corrupt.ErrVersion, corrupt.ErrMismatch, io.ErrUnexpectedEOF} {
		err := fmt.Errorf("opening: %w", corrupt.New("a.gl", "block 7", "%w: details", cause))
		var typed *corrupt.Error
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, cause) && errors.As(err, &typed) && typed.Part == "block 7", "%v", err)
		for _, other := range []error{corrupt.ErrForeign, corrupt.ErrVersion, corrupt.ErrMismatch} {
			should.Not(t, other != cause && errors.Is(err, other), "%v is taken for %v", err, other)
		}
	}
}

func TestNext(t *testing.T) {
	long, most := "long "+strings.Repeat("x", 2<<20), strings.Repeat("y", lines.Max-1)
	const end = "<the end>"
	for text, all := range map[string][]string{ // "!" stands for a line that is too long
		"":                            {end},
		"a\r\n\nb":                    {"a", "", "b", end},
		"a\r\r\nb\n":                  {"a\r", "b", end},
		most + "\n" + most:            {most, most, end},
		most + "\r\na":                {"!yyyy", "a", end},
		"a\n" + long + "\nb\n" + long: {"a", "!long", "b", "!long", end},
	} {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			r := lines.NewReader(in)
			for i, want := range all {
				line, err := r.Next()
				got := string(line)
				switch {
				case errors.Is(err, lines.ErrLong) && errors.Is(err, fault.Usage):
					got = "!" + got[:4]
				case err == io.EOF:
					got = end
				case err != nil:
					t.Fatal(err)
				}
				should.Hold(t, got == want, "%.20q, line %d: %.20q, want %.20q", text, i, got, want)
			}
		}
	}
}

// TestBroken passes on errors from below, in the middle of a line too.
func TestBroken(t *testing.T) {
	broken := errors.New("cable cut")
	for _, text := range []string{"", "a", strings.Repeat("a", lines.Max), strings.Repeat("a", 2*lines.Max+1)} {
		r := lines.NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		should.Be(t, must.Err(r.Next()), broken, "after %d bytes", len(text))
	}
}

// TestHeaders checks what the format asks for at all lengths of the dictionary.
func TestHeaders(t *testing.T) {
	should.Equal(t, string(npy.Header(10)),
		"\x93NUMPY\x01\x00v\x00{'descr': '|i1', 'fortran_order': False, 'shape': (10,), }"+strings.Repeat(" ", 59)+"\n")
	for n := uint64(1); n < math.MaxUint64/10; n *= 10 {
		h := npy.Header(n)
		length := int(binary.LittleEndian.Uint16(h[8:]))
		should.Hold(t, len(h)%npy.Align == 0 && len(h) == 10+length && h[len(h)-1] == '\n' && strings.Count(string(h), "\n") == 1,
			"%d elements: %q", n, h)
	}
}

// reader loads a file as the documentation of NumPy describes the format, and by NumPy if it is there.
const reader = `
import ast, struct, sys
data = open(sys.argv[1], 'rb').read()
assert data[:8] == b'\x93NUMPY\x01\x00'
length, = struct.unpack('<H', data[8:10])
header = ast.literal_eval(data[10:10+length].decode('latin1'))
assert header == {'descr': '|i1', 'fortran_order': False, 'shape': (3,)}, header
assert struct.unpack('3b', data[10+length:]) == (1, -1, -128)
try:
    import numpy
except ImportError:
    sys.exit()
a = numpy.load(sys.argv[1], mmap_mode='r')
assert a.dtype == numpy.int8 and isinstance(a, numpy.memmap) and a.tolist() == [1, -1, -128]
`

func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	tries.SkipIf(t, err != nil, "there is no python3")
	path := filepath.Join(t.TempDir(), "a.npy")
	must.OK(t, os.WriteFile(path, append(npy.Header(3), 1, 0xff, 0x80), 0o644))
	out, err := exec.Command(python, "-c", reader, path).CombinedOutput()
	should.Hold(t, err == nil, "%v: %s", err, out)
}
