// Package workfile is the one big file in which a solver that does not fit into
// memory keeps pieces of its work, and from which it resumes after a crash.
//
// A piece is a string of bytes (a compressed block, say). Put writes one and
// returns its Extent: where it is, how long it is, and its checksum. PutAll and
// GetAll write and read many small ones at once, side by side. The file holds
// nothing but pieces and gaps between them. The checkpoint, a document of the
// caller, lists the extents; Commit replaces it. Package sealed frames it with a
// checksum.
//
// The rule that makes a crash harmless: nothing that the checkpoint on disk
// refers to is ever overwritten. Hence a piece is never changed, only replaced
// by another one elsewhere, and the space of a dropped piece is used again only
// after a Commit has made durable a checkpoint that does not mention it:
//
//	Put, Put, Drop, ...      into gaps and at the end; nothing is durable yet
//	Commit: fsync the file   now the pieces are
//	        write, fsync and rename the checkpoint, fsync the directory
//	        the space of pieces dropped before is free
//
// After a crash, Open takes the extents of the last checkpoint; the rest of the
// file is free. Pieces put after that checkpoint are lost.
//
// The file would fill the page cache with bytes that are not read again soon, at
// the cost of everything else on the machine. On Linux its pages are therefore
// written out and dropped soon after each Put and Get; Put waits for the disk
// when about 16 MiB have not been written.
//
// docs/format/work-file.md describes file and frame.
package workfile
