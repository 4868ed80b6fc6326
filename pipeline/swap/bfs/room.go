package bfs

import "grenier/io/rundir"

// checkRoom refuses a search on disk for which there is too little room. What is in
// the work directory already counts as room: the search reuses it.
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
// depths, for those of the depth before last are there until the checkpoint after
// their places are taken, and two checkpoints.
func (l *layout) mostOnDisk() uint64 {
	const others = 64 << 10 // manifest, lock, blocks of the file system
	blocks := l.blocks()
	return 3*blocks*uint64(mostPiece(int(l.blockWords()))) + 2*uint64(checkpointBytes(mostDepths, int(blocks))) + others
}

// mostDepths bounds the number of depths: those of a line of 16 cells.
const mostDepths = 121
