package catalog

import (
	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
)

// DistancesName is the game that files of distances name.
const DistancesName = "awari-distances"

// DistanceHeader returns the header of the file of the distances of layer n, but for the model: it names the scores that m lists.
func DistanceHeader(m *manifest.Manifest, n int) layerfile.Header {
	l := &m.Layers[n]
	return layerfile.Header{
		Game: DistancesName, Rules: m.Rules, Pits: m.Pits, Seeds: n, Codec: layerfile.LZ4, Transform: layerfile.Ranks,
		Below: layerfile.Below("").With(n, l.Hash), BlockSize: layerfile.MaxBlockSize, Positions: l.Positions,
	}
}

// CheckDistances fails with an error that matches corrupt.ErrMismatch unless f has the distances of layer n, made from the scores that m
// lists, and is the very file that is listed, if one is.
func CheckDistances(m *manifest.Manifest, n int, f *layerfile.File) error {
	want := DistanceHeader(m, n)
	if err := f.Expect(want); err != nil {
		return err
	}
	if f.Header().Below != want.Below {
		return corrupt.New(f.Path(), "header", "%w: these distances are of other scores of layer %d", corrupt.ErrMismatch, n)
	}
	if l, got := m.Layers[n].Distances, manifest.NewDistances(f.Footer()); l.Listed() && got != l {
		return corrupt.New(f.Path(), "footer", "%d bytes, hash %v, checksum %v %w the manifest: %d bytes, hash %v, checksum %v",
			got.Bytes, got.Hash, got.Checksum, corrupt.ErrMismatch, l.Bytes, l.Hash, l.Checksum)
	}
	return nil
}
