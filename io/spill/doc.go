// Package spill keeps a stream of bytes in a file: written once from beginning to end,
// read in the same order, compressed by lz4 on the way if that pays. It is for what a solver can
// compute again but would rather not, and for what has no room in memory.
//
//	w, err := spill.Create(dir, "found", spill.Header{Kind: "found", Version: 1, Identity: whose}, spill.LZ4, workers)
//	...
//	_, err = w.Write(scores)
//	...
//	err = w.Publish()
//
// A stream has its name when it is complete and on disk: a crash leaves the one before or
// the new one. Its header says what it is and whose; blocks and their order are
// covered by checksums, and so is the end. A Reader gives nothing of a block that is not in
// order, and io.EOF when everything was: only then the stream is known to be whole.
//
// Blocks are compressed, checked and unpacked by several goroutines; a few of them for
// each are all the memory that this takes. Little of a stream stays in the page cache
// (package pagecache). docs/format/spill.md describes the bytes.
package spill
