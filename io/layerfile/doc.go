// Package layerfile reads and writes sealed layers: the scores of all positions
// of one layer, one signed byte each, in rank order, in a single file that is
// never changed once it is complete.
//
// # Layout
//
// All numbers are little endian. A file is a header, the model, the blocks, the
// index of the blocks and a footer, with nothing between them and nothing behind:
//
//		+--------+-------+---------+-----+---------+------------------+--------+
//		| header | model | block 0 | ... | block B | index            | footer |
//		| 84     |       |         |     |         | 24 for each block| 76     |
//		+--------+-------+---------+-----+---------+------------------+--------+
//
//	  - The model says which scores are frequent in which context (package ranks).
//	    It makes scores small numbers in all blocks, and has a CRC-32C in the
//	    header.
//	  - A block holds the next 65,536 scores (the header says how many; the last
//	    block may be shorter) as ranks in the model, written in few bits (package
//	    rice) and compressed by lz4, or the plain scores if that does not
//	    make them shorter. Blocks do not depend on each other: reading one score
//	    costs one block, once the model is there.
//	  - An index entry holds offset, length and flags of a block and two CRC-32C:
//	    of the stored bytes, so that the codec never sees damaged input, and of the
//	    scores, so that a wrong decoder is noticed as well.
//	  - The footer holds the place and CRC-32C of the index, a copy of the CRC-32C
//	    of the header, the length of the file, an FNV-1a-64 hash of all scores and
//	    how many are wins, draws and losses. Its own CRC-32C thus depends on
//	    every byte of the file; it is the Checksum that a manifest records.
//
// The byte by byte layout, fit for writing a reader in another language, is in
// docs/format/layer-file.md.
//
// # Writing
//
// Blocks are encoded by any number of workers and appended in order:
//
//	p, err := vfs.Begin(path)
//	w, err := layerfile.Create(p, header, family)
//	defer w.Abort()                             // nothing to do after Publish
//	e, err := layerfile.NewEncoder(header, family) // one for each worker
//	var b layerfile.Block                       // may be reused after Append
//	err = e.Encode(&b, scores)
//	err = w.Append(&b)
//	summary, err := w.Finish()                  // all is on disk
//	err = w.Publish()                           // at path, in place of an older file
//
// # Reading
//
//	f, err := layerfile.Open(path)
//	defer f.Close()
//	err = f.Expect(header)
//	d := f.NewDecoder(family)                   // one for each goroutine
//	scores, err = d.Block(ctx, i, scores)
//	score, err := d.Score(ctx, rank)            // one, in a quarter of the time
//
// Open checks header, model, footer and index, but no block: it reads 24 bytes for each
// 65,536 positions and notices a truncated file for certain. Each block is
// checked when it is decoded; of one from which Score takes a score, the stored bytes
// are. Check reads everything.
//
// # The memory map
//
// An open file is mapped into memory, read-only. No slice of the map ever leaves
// this package: a decoder first copies the stored bytes of a block, then checks
// and decodes its copy. So
//
//   - what Block, Read and Score return belongs to the caller, for ever;
//   - Close may be called while decoders are at work; they fail with os.ErrClosed
//     from then on;
//   - replacing the file by another one under the same name (rename) does not
//     disturb readers: they keep the old file until they close it;
//   - a file that somebody truncates or overwrites in place while it is open
//     gives errors that match corrupt.ErrCorrupt, like one that was damaged
//     before. The operating system reports access behind the end of a truncated
//     file, or a disk error, by a signal, SIGBUS; the copy catches it.
//
// # Files larger than memory
//
// What a map has read stays in memory as long as the operating system likes.
// OpenSparing reads without a map, and CreateSparing writes, so that at most some
// MiB of a file are in memory (package pagecache). All else is the same.
//
// # Files that are far away
//
// OpenReader reads through any Reader, such as a file on a web server (package
// remote): each block is one call. The index of a large file is read in parts, as
// blocks are asked for.
//
// Every error about contents is a *corrupt.Error.
package layerfile
