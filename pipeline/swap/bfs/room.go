package bfs

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"grenier/pipeline/solve"
)

// DiskError reports a search for which the disk has too little room.
type DiskError struct {
	Path       string // of the run directory
	Need, Free uint64 // bytes, those in the work directory included
}

// Error says what is needed and what there is.
func (e *DiskError) Error() string {
	return fmt.Sprintf("the search needs up to %s on the disk of %s and there is room for %s",
		humanize.IBytes(e.Need), e.Path, humanize.IBytes(e.Free))
}

// checkRoom refuses a search on disk for which there is too little room. What is in
// the work directory already counts as room: the search goes on with it.
func (l *layout) checkRoom(o Options) error {
	if o.Dir == "" || o.Free == nil {
		return nil
	}
	room, err := solve.Room(o.Dir, o.Free)
	if err != nil {
		return nil // unknown here, or rundir.Lock will tell
	}
	if need := l.mostOnDisk(); need > room {
		return &DiskError{Path: o.Dir, Need: need, Free: room}
	}
	return nil
}

// mostOnDisk returns the most bytes that a search has on disk: pieces of three
// depths, for those of the depth before last are there until the checkpoint after
// their places are taken, and two checkpoints.
func (l *layout) mostOnDisk() uint64 {
	const others = 64 << 10 // manifest, lock, blocks of the file system
	blocks := l.blocks()
	return 3*blocks*uint64(mostPiece(int(l.blockWords()))) + 2*uint64(checkpointBytes(mostDepths, int(blocks))) + others
}

// mostDepths bounds the number of depths: those of a line of 16 cells.
const mostDepths = 121
