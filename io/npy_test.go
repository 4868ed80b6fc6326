package io_test

import (
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/npy"
)

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
