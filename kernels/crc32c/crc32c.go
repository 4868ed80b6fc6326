// Package crc32c is the checksum of data on disk, CRC-32C (Castagnoli): the code of the standard
// library, which uses the instructions that processors have for it.
package crc32c

import (
	"hash"
	"hash/crc32"
)

var table = crc32.MakeTable(crc32.Castagnoli)

// Of returns the checksum of data.
func Of(data []byte) uint32 { return crc32.Checksum(data, table) }

// Update returns the checksum of bytes that have the given one, followed by data.
func Update(sum uint32, data []byte) uint32 { return crc32.Update(sum, table, data) }

// New returns a hash that computes the checksum of the bytes written to it.
func New() hash.Hash32 { return crc32.New(table) }
