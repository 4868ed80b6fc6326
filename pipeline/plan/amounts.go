package plan

import (
	"math"

	"grenier/pipeline/halfboard"
)

// Amounts is what a layer takes on any machine.
type Amounts struct {
	Seeds     int    `json:"seeds"`
	Positions uint64 `json:"positions"`
	// InMemory says that all of the layer is in memory: there is no work file, but there
	// may be checkpoints.
	InMemory bool `json:"in_memory"`
	// Tiles is the memory for tiles in bytes; in memory, for all of the layer.
	Tiles uint64 `json:"tile_bytes"`
	// Held is the share of the scores that is in memory at once, 0 to 1.
	Held float64 `json:"held"`
	// Passes is the number of sweeps; late ones go over few tiles.
	Passes int `json:"passes"`
	// Fetched and Saved are the bytes of scores that are brought into memory, and put
	// away because they have changed.
	Fetched uint64 `json:"bytes_fetched"`
	Saved   uint64 `json:"bytes_saved"`
	// Offers is the bytes of offers, before they are packed.
	Offers uint64 `json:"offer_bytes"`
	// Read and Written are bytes of files: layers and the work file.
	Read    uint64 `json:"bytes_read"`
	Written uint64 `json:"bytes_written"`
	// Work and File are the sizes of the work file, or of the checkpoints of a layer in
	// memory, and of the layer file.
	Work uint64 `json:"work_file_bytes"`
	File uint64 `json:"layer_file_bytes"`
	// Disk is the most bytes on disk while the layer is solved, all layers included.
	Disk uint64 `json:"disk_bytes"`

	offersHeld                   bool    // all offers of open rows stay in memory, like the scores
	lowerRead                    uint64  // of Read
	offersWritten, scoresWritten uint64  // of Written
	transferred                  float64 // bytes of the work file that the disk reads
}

// amounts returns what the layers of a run take that are not solved yet.
func (r *Run) amounts() (all []Amounts) {
	sealed := r.Sealed
	for n := r.Solved; n <= r.Seeds; n++ {
		a := r.amountsOf(n)
		a.Disk = sealed + a.Work + a.File
		sealed += a.File
		all = append(all, a)
	}
	return all
}

// amountsOf returns what the layer of n seeds takes, without the layers below.
func (r *Run) amountsOf(n int) Amounts {
	a := Amounts{Seeds: n, Positions: halfboard.Positions(r.Game, n), Passes: passes(n)}
	a.File = fileSize(n, a.Positions, r.Codec)
	a.Written = a.File
	room := halfboard.RoomFor(r.Game, n, r.Memory, r.Cores)
	if room.Whole {
		a.InMemory, a.Held = true, 1
		a.Tiles = halfboard.Memory(r.Game, n)
		if a.Positions >= leastKept {
			a.Work = uint64(keptBytes * float64(a.Positions))
		}
		return a
	}
	a.Tiles, a.Offers = room.Tiles, room.Offers+room.Full
	r.page(&a, room)
	return a
}

// page fills in what a layer takes that does not fit into memory.
func (r *Run) page(a *Amounts, room halfboard.Room) {
	tile, offer := grown(tileBytes, a.Seeds), grown(offerBytes, a.Seeds)
	scores := float64(room.Scores + room.Full)
	open := offer * float64(room.Offers)
	loads, held := offerLoads, float64(room.Group)
	if a.offersHeld = open+float64(room.Scores) <= float64(room.Tiles); a.offersHeld {
		loads, held = 1, float64(room.Scores)
	}
	a.Held = min(1, held/float64(room.Scores))
	fetched, saved, file := movedAt(a.Held)
	fetched *= math.Pow(coarser, max(0, math.Log2(float64(room.Tile)/usualTile)))
	a.Fetched, a.Saved = uint64(fetched*float64(room.Scores)), uint64(saved*scores)
	for n := range a.Seeds - 1 { // captures take two seeds at least
		a.lowerRead += fileSize(n, halfboard.Positions(r.Game, n), r.Codec)
	}
	a.offersWritten = uint64(offer * float64(a.Offers))
	a.scoresWritten = uint64(tile * float64(a.Saved))
	a.Read = a.lowerRead + uint64(tile*float64(a.Fetched)+loads*open+offer*float64(room.Full))
	a.transferred = float64(a.Read-a.lowerRead) * (1 + min(mostWasted, wasted/(tile*float64(room.Tile))))
	a.Written += a.offersWritten + a.scoresWritten
	a.Work = uint64(file * (float64(a.offersWritten) + tile*scores))
}

// DiskPeak returns the most bytes on disk while a run is at work, those of sealed layers
// included.
func (r *Run) DiskPeak() uint64 {
	peak := r.Sealed
	for _, a := range r.amounts() {
		peak = max(peak, a.Disk)
	}
	return peak
}
