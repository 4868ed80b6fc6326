//go:build unix

package siegetest

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"regexp"

	"grenier/internal/testkit/layerfiletest"
	"grenier/kernels/crc32c"
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
	footer := binary.LittleEndian.Uint32(data[len(data)-layerfiletest.FooterSize+64:])
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
	if len(data) < layerfiletest.HeaderSize+layerfiletest.FooterSize {
		return false
	}
	end := len(data) - layerfiletest.FooterSize
	foot := data[end:]
	blocks := layerfiletest.HeaderSize + uint64(binary.LittleEndian.Uint32(data[72:]))
	index := binary.LittleEndian.Uint64(foot)
	if blocks > index || index > uint64(end) {
		return false
	}
	parts := [][]byte{data[12:76], data[layerfiletest.HeaderSize:blocks], data[blocks:index], data[index:end], foot[:16], foot[24:64]}
	overwriteAt(r, parts[r.IntN(len(parts))])
	layerfiletest.ResealBlocks(data)
	return true
}
