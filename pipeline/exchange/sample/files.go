package sample

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"grenier/io/jsonfile"
	"grenier/layers/awari"
	"grenier/pipeline/exchange/internal/output"
	"grenier/pipeline/internal/chance"
)

// Part is a part of a split: so many of a hundred hashes of boards.
type Part struct {
	Name    string `json:"name"`
	Percent int    `json:"percent"`
}

// File is a file of a sample.
type File struct {
	// File is its name, without a directory.
	File string `json:"file"`
	// Split is the part that it has, empty if there is no split.
	Split     string `json:"split,omitempty"`
	Positions uint64 `json:"positions"`
	Bytes     uint64 `json:"bytes"`
	SHA256    string `json:"sha256"`
}

// MaxShards bounds Options.Shards.
const MaxShards = 100_000

var partName = regexp.MustCompile(`^[a-z0-9]{1,32}$`)

// ParseSplit reads parts like train=90,test=10, which have names of letters a to z and digits, and add up to 100. It fails
// with ErrSample.
func ParseSplit(text string) ([]Part, error) {
	var parts []Part
	known, sum := map[string]bool{}, 0
	for _, field := range strings.Split(text, ",") {
		name, percent, _ := strings.Cut(field, "=")
		n, err := strconv.ParseUint(percent, 10, 7)
		if err != nil || n < 1 || known[name] || !partName.MatchString(name) {
			return nil, fmt.Errorf("%w with the split %.100q: expected parts like train=90,test=10, each with a name of its own and 1 to 100 percent", ErrSample, text)
		}
		known[name] = true
		sum += int(n)
		parts = append(parts, Part{name, int(n)})
	}
	if sum != 100 {
		return nil, fmt.Errorf("%w with the split %.100q: the parts add up to %d percent, not to 100", ErrSample, text, sum)
	}
	return parts, nil
}

// bucket returns a number of 0 to 99 that depends on the board alone.
func bucket(pits []uint8) int {
	h := fnv.New64a()
	h.Write(pits)
	return int(chance.Mix(h.Sum64()) % 100)
}

// partOf returns the number of the part of the split that a board is in.
func (d *draw) partOf(b awari.Board) int {
	if len(d.Split) == 0 {
		return 0
	}
	left := bucket(b[:d.tables.Game().Pits()])
	for i, p := range d.Split {
		if left -= p.Percent; left < 0 {
			return i
		}
	}
	return len(d.Split) - 1
}

// WriteFile writes a sample from the run directory dir to the file at path, or to several beside it: of each part of a
// split, and of each shard. NAME.EXT becomes NAME-PART-00000-of-00004.EXT. Each file has its name only when it is complete,
// and replaces a file of that name, but nothing else. At the end it writes the card of the sample, path with ".card.json".
// The card of a part (Options.Part) is about the sample, but lists the file of the part.
// It fails like Write, and with ErrSample before anything is written if a file would have no position.
func WriteFile(ctx context.Context, dir, path string, o Options) (Summary, error) {
	if o.Shards = max(1, o.Shards); o.Shards > MaxShards {
		return Summary{}, fmt.Errorf("%w of %d shards: must be 1 to %d", ErrSample, o.Shards, MaxShards)
	}
	if o.Part.All || o.Part.One() && (o.Shards > 1 || len(o.Split) > 0) {
		return Summary{}, fmt.Errorf("%w: a part is of one file", ErrSample)
	}
	return drawn(ctx, dir, o, func(d *draw, next func(i uint64) uint64) (s Summary, err error) {
		pieces, err := d.pieces(ctx, next)
		if err != nil {
			return s, err
		}
		var files []File
		var bytes uint64
		for i, p := range pieces {
			f, err := d.writeFile(ctx, d.name(path, p.part, i%d.Shards), next, p)
			if err != nil {
				return s, err
			}
			files, bytes = append(files, f), bytes+f.Bytes
		}
		s = d.summary(bytes)
		s.Files, s.Card = files, filepath.Base(path)+CardSuffix
		return s, d.saveCard(path+CardSuffix, files)
	})
}

// pieces returns the pieces of the files: the shards of each part of the split, or a part of the one file. A shard has positions that follow each other.
func (d *draw) pieces(ctx context.Context, next func(i uint64) uint64) ([]piece, error) {
	parts, shards := max(1, len(d.Split)), uint64(d.Shards)
	pieces := make([]piece, parts*d.Shards)
	for i := range pieces {
		shard := uint64(i % d.Shards)
		pieces[i] = piece{from: shard * d.Count / shards, to: (shard + 1) * d.Count / shards, part: i / d.Shards}
	}
	for shard := range d.Shards {
		for i := pieces[shard].from; i < pieces[shard].to; i++ {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			part := 0
			if parts > 1 {
				part = d.partOf(d.board(next(i)))
			}
			pieces[part*d.Shards+shard].count++
		}
	}
	for i, p := range pieces {
		if p.count == 0 {
			return nil, fmt.Errorf("%w of %d positions: none for %s; take more positions or fewer files", ErrSample, d.Count, d.name("FILE", p.part, i%d.Shards))
		}
	}
	if d.Part.One() {
		pieces[0].from, pieces[0].to = d.Part.Share(d.Count)
	}
	return pieces, nil
}

// name returns the path of the file of a part and a shard.
func (d *draw) name(path string, part, shard int) string {
	end := filepath.Ext(path)
	name := strings.TrimSuffix(path, end)
	if len(d.Split) > 0 {
		name += "-" + d.Split[part].Name
	}
	if d.Shards > 1 {
		name += fmt.Sprintf("-%05d-of-%05d", shard, d.Shards)
	}
	return name + end
}

// writeFile writes a piece to a file.
func (d *draw) writeFile(ctx context.Context, path string, next func(i uint64) uint64, p piece) (File, error) {
	return output.ToFile(path, func(w io.Writer) (File, error) {
		sum := sha256.New()
		below := &output.Counter{W: io.MultiWriter(w, sum)}
		if err := d.write(ctx, below, next, p); err != nil {
			return File{}, err
		}
		f := File{File: filepath.Base(path), Positions: min(p.count, p.to-p.from), Bytes: below.N, SHA256: hex.EncodeToString(sum.Sum(nil))}
		if len(d.Split) > 0 {
			f.Split = d.Split[p.part].Name
		}
		return f, nil
	})
}

// saveCard writes the card of files.
func (d *draw) saveCard(path string, files []File) error {
	text, err := jsonfile.Encode(d.card(files))
	if err != nil {
		return err
	}
	_, err = output.ToFile(path, func(w io.Writer) (int, error) { return w.Write(text) })
	return err
}
