// Package spill keeps a stream of bytes in a file: written once from beginning to end,
// read in the same order, compressed with lz4 and a Huffman code if that pays. It is for data that a solver could
// compute again, at a cost, and for data that do not fit into memory.
//
//	w, err := spill.Create(dir, "found", spill.Header{Kind: "found", Version: 1, Identity: whose}, spill.LZ4, workers)
//	...
//	_, err = w.Write(scores)
//	...
//	err = w.Publish()
//
// A stream gets its name only when it is complete and on disk: a crash leaves the old
// stream or the new one. Its header says what it holds and for whom; checksums cover the
// blocks, their order and the end. A Reader returns no byte of a damaged block, and
// io.EOF only if the whole stream was intact.
//
// Several goroutines compress, check and unpack blocks, and hold a few blocks each in
// memory, no more. Little of a stream stays in the page cache (package pagecache).
// docs/format/spill.md describes the bytes.
package spill
