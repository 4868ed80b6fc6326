// Package manifest reads and writes manifest.json, the list of the sealed layers
// of a run directory.
//
// A manifest names the game and holds one entry for each layer from 0 on, with
// facts that need no look into the file: sizes, wins, draws, losses,
// histogram and checksums. The footer checksum in an entry ties it to one exact
// layer file.
//
// The file is JSON, for people and scripts to read, but not to edit: there is
// exactly one way of writing a given manifest, the last field is a CRC-32C of
// everything before it, and Load accepts nothing else. Any changed character is
// thus noticed. docs/format/manifest.md describes the format.
package manifest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/tally"
)

// Version is the format version that this package writes, and the newest that
// it reads. It only grows.
//
// Version 2 has layers in other directories, version 3 distances, version 4 a layer that is left out; a manifest without these
// is written as version 1, 2 or 3.
const Version = 4

// MaxLayers is the largest number of layers in a manifest.
const MaxLayers = 1024

// ErrInvalid reports a manifest that contradicts itself.
var ErrInvalid = errors.New("invalid manifest")

// Identity says which game or puzzle a run directory is for: only a run with the same one resumes it.
//
//	game    rules          pits
//	awari   awari, strict, abapa  of the board; all three are in the header of every layer file
//	swap    3x4            cells of the grid, whose rows and columns are the rules; no layers
//	chemin  4x5            the same
//	solitaire  english-1a2b3c4d  holes of the board; docs/format/solitaire-search.md; no layers
//	access  strict-1a2b3c4d  of the board; docs/format/access-search.md; no layers
type Identity struct {
	Game  string `json:"game"`  // 1 to 16 of a-z, 0-9, - and _
	Rules string `json:"rules"` // likewise
	Pits  int    `json:"pits"`  // 0 to 65,535
}

// GridIdentity returns the identity of a search on a grid.
func GridIdentity(game string, rows, cols int) Identity {
	return Identity{Game: game, Rules: fmt.Sprintf("%dx%d", rows, cols), Pits: rows * cols}
}

// Manifest lists the sealed layers of one run.
type Manifest struct {
	Identity
	Layers []Layer // Layers[i].Seeds == i; one that is left out has an entry too
}

// With returns the manifest with the entry of a layer, in the place of the one that it has, or behind all others. Layers
// between these are left out.
func (m *Manifest) With(l Layer) *Manifest {
	next := *m
	next.Layers = slices.Clone(m.Layers)
	for n := len(next.Layers); n <= l.Seeds; n++ {
		next.Layers = append(next.Layers, leftOut(n))
	}
	next.Layers[l.Seeds] = l
	return &next
}

// Missing returns the layers up to the last one wanted that the manifest does not have, ascending: those that are left
// out, and those behind all others.
func (m *Manifest) Missing(last int) (seeds []int) {
	for n := range last + 1 {
		if !m.Has(n) {
			seeds = append(seeds, n)
		}
	}
	return seeds
}

// Sealed returns the layers that there are, ascending.
func (m *Manifest) Sealed() (seeds []int) {
	for _, l := range m.Listed() {
		seeds = append(seeds, l.Seeds)
	}
	return seeds
}

// Listed returns the entries of the layers that there are.
func (m *Manifest) Listed() []Layer {
	return slices.DeleteFunc(slices.Clone(m.Layers), func(l Layer) bool { return l.LeftOut() })
}

// Has reports whether the manifest lists a file of layer n.
func (m *Manifest) Has(n int) bool { return n >= 0 && n < len(m.Layers) && !m.Layers[n].LeftOut() }

// Layer describes one sealed layer and its file.
type Layer struct {
	Seeds     int             `json:"seeds"`     // number of the layer
	Positions uint64          `json:"positions"` // size of the layer
	Win       uint64          `json:"win"`       // positions with a positive score
	Draw      uint64          `json:"draw"`      // positions with score 0
	Loss      uint64          `json:"loss"`      // positions with a negative score
	Histogram tally.Histogram `json:"histogram"` // how often each score occurs
	Hash      tally.Hash      `json:"fnv1a64"`   // of all scores in rank order
	File      string          `json:"file"`      // name in the directory
	// Directory is the absolute path of the directory of the file, empty for the run directory.
	Directory string          `json:"directory,omitempty"`
	Bytes     int64           `json:"bytes"`    // length of the file
	Codec     layerfile.Codec `json:"codec"`    // of the file
	Checksum  Checksum        `json:"checksum"` // CRC-32C of the footer of the file
	Seconds   float64         `json:"seconds"`  // spent on solving the layer
	// Distances describes the file of the distances of the layer, beside that of its scores; it is empty if none is listed.
	Distances Distances `json:"distances,omitzero"`
}

// leftOut returns the entry of a layer that is left out: it has no file and counts no positions.
func leftOut(seeds int) Layer { return Layer{Seeds: seeds, Codec: layerfile.LZ4} }

// LeftOut reports whether l is left out: no layer above it leads to it, and it was not solved.
func (l *Layer) LeftOut() bool { return l.File == "" }

// Distances describes a file of distances (docs/format/distance-file.md).
type Distances struct {
	Hash     tally.Hash `json:"fnv1a64"`  // of all distances in rank order
	Bytes    int64      `json:"bytes"`    // length of the file
	Checksum Checksum   `json:"checksum"` // CRC-32C of the footer of the file
}

// NewDistances returns the entry for a file of distances with that footer.
func NewDistances(f layerfile.Footer) Distances {
	return Distances{Hash: f.Hash, Bytes: f.Bytes, Checksum: Checksum(f.Checksum)}
}

// Listed reports whether d describes a file.
func (d Distances) Listed() bool { return d != Distances{} }

// Checksum is a CRC-32C, written as 8 hexadecimal digits.
type Checksum uint32

// String returns 8 hexadecimal digits.
func (c Checksum) String() string { return fmt.Sprintf("%08x", uint32(c)) }

// MarshalText returns String.
func (c Checksum) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the output of MarshalText. It fails on anything else.
func (c *Checksum) UnmarshalText(text []byte) error {
	var x uint32
	if _, err := fmt.Sscanf(string(text), "%08x", &x); err != nil || Checksum(x).String() != string(text) {
		return fmt.Errorf("bad checksum %q: expected 8 hexadecimal digits", text)
	}
	*c = Checksum(x)
	return nil
}

// NewLayer returns the entry for a layer file that was just written, to be
// published under the name file, and on whose layer seconds were spent.
func NewLayer(file string, s layerfile.Summary, seconds float64) Layer {
	return Layer{
		Seeds:     s.Header.Seeds,
		Positions: s.Header.Positions,
		Win:       s.Footer.Win,
		Draw:      s.Footer.Draw,
		Loss:      s.Footer.Loss,
		Histogram: s.Histogram,
		Hash:      s.Footer.Hash,
		File:      file,
		Bytes:     s.Footer.Bytes,
		Codec:     s.Header.Codec,
		Checksum:  Checksum(s.Footer.Checksum),
		Seconds:   seconds,
	}
}

// String describes a run in words.
func (id Identity) String() string {
	return fmt.Sprintf("game %s, rules %s, %d pits", id.Game, id.Rules, id.Pits)
}

// Header returns the header that the file of layer i must have, as far as
// layerfile.File.Expect looks at it.
func (m *Manifest) Header(i int) layerfile.Header {
	l := &m.Layers[i]
	return layerfile.Header{
		Game: m.Game, Rules: m.Rules, Pits: m.Pits,
		Seeds: l.Seeds, Positions: l.Positions, Codec: l.Codec,
	}
}

// CheckFile fails with an error that matches corrupt.ErrMismatch unless f is the
// very file that the entry of layer i was made for.
func (m *Manifest) CheckFile(i int, f *layerfile.File) error {
	if err := f.Expect(m.Header(i)); err != nil {
		return err
	}
	l, got := &m.Layers[i], f.Footer()
	if got.Win != l.Win || got.Draw != l.Draw || got.Loss != l.Loss {
		return corrupt.New(f.Path(), "footer", "%d wins, %d draws, %d losses %w the manifest: %d, %d, %d",
			got.Win, got.Draw, got.Loss, corrupt.ErrMismatch, l.Win, l.Draw, l.Loss)
	}
	if got.Bytes == l.Bytes && got.Hash == l.Hash && Checksum(got.Checksum) == l.Checksum {
		return nil
	}
	return corrupt.New(f.Path(), "footer", "%d bytes, hash %v, checksum %v %w the manifest: %d bytes, hash %v, checksum %v",
		got.Bytes, got.Hash, Checksum(got.Checksum), corrupt.ErrMismatch, l.Bytes, l.Hash, l.Checksum)
}

// StaleError says that a layer was computed from others than those below it. It matches
// corrupt.ErrMismatch.
type StaleError struct {
	Seeds int   // of the layer
	From  []int // layers below that are other ones now, ascending
}

// Error names the layers.
func (e *StaleError) Error() string {
	text := "another layer"
	for i, n := range e.From {
		switch {
		case i > 0:
			text += ","
		case len(e.From) > 1:
			text = "other layers"
		}
		text += fmt.Sprintf(" %d", n)
	}
	return fmt.Sprintf("layer %d was made from %s", e.Seeds, text)
}

// Is reports whether target is corrupt.ErrMismatch.
func (e *StaleError) Is(target error) bool { return target == corrupt.ErrMismatch }

// CheckBelow fails with a *corrupt.Error whose cause is a *StaleError if f names layers below,
// and the manifest lists others.
func (m *Manifest) CheckBelow(f *layerfile.File) error {
	stale := &StaleError{Seeds: f.Header().Seeds}
	for n, hash := range f.Header().Below.All() {
		if n < len(m.Layers) && m.Layers[n].Hash != hash {
			stale.From = append(stale.From, n)
		}
	}
	if len(stale.From) == 0 {
		return nil
	}
	return &corrupt.Error{File: f.Path(), Cause: stale}
}

// Validate fails with ErrInvalid if the manifest contradicts itself: names and
// sizes out of range, layers missing, counts that do not add up.
func (m *Manifest) Validate() error {
	if len(m.Layers) > MaxLayers {
		return fmt.Errorf("%w: %d layers: expected at most %d", ErrInvalid, len(m.Layers), MaxLayers)
	}
	h := layerfile.Header{
		Game: m.Game, Rules: m.Rules, Pits: m.Pits,
		Codec: layerfile.LZ4, Transform: layerfile.Ranks, BlockSize: layerfile.MaxBlockSize,
	}
	if err := h.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	files := make(map[string]bool)
	for i := range m.Layers {
		l := &m.Layers[i]
		if *l == leftOut(i) && i < len(m.Layers)-1 {
			continue
		}
		if err := l.validate(i); err != nil {
			return fmt.Errorf("%w: layer %d: %w", ErrInvalid, i, err)
		}
		if files[l.File] {
			return fmt.Errorf("%w: layer %d: file %s has two entries", ErrInvalid, i, l.File)
		}
		files[l.File] = true
	}
	return nil
}

// validate checks the entry at place i.
func (l *Layer) validate(i int) error {
	win, draw, loss := l.Histogram.WinDrawLoss()
	switch {
	case l.Seeds != i:
		return fmt.Errorf("the entry is for %d seeds", l.Seeds)
	case l.Positions > layerfile.MaxPositions:
		return fmt.Errorf("%d positions: expected at most %d", l.Positions, uint64(layerfile.MaxPositions))
	case l.Win != win || l.Draw != draw || l.Loss != loss:
		return fmt.Errorf("%d wins, %d draws, %d losses, but %d, %d, %d in the histogram", l.Win, l.Draw, l.Loss, win, draw, loss)
	case slices.Max(l.Histogram[:]) > l.Positions || l.Positions != win+draw+loss: // the sum may overflow if one is larger
		return fmt.Errorf("%d positions, but another number in the histogram", l.Positions)
	case !validFile(l.File):
		return fmt.Errorf("file name %q: expected a-z, 0-9, - and _, then .gl", l.File)
	case !validDirectory(l.Directory):
		return fmt.Errorf("directory %q: expected a path of at most %d bytes, without control characters", l.Directory, maxDirectory)
	case l.Bytes <= 0:
		return fmt.Errorf("a file of %d bytes", l.Bytes)
	case l.Distances.Listed() && l.Distances.Bytes <= 0:
		return fmt.Errorf("distances of %d bytes", l.Distances.Bytes)
	case !(l.Seconds >= 0 && l.Seconds <= math.MaxInt64):
		return fmt.Errorf("%v seconds", l.Seconds)
	}
	return nil
}

// validFile accepts plain names of layer files, nothing that leads elsewhere.
func validFile(name string) bool {
	stem, gl := strings.CutSuffix(name, ".gl")
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	return gl && len(stem) >= 1 && len(stem) <= 64 && strings.Trim(stem, letters) == ""
}

// maxDirectory is the largest number of bytes in the path of a directory.
const maxDirectory = 4096

// validDirectory accepts paths of any operating system: whether they lead anywhere is for
// those to find out who open the file.
func validDirectory(path string) bool {
	return len(path) <= maxDirectory && utf8.ValidString(path) && strings.IndexFunc(path, unicode.IsControl) < 0
}

// version returns the format version that a manifest needs.
func (m *Manifest) version() int {
	version := 1
	for i := range m.Layers {
		switch l := &m.Layers[i]; {
		case l.LeftOut():
			return 4
		case l.Distances.Listed():
			version = 3
		case l.Directory != "":
			version = max(version, 2)
		}
	}
	return version
}
