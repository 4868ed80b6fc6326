package bfs

import (
	"fmt"

	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/workfile"
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

const (
	// baseMemory is about the memory of a process besides the search.
	baseMemory = 24 << 20
	// perBlock is about the memory for a block of one parity of a search on disk:
	// flags, extent, data of the work file, two copies of a checkpoint.
	perBlock = 130
	// readers is the number of goroutines for each processor, on disk: some wait
	// for it while others search.
	readers = 3
)

// words returns the number of words of a set of states of one parity.
func (l *layout) words() uint64 { return perm.Arrangements(l.cells, l.cells-tail) }

// blocks returns the number of blocks.
func (l *layout) blocks() uint64 { return perm.Arrangements(l.cells, l.upper) }

// blockWords returns the number of words of a block.
func (l *layout) blockWords() uint64 { return perm.Arrangements(l.rest(), l.lower) }

// tiles returns the number of tiles of blocks.
func (l *layout) tiles() int {
	if l.upper == 0 {
		return 1
	}
	return l.cells
}

// outside returns the number of blocks of other tiles that a block is pulled from.
func (l *layout) outside() (blocks int) {
	for _, e := range l.uu {
		if e.from == 0 {
			blocks++
		}
	}
	for _, e := range l.ul {
		if e.from == 0 {
			blocks += l.rest()
		}
	}
	return blocks
}

// chunk returns the number of blocks that a worker takes at once: about 1 MiB
// is read for them.
func (l *layout) chunk() int { return max(1, 32/max(2, l.outside())) }

// goroutines returns how many of them search.
func (o *Options) goroutines() int {
	if o.Dir != "" {
		return readers * o.Workers
	}
	return o.Workers
}

// memory returns the bytes that a search in memory takes.
func (l *layout) memory(workers int) uint64 {
	scratch := l.blockWords() * uint64(2+8*(1+len(l.ls)))
	return l.states() + 2*2*l.blocks() + l.bytes() + 8*l.blockWords() + uint64(workers)*scratch + baseMemory
}

// states returns the bytes of all states.
func (l *layout) states() uint64 { return 2 * (8 + 1) * l.words() }

// window returns the bytes of the newest states of a tile.
func (l *layout) window() uint64 { return 8 * l.words() / uint64(l.tiles()) }

// memoryOnDisk returns the bytes that a search on disk takes at least.
func (l *layout) memoryOnDisk(workers int) uint64 {
	scratch := l.blockWords() * uint64(2+8*(1+len(l.ls)+l.rest())+9)
	pieces := uint64(l.chunk()*(2+l.outside())) * uint64(mostPiece(int(l.blockWords()))+workfile.MaxGap)
	return l.window() + 2*perBlock*l.blocks() + l.bytes() + 8*l.blockWords() + readers*uint64(workers)*(scratch+pieces) + 2*baseMemory
}

// checkMemory refuses a search for which the memory is too little.
func (l *layout) checkMemory(g *swap.Grid, o Options) error {
	need, enough := l.memoryOnDisk(o.Workers), ""
	if o.Dir == "" {
		enough = memory.AtLeast(need) + " with its states on disk"
		need = l.memory(o.Workers)
	}
	if need <= o.Memory {
		return nil
	}
	return &memory.Error{What: fmt.Sprintf("searching %d x %d", g.Rows(), g.Cols()), Need: need, Allowed: o.Memory, Enough: enough}
}

// held returns the number of blocks that a search on disk has room for in memory.
// If it has room for all, it needs no window.
func (l *layout) held(memory uint64, workers int) int {
	least := l.memoryOnDisk(workers)
	if memory >= least-l.window()+l.states() {
		return int(l.blocks())
	}
	if memory <= least {
		return 0
	}
	return int(min(l.blocks(), (memory-least)/(l.states()/l.blocks())))
}

// checkRoom refuses a search on disk for which there is too little room. Files in
// the work directory count as room: the search reuses it.
func (l *layout) checkRoom(o Options) error {
	if o.Dir == "" {
		return nil
	}
	room, known, err := rundir.Room(o.Dir, o.Free)
	if need := l.mostOnDisk(); err == nil && known && need > room {
		return &rundir.RoomError{What: "the search", Path: o.Dir, Need: need, Free: room}
	}
	return nil // rundir.Lock reports what is wrong with the directory
}

// mostOnDisk returns the most bytes that a search has on disk: pieces of three
// depths, for the depth before last is there until the checkpoint after
// their places are taken, and two checkpoints.
func (l *layout) mostOnDisk() uint64 {
	const others = 64 << 10 // manifest, lock, blocks of the file system
	blocks := l.blocks()
	return 3*blocks*uint64(mostPiece(int(l.blockWords()))) + 2*uint64(checkpointBytes(mostDepths, int(blocks))) + others
}

// mostDepths bounds the number of depths: a line of 16 cells has as many.
const mostDepths = 121
