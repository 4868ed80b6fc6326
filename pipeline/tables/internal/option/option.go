// Package option has the settings with which tables are opened. Package tables has options for
// all users, package catalog for engines.
package option

import (
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/remote"
	"grenier/kernels/cpu"
)

// Set holds the settings.
type Set struct {
	Family     cpu.Family
	CacheBytes int64
	Sparing    bool
	Server     *remote.Options                 // nil: the defaults
	Manifest   *manifest.Manifest              // nil: the one in the directory
	Last       func() (*layerfile.File, error) // opens the file of the last layer; nil: as the others
}

// Option changes a Set.
type Option func(*Set)
