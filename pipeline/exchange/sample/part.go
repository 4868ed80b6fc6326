package sample

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"grenier/io/jsonfile"
	"grenier/io/listed"
	"grenier/io/vfs"
	"grenier/pipeline/job"
)

// PartCard returns the path of the card of a part of the sample at path.
func PartCard(path string, p job.Part) string {
	return fmt.Sprintf("%s.%d-of-%d%s", path, p.Index, p.Of, CardSuffix)
}

// maxCard bounds the cards of parts.
const maxCard = 64 << 20

// join returns the files of all parts in their order. A part counts if its card says what this sample would say, of the layers that
// there are, and if its files have the SHA-256 of the card. It fails with a *job.MissingError.
func (d *draw) join(ctx context.Context, path string) ([]File, error) {
	there, missing := map[string]File{}, job.MissingError{Of: d.Part.Of}
	for i := range d.Part.Of {
		p := job.Part{Index: i + 1, Of: d.Part.Of}
		files, err := d.part(ctx, path, p)
		if err != nil {
			return nil, err
		}
		if files == nil {
			missing.Add(d.To, p.Index)
		}
		for _, f := range files {
			there[f.File] = f
		}
	}
	var files []File
	for part := range max(1, len(d.Split)) {
		for shard := range d.Shards {
			files = append(files, there[filepath.Base(d.name(path, part, shard))])
		}
	}
	return files, missing.Err()
}

// part returns the files of a part, nil if they are not there, or of another sample.
func (d *draw) part(ctx context.Context, path string, p job.Part) ([]File, error) {
	data, err := vfs.ReadFile(PartCard(path, p), maxCard)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var card Card
	if err != nil || json.Unmarshal(data, &card) != nil {
		return nil, err
	}
	if want, err := jsonfile.Encode(d.card(card.Files)); err != nil || !bytes.Equal(data, want) {
		return nil, err
	}
	from, to := p.Share(uint64(d.Shards))
	if len(card.Files) != max(1, len(d.Split))*int(to-from) {
		return nil, nil
	}
	for i, f := range card.Files {
		shard := int(from) + i%int(to-from)
		name := d.name(path, i/int(to-from), shard)
		if right, err := d.whole(ctx, name, f); !right || err != nil || f.File != filepath.Base(name) {
			return nil, err
		}
	}
	return card.Files, nil
}

// whole reports whether the file at path is the one that a card lists.
func (d *draw) whole(ctx context.Context, path string, f File) (bool, error) {
	file, err := vfs.OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	sum := sha256.New()
	err = listed.Pass(ctx, sum, file, func(uint64) { d.Tell(job.Step{Doing: "reading files", Done: float64(d.done), Total: float64(d.Count)}) })
	d.done += f.Positions
	return hex.EncodeToString(sum.Sum(nil)) == f.SHA256, err
}
