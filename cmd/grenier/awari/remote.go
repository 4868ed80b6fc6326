package awari

import (
	"context"
	"errors"
	"net/url"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/io/remote"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// remote is a help text about tables on a web server.
func (a *app) remote() *cobra.Command {
	return &cobra.Command{
		Use:   "remote",
		Short: "Explain how to use tables on a web server",
		Long: `probe and stats can read a run directory on a web server: give --url instead of
--dir. The server hands out manifest.json and the layer files as plain files.
It must answer range requests and send an ETag or Last-Modified header, as
nginx, caddy, Apache and most file hosts do; "python3 -m http.server" does not.

A probe downloads the blocks that the board and its moves need, about 30 KiB
each, and parts of the index of large layers. The first use of a layer takes
two more requests. All bytes are checked as if they came from disk. A request
is tried three times, for 20 seconds each. HTTPS_PROXY and the other proxy
variables are respected.

docs/remote.md describes the requests, the checks and how to set up a server.
`,
		Example: `  rsync -a --exclude work --exclude lock data/awari/ host:/var/www/awari/
  grenier awari remote --help
  grenier awari stats --url https://host/awari/
  grenier awari probe --url https://host/awari/ 1 1 1 1 1 2 4 2 3 0 0 0`,
		Args: cli.NoArgs,
		RunE: cli.ShowHelp,

		DisableFlagsInUseLine: true,
	}
}

// place is where solved layers are; one of its fields is set.
type place struct{ dir, url string }

// needPlace adds the flags for the run directory or its address.
func needPlace(cmd *cobra.Command, p *place) {
	cmd.Flags().Var((*cli.Directory)(&p.dir), "dir", "run directory with the solved layers")
	cmd.Flags().StringVar(&p.url, "url", "", "`address` of a web server with a run directory, instead of --dir")
	cli.NeedOne(cmd, "dir", "url")
}

// String returns the directory or the address, without a password.
func (p *place) String() string {
	if p.dir != "" {
		return p.dir
	}
	if u, err := url.Parse(p.url); err == nil {
		return u.Redacted()
	}
	return "--url" // even an address that cannot be parsed may hold a password
}

// openRemote returns the directory at the address.
func (p *place) openRemote() (*remote.Dir, error) {
	d, err := remote.Open(p.url, remote.Options{})
	if errors.Is(err, remote.ErrAddress) {
		return nil, cli.Usagef("--url: %w", err)
	}
	return d, err
}

// loadManifest reads the manifest of a run directory and checks that all files in it exist.
func loadManifest(dir string) (*manifest.Manifest, error) {
	run, err := rundir.Open(dir)
	if err != nil {
		return nil, err
	}
	m, err := catalog.Manifest(run)
	if err != nil {
		return nil, err
	}
	return m, catalog.CheckFiles(dir, m)
}

// manifest reads the manifest.
func (p *place) manifest(ctx context.Context) (*manifest.Manifest, error) {
	if p.dir != "" {
		return loadManifest(p.dir)
	}
	d, err := p.openRemote()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return catalog.RemoteManifest(ctx, d)
}

// ahead returns how many boards are looked up together, to hide the latency of a server.
func (p *place) ahead() int {
	if p.dir != "" {
		return 1
	}
	return 32
}

// remoteCache bounds the cache of blocks from a server: 1024 blocks.
const remoteCache = 64 << 20

// tables opens the tables.
func (p *place) tables(ctx context.Context, family cpu.Family) (*tables.Tables, error) {
	if p.dir != "" {
		return tables.Open(ctx, p.dir, tables.Kernel(family))
	}
	d, err := p.openRemote() // which asks nothing
	if err != nil {
		return nil, err
	}
	d.Close()
	return tables.Open(ctx, p.url, tables.Kernel(family), tables.CacheBytes(remoteCache))
}
