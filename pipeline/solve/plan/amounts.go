package plan

import (
	"fmt"
	"time"

	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard"
)

// Amounts are the needs of a layer on any machine.
type Amounts struct {
	Seeds     int    `json:"seeds"`
	Positions uint64 `json:"positions"`
	// Bits is the width of a score in memory while the layer is solved, 8 if the layer is in
	// memory in one piece; Windows is the number of windows of values.
	Bits    int `json:"bits"`
	Windows int `json:"windows"`
	// Memory is the bytes for scores, of the largest window, and in one piece for best
	// capture values.
	Memory uint64 `json:"memory_bytes"`
	// Passes is how often captures go through the layers below, each time over a part of them.
	Passes int `json:"passes"`
	// Captures and Digits are the bytes of streams in the work directory: best capture values,
	// and what all windows find. Checkpoint is the bytes of a checkpoint while it replaces the
	// one before.
	Captures   uint64 `json:"capture_bytes"`
	Digits     uint64 `json:"digit_bytes"`
	Checkpoint uint64 `json:"checkpoint_bytes"`
	// Read and Written are bytes of files: layers and streams, without checkpoints.
	Read    uint64 `json:"bytes_read"`
	Written uint64 `json:"bytes_written"`
	// Work is the most bytes in the work directory, File the bytes of the layer file.
	Work uint64 `json:"work_bytes"`
	File uint64 `json:"layer_file_bytes"`
	// Disk is the most bytes on disk while the layer is solved, all layers included.
	Disk uint64 `json:"disk_bytes"`

	steps     []step // windows
	loads     loads
	decoded   float64 // positions of the layers below that captures decode, beyond those of layers that are calibrated
	lowerRead uint64  // of Read: files of the layers that captures lead to
	reread    uint64  // of Read: captures, over all windows, and digits that tell thin windows what is searched
	rewritten uint64  // of Written: captures that windows write again, without what is done
	sealing   uint64  // bytes in the work directory while the layer file is written
}

// InMemory says that all of the layer is in memory in one piece.
func (a *Amounts) InMemory() bool { return a.Bits == 8 }

// solves returns the layers to be solved, in order.
func (r *Run) solves() (seeds []int) {
	for n := r.Solved; n <= r.Seeds; n++ {
		if r.Omitted>>n&1 == 0 {
			seeds = append(seeds, n)
		}
	}
	return seeds
}

// Positions returns the number of positions of the layers to be solved.
func (r *Run) Positions() (all float64) {
	for _, n := range r.solves() {
		all += float64(halfboard.Positions(r.Game, n))
	}
	return all
}

// Amounts returns the needs of the layers that are not solved yet. It fails as
// halfboard.FormFor does.
func (r *Run) Amounts() (all []Amounts, err error) {
	sealed := r.Sealed
	for _, n := range r.solves() {
		a, err := r.amountsOf(n)
		if err != nil {
			return nil, fmt.Errorf("planning layer %d: %w", n, err)
		}
		a.Disk = sealed + max(a.Work, a.sealing+a.File)
		sealed += a.File
		all = append(all, a)
	}
	return all, nil
}

// amountsOf returns what the layer of n seeds takes, without the layers below.
func (r *Run) amountsOf(n int) (Amounts, error) {
	form, err := halfboard.FormFor(r.Game, n, r.Memory, r.Cores, r.Bits)
	if err != nil {
		return Amounts{}, err
	}
	a := Amounts{
		Seeds: n, Positions: halfboard.Positions(r.Game, n),
		Bits: form.Bits, Windows: 1, Memory: form.Bytes, Passes: form.Passes,
	}
	a.File = fileSize(n, a.Positions)
	r.readLower(&a, form.Lower)
	if a.InMemory() {
		a.keep()
		a.loads = wholeLoads(r.Game, n)
	} else {
		a.stream(r)
	}
	a.Read = a.lowerRead + a.reread + a.Digits
	a.Written = a.File + a.rewritten
	if !a.InMemory() {
		a.Written += a.Captures + a.Digits
	}
	return a, nil
}

// readLower sets the bytes read of the layers that captures lead to, each often times: two seeds at least are
// captured, and three from each pit of the opponent at most.
func (r *Run) readLower(a *Amounts, often float64) {
	for n := max(0, a.Seeds-3*r.Game.Half()); n <= a.Seeds-2; n++ {
		positions := halfboard.Positions(r.Game, n)
		a.decoded += often * float64(positions)
		a.lowerRead += uint64(often * float64(fileSize(n, positions)))
	}
	a.decoded -= lowerCalibrated * float64(a.Positions)
}

// keep sets what checkpoints of a layer in memory take.
func (a *Amounts) keep() {
	if a.Positions >= leastKept {
		a.Checkpoint = uint64(keptBytes * float64(a.Positions))
	}
	a.Work, a.sealing = a.Checkpoint, a.Checkpoint
}

// stream sets what is stored of a layer that is solved window by window.
func (a *Amounts) stream(r *Run) {
	w := widthOf(a.Bits)
	steps := r.windows(w, a.Seeds, step{})
	a.steps, a.loads = steps, r.loadsOf(w, a.Seeds, steps)
	bytesOf := func(perPosition float64) uint64 { return uint64(perPosition * float64(a.Positions)) }
	codes := a.Memory
	for i, step := range steps {
		if step.thin {
			thin := uint64(thinBytes(r.Game, a.Seeds, step.base))
			if a.Memory = max(a.Memory, thin); thin > codes || steps[i-1].thin {
				a.reread += bytesOf(w.digitBytes(r.Game, a.Seeds, steps[i-1])) // which tell what is searched
			}
		}
		a.Digits += bytesOf(w.digitBytes(r.Game, a.Seeds, step))
	}
	a.Captures = bytesOf(captureBytes.of(a.Seeds))
	a.Windows = len(steps)
	a.readCaptures(r)
	a.Checkpoint = 2 * a.Memory // the old one and the new
	a.Work = bytesOf(w.work.of(a.Seeds)) + a.Checkpoint
	if a.sealing = a.Digits; r.Apart { // captures stay
		a.sealing = a.Work
	}
}

// readCaptures adds what windows read and write again of the capture values.
func (a *Amounts) readCaptures(r *Run) {
	if r.Apart {
		a.reread += uint64(len(a.steps)) * a.Captures
		return
	}
	full := fullCaptures * fullShare(r.Game, a.Seeds)
	all := 1 - fullShare(r.Game, a.Seeds) + full
	for isFull, share := range map[bool]float64{false: 1 - full/all, true: full / all} {
		read, written := rereads(r.Game, a.Seeds, a.steps, isFull)
		a.reread += uint64(read * share * float64(a.Captures))
		a.rewritten += uint64(written * share * float64(a.Captures))
	}
}

// hardDisk is what a disk writes at least, in bytes a second, if it was not measured.
const hardDisk = 200e6

// CheckpointTime returns how long it takes at most to write a checkpoint of the layer of n seeds that is solved within
// the given bytes of memory: c has the speed of the disk, and may be nil. It fails as New does.
func CheckpointTime(game awari.Game, n int, memory uint64, cores int, c *Calibration) (time.Duration, error) {
	r := Run{Game: game, Seeds: n, Memory: memory, Cores: cores}
	a, err := r.amountsOf(n)
	speed := hardDisk
	if c != nil {
		speed = c.Write
	}
	return duration(float64(a.Checkpoint) / speed), err
}

// DiskPeaks returns the bytes of the layers to be solved, and the most in the work directory at
// a time, for those that are on different disks. It fails as New does.
func (r *Run) DiskPeaks() (layers, work uint64, err error) {
	all, err := r.Amounts()
	for _, a := range all {
		layers, work = layers+a.File, max(work, a.Work)
	}
	return layers, work, err
}

// DiskPeak returns the most bytes on disk during a run, sealed layers included.
// It fails as New does.
func (r *Run) DiskPeak() (uint64, error) {
	all, err := r.Amounts()
	if err != nil {
		return 0, err
	}
	peak := r.Sealed
	for _, a := range all {
		peak = max(peak, a.Disk)
	}
	return peak, nil
}
