package tables_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/remote"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// TestRefusedOptions: what makes no sense is bad usage, here and on a server.
func TestRefusedOptions(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	dir := testrun.Write(t, game, testrun.Solve(t, game, 5), 64)
	server := remotetest.Serve(t, dir, false).URL
	isUnsupported := func(err error) bool {
		_, ok := errors.AsType[*cpu.UnsupportedError](err)
		return ok
	}
	for name, c := range map[string]struct {
		place  string
		option tables.Option
		want   func(error) bool
	}{
		"no such family":             {dir, tables.Kernel(77), isUnsupported},
		"no such family, far":        {server, tables.Kernel(77), isUnsupported},
		"a negative cache":           {dir, tables.CacheBytes(-5), isOption},
		"a negative cache, far":      {server, tables.CacheBytes(-5), isOption},
		"a server on the disk":       {dir, tables.Server(tables.ServerOptions{}), isOption},
		"a server that is sparing":   {server, tables.Sparing(true), isOption},
		"another manifest, far":      {server, catalog.Listed(new(manifest.Manifest)), isOption},
		"another last layer, far":    {server, catalog.Last(func() (*layerfile.File, error) { return nil, nil }), isOption},
		"a timeout below 0":          {server, tables.Server(tables.ServerOptions{Timeout: -time.Second}), func(err error) bool { return errors.Is(err, remote.ErrOptions) }},
		"an address of another kind": {"ftp://host/x", tables.CacheBytes(1), func(err error) bool { return errors.Is(err, tables.ErrAddress) }},
	} {
		tab, err := tables.Open(t.Context(), c.place, c.option)
		if err == nil {
			tab.Close()
		}
		should.Hold(t, c.want(err), "%s: %v", name, err)
		should.Not(t, !errors.Is(err, fault.Usage) && !errors.Is(err, tables.ErrAddress), "%s: %v is not bad usage", name, err)
	}
	for _, option := range []tables.Option{tables.CacheBytes(0), tables.Kernel(cpu.Generic), tables.Sparing(true), tables.Sparing(false)} {
		should.OK(t, must.Err(open(t, dir, option).Score(t.Context(), tables.Board{1, 1})))
	}
}

func isOption(err error) bool { return errors.Is(err, tables.ErrOption) }

// TestMissing: where nothing is, near or far, errors match fs.ErrNotExist.
func TestMissing(t *testing.T) {
	for _, place := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir(), remotetest.Serve(t, t.TempDir(), false).URL} {
		_, err := tables.Open(t.Context(), place)
		should.Not(t, !errors.Is(err, fs.ErrNotExist) || errors.Is(err, tables.ErrCorrupt), "%s: %v", place, err)
	}
}
