// Package npy writes the header of NumPy array files (.npy, format version 1.0) of one
// dimension, of signed bytes or of records of bytes. The elements follow it as they are:
//
//	+--------+---------+---------------+--------------------------------+------------------+
//	| \x93   | version | length, 2     | {'descr': '|i1', 'fortran_     | one signed byte  |
//	| NUMPY  | 1, 0    | little endian | order': False, 'shape': (n,), }| for each element |
//	+--------+---------+---------------+--------------------------------+------------------+
//
// The dictionary is padded by blanks and ends with a newline so that data begins at a multiple
// of 64 bytes: numpy.load can map such a file into memory (mmap_mode='r'). Source of the
// format: numpy.lib.format in the NumPy documentation (NEP 1).
package npy

import (
	"encoding/binary"
	"fmt"
)

// Align divides the length of every header.
const Align = 64

// prefix is the number of bytes before the dictionary.
const prefix = 10

// Header returns the header of an array of n signed bytes, in C order.
func Header(n uint64) []byte { return HeaderOf("'|i1'", n) }

// HeaderOf returns the header of an array of n elements, whose type is a Python literal: the
// name of a type in quotes, or a list of fields like [('pits', '|i1', (12,)), ('best', '|b1')],
// which follow each other without gaps. The header must be shorter than 64 KiB.
func HeaderOf(descr string, n uint64) []byte {
	dictionary := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': (%d,), }", descr, n)
	length := (prefix + len(dictionary) + 1 + Align - 1) / Align * Align
	h := append(make([]byte, 0, length), "\x93NUMPY\x01\x00"...)
	h = binary.LittleEndian.AppendUint16(h, uint16(length-prefix))
	return fmt.Appendf(h, "%-*s\n", length-prefix-1, dictionary)
}
