//go:build unix

package siegetest

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"regexp"

	"grenier/kernels/crc32c"
)

// Lengths and offsets in a layer file, see docs/format/layer-file.md. They are said here once
// more: what forges a format does not ask the program that reads it.
const (
	headSize, footSize, entrySize     = 84, 76, 24
	modelLength, modelSum, headSum    = 72, 76, 80
	indexOffset, indexSum, footHeader = 0, 16, 20
	footSum, entryLength, entryStored = 64, 8, 16
)

// forgeLayer changes something in a layer file, puts all its checksums right, and that in the
// manifest too, unless earlier damage has put something else in the place of that.
func forgeLayer(r *rand.Rand, tr *Tree, t Target) error {
	data, err := tr.ReadFile(t.Name)
	if err != nil {
		return err
	}
	list := path.Join(path.Dir(t.Name), "manifest.json")
	if !tr.plain(list) {
		return fs.ErrNotExist
	}
	manifest, err := tr.ReadFile(list)
	if err != nil {
		return err
	}
	entry := regexp.MustCompile(`("file": "` + regexp.QuoteMeta(path.Base(t.Name)) + `",\s+"bytes": \d+,\s+"codec": "\w+",\s+"checksum": )"[0-9a-f]{8}"`)
	at := jsonSum.FindIndex(manifest)
	if at == nil || !entry.Match(manifest) || !forge(r, data) {
		return fs.ErrNotExist
	}
	footer := binary.LittleEndian.Uint32(data[len(data)-footSize+footSum:])
	text := entry.ReplaceAll(manifest[:at[0]], fmt.Appendf(nil, `${1}"%08x"`, footer))
	text = fmt.Appendf(text, "  \"crc32c\": \"%08x\"\n}\n", crc32c.Of(text))
	if err := tr.WriteFile(list, text, 0o644); err != nil {
		return err
	}
	return tr.WriteFile(t.Name, data, 0o644)
}

// forge changes a part of a layer file and puts its checksums right. It returns false for
// something that does not look like a layer file.
func forge(r *rand.Rand, data []byte) bool {
	if len(data) < headSize+footSize {
		return false
	}
	end := len(data) - footSize
	foot := data[end:]
	blocks := headSize + uint64(binary.LittleEndian.Uint32(data[modelLength:]))
	index := binary.LittleEndian.Uint64(foot[indexOffset:])
	if blocks > index || index > uint64(end) {
		return false
	}
	parts := [][]byte{data[12:modelSum], data[headSize:blocks], data[blocks:index], data[index:end], foot[:indexSum], foot[24:footSum]}
	overwriteAt(r, parts[r.IntN(len(parts))])
	put := func(at []byte, of []byte) { binary.LittleEndian.PutUint32(at, crc32c.Of(of)) }
	put(data[modelSum:], data[headSize:blocks])
	put(data[headSum:], data[:headSum])
	copy(foot[footHeader:footHeader+4], data[headSum:])
	stored := data[blocks:index]
	for at := data[index:end]; len(at) >= entrySize; at = at[entrySize:] {
		n := min(uint64(binary.LittleEndian.Uint32(at[entryLength:])), uint64(len(stored)))
		put(at[entryStored:], stored[:n])
		stored = stored[n:]
	}
	put(foot[indexSum:], data[index:end])
	put(foot[footSum:], foot[:footSum])
	return true
}
