// Package sample writes random positions with what is known about them, for learning and
// research: the board, its score, the value of each move, and which moves are best.
//
//	csv    a line for each position, with a header
//	jsonl  a JSON object for each position, one a line
//	npy    an array of records for NumPy
//
// docs/format/sample.md describes them. It belongs to exchange, which is for files that
// other programs read: it shares the formats' names and package npy with it. What exchange
// writes are whole layers in their order, without moves; so the encoders are others.
//
// # Which positions
//
// Uniform over positions: a permutation of the positions of all layers that are asked for, which
// depends on the seed (package chance), says which comes first, second, and so on. No position comes twice,
// the order is random, a longer sample begins with the shorter one, and no memory is needed.
//
// Uniform over scores: scores take turns, from the lowest up, as long as there are positions
// with that score left; which of those comes next is up to a permutation for each score. Where
// the third position with score 5 is, say, only a reader of all scores knows: so the layers are
// read once before the first line (scores.go), and the sample is limited by the memory.
//
// # Files
//
// A sample may be split by a hash of the board, and each part into shards (files.go). Beside the files goes a card
// (card.go): layers, checksums, seed, columns, licence.
//
// # Bytes
//
// Nothing depends on the number of workers or on the memory: the same request gives the same
// bytes. Positions are looked up in batches as large as the memory allows, each in the order of the
// files, by tables.Probes, which also compares each score with the moves: no wrong position
// gets into a sample unnoticed.
package sample
