package halfboard

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"grenier/io/memory"
	"grenier/kernels/colex"
	"grenier/kernels/ranks"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// Memory returns about the bytes that solving the layer of n seeds takes: the
// scores and offers of the positions and, for each half, its place, its moves
// and its part of the patterns, of which larger layers have more.
func Memory(game awari.Game, n int) uint64 {
	q := game.Half()
	return uint64(board.LayoutOf(q, n).Total()) + colex.MustBinomial(q+n, q)*uint64(36+10*q+4*n)
}

// tablesBytes returns about the bytes of the Go heap that a layer of n seeds takes: places,
// moves and patterns for each half, and garbage; a mark and what is alive for each block; a
// description of each tile.
func tablesBytes(q, n int) uint64 {
	const mark, tile = 24, 500
	half := uint64(90 + n/4) // 82 to 84 were counted for 20 to 26 seeds
	blocks := uint64(board.LayoutOf(q, n).Offers[board.OpenRows]) / (board.Side * board.Side)
	return colex.MustBinomial(q+n, q)*half + blocks*mark + blocks*(board.Side*board.Side)/(tileSize*tileSize)*tile
}

// fixed is the base memory: runtime and 2 MiB a worker.
func fixed(workers int) uint64 {
	const perWorker = 2 << 20 // most of it is for those who read and write
	return memory.Base + uint64(max(1, workers))*perWorker
}

// Least returns about the least memory in bytes with which an engine with the given
// workers can solve the layer of n seeds: with two bits a score.
func Least(game awari.Game, n, workers int) uint64 {
	return min(Whole(game, n, workers), narrow(game, n, workers, window.Two))
}

// Whole returns about the memory in bytes with which an engine with the given workers
// solves the layer of n seeds in one piece.
func Whole(game awari.Game, n, workers int) uint64 { return fixed(workers) + Memory(game, n) }

// Narrow returns about the memory in bytes with which an engine with the given workers solves the layer of n seeds window by
// window, with the given bits a score, one of Widths but the first.
func Narrow(game awari.Game, n, workers, bits int) uint64 {
	o := Options{Bits: bits}
	return narrow(game, n, workers, o.codes())
}

// narrow returns about the memory with which an engine solves the layer of n seeds window
// by window: at first captures need it, then scores, with what stages work on.
func narrow(game awari.Game, n, workers int, codes *window.Codes) uint64 {
	q := game.Half()
	scores := uint64(board.CodesBytes(q, n, codes.Bits)) + streamBytes(q, n, workers)
	return fixed(workers) + tablesBytes(q, n) + max(scores, captureBytes(q, n, workers)+pieceBytes(q, workers)+leastOffers(q, n))
}

// roomForScores returns the bytes that scores can take: what codes of the given bits do, or if that
// is more, what memory leaves. Thin windows take what they need of it.
func (o *Options) roomForScores(q, n, bits int) int {
	taken := fixed(o.Workers) + tablesBytes(q, n) + streamBytes(q, n, o.Workers)
	return max(board.CodesBytes(q, n, bits), int(o.Memory)-int(taken))
}

// slack returns the bytes that the Go runtime needs beside bytes of its heap that stay, so that the collector runs a few
// times in a stage: for its own tables, for what falls between objects, and for garbage.
func slack(stays uint64) uint64 {
	const least = 6 << 20
	return least + stays/64
}

// streamBytes returns about the bytes that stages work on which read and write streams.
func streamBytes(q, n, workers int) uint64 {
	const perBlock, perStrip = 33 << 11, stream.StripRows * board.Side * 5 / 2
	jobs := func(workers int) uint64 { return uint64(2*workers + 2) }
	found := stream.AllParts * jobs(stream.FoundWorkers(workers)) * perBlock
	return found + jobs(workers)*(2*perBlock+perStrip) + slack(tablesBytes(q, n))
}

// captureBytes returns about the bytes that computing captures takes besides offers and
// pieces: the list of halves that captures leave, strips on their way, and for each worker
// rows of lower layers that are in several pieces, and a decoder.
func captureBytes(q, n, workers int) uint64 {
	const perStrip, perHalf, perDecoder = stream.StripRows * board.Side * 5 / 4, 4, 3 * board.PieceLength
	halves, lower := colex.MustBinomial(n+q, q), lowerBytes(q, n)
	return uint64(2*workers+2)*perStrip + halves*perHalf + uint64(workers)*(halves+perDecoder) + lower + slack(tablesBytes(q, n)+lower)
}

// lowerBytes returns about the bytes that users of an engine take for the layers below, while captures are computed: the
// models and ends of their files, and a sample of the layer whose captures are looked up as they come by.
func lowerBytes(q, n int) (bytes uint64) {
	const perFile, sample, share = 16 << 10, 5 << 20, 40
	for k := range n { // all are checked before those that captures lead to are read
		bytes += perFile + ranks.DecodingBytes(2*k+1)
	}
	return bytes + min(sample, colex.MustBinomial(2*q+n-1, n)/share)
}

// pieceBytes returns the bytes of lower layers that are kept while captures are computed: some
// pieces of each of those that captures lead to, for each worker.
func pieceBytes(q, workers int) uint64 {
	const each = 3
	return uint64(max(1, workers)) * uint64(3*q-1) * each * board.PieceLength
}

// leastOffers returns the least memory for offers: that for one panel.
func leastOffers(q, n int) uint64 {
	return uint64(board.ColumnsOf(q, n)+2*board.Side) * board.Side
}

// roomForPieces returns the bytes that pieces of lower layers take while captures are computed.
func (o *Options) roomForPieces(q, n int) int {
	all := uint64(0)
	for lower := range n {
		all += (colex.MustBinomial(2*q+lower-1, 2*q-1) + board.PieceLength - 1) / board.PieceLength * board.PieceLength
	}
	return int(min(pieceBytes(q, o.Workers), all))
}

// offersBytes returns the bytes of all offers in rounds: columns have whole chunks.
func offersBytes(q, n int) (all int) {
	for mover := range n + 1 {
		rows := board.RowsOf(q, n-mover)
		all += board.ColumnsOf(q, mover) * (board.Groups(rows[board.OpenRows]) + board.Groups(rows[board.FullRows])) * board.Side
	}
	return all
}

// roomForOffers returns the bytes that offers can take while captures are computed.
func (o *Options) roomForOffers(q, n int) int {
	const unbounded = 1 << 30
	all := offersBytes(q, n)
	if o.Memory == 0 {
		return min(unbounded, all)
	}
	taken := fixed(o.Workers) + tablesBytes(q, n) + captureBytes(q, n, o.Workers) + uint64(o.roomForPieces(q, n))
	return min(int(max(o.Memory, taken+leastOffers(q, n))-taken), all)
}

// codes returns the codes of the bits that are asked for, nil for others.
func (o *Options) codes() *window.Codes {
	for _, codes := range stream.AllCodes {
		if o.Bits == codes.Bits {
			return codes
		}
	}
	return nil
}

// form returns the codes with which a layer is solved, nil if it is solved in one piece. It
// fails with ErrMemory if neither fits.
func (o *Options) form(game awari.Game, n int) (*window.Codes, error) {
	if o.fits(game, n) {
		return nil, nil
	}
	if forced := o.codes(); forced != nil {
		return forced, nil
	}
	for _, codes := range stream.AllCodes {
		if narrow(game, n, o.Workers, codes) <= o.Memory {
			return codes, nil
		}
	}
	return nil, fmt.Errorf("%w: layer %d needs %s bytes; the limit is %s", ErrMemory, n,
		humanize.Comma(int64(Least(game, n, o.Workers))), humanize.Comma(int64(o.Memory)))
}
