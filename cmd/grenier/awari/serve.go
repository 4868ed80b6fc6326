package awari

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/awari/web"
	"grenier/cmd/grenier/cli"
	"grenier/io/manifest"
	"grenier/pipeline/play/serve"
	"grenier/pipeline/tables"
)

// serveReport is the JSON that serve prints as soon as it listens.
type serveReport struct {
	Address string `json:"address"`
	URL     string `json:"url"`
}

// serveOptions are the flags of serve.
type serveOptions struct {
	dir, addr string
	rate      int
	each      int
	origins   string
	others    othersFlag
	log, json bool
}

// maxRate is more than one machine can answer.
const maxRate = 1_000_000

func (a *app) serve() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve --dir DIR",
		Short: "Show web pages to play on and to explore the tables",
		Long: `Serves web pages on which you play against the tables, or both sides, see the
exact value of each move and what a game gave away, solve puzzles, and look at
positions and charts of the layers. The same answers are available as JSON: see
docs/serve.md. The pages are part of the program and need no other server.

By default only this machine can connect. --addr :8080 listens on all addresses
of the machine, localhost:0 on any free port. There is neither encryption nor a
login: for others, put a proxy in front that has both. A client with too many
requests, connections or searches gets the answer 429. A proxy counts as one
client: raise --rate and --connections for it.

/api/openapi.json describes the interface to programs. Pages of other sites may
link to the server, but neither read its answers nor show it in a frame, unless
--allow-origin names where they come from: https://example.org, say, or * for
everybody, which includes any page that somebody opens in a browser here.

The pages play by the rules of the tables. --also abapa=http://localhost:8081/
has them offer, before a game, those of another server or site.

The server knows the layers that were solved when it started. It runs until
Ctrl-C or the signal TERM, completes its answers, and ends.

EXIT STATUS
  0    stopped by Ctrl-C or a signal
`,
		Example: `  grenier awari serve --dir data/awari
  grenier awari serve --dir data/awari --addr localhost:0 --json
  grenier awari serve --dir data/awari --allow-origin https://example.org,http://localhost:3000`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			return a.runServer(cmd.Context(), o)
		}),
	}
	needDir(cmd, &o.dir)
	cmd.Flags().StringVar(&o.addr, "addr", "localhost:8080", "`host:port` to listen on")
	cli.IntVar(cmd.Flags(), &o.rate, "rate", serve.DefaultRate, 1, maxRate, "`number` of requests a second that a client may make on average")
	cli.IntVar(cmd.Flags(), &o.each, "connections", serve.DefaultConnections, 1, serve.MaxConnections, "`number` of connections that a client may have at a time")
	cmd.Flags().StringVar(&o.origins, "allow-origin", "", "`origins` whose pages may use this server, with commas between, or * for all")
	cmd.Flags().Var(&o.others, "also", othersUsage)
	cmd.Flags().BoolVar(&o.log, "log", false, "log every request on stderr")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the address as one JSON object")
	return cmd
}

// runServer serves until ctx ends.
func (a *app) runServer(ctx context.Context, o serveOptions) error {
	if err := checkAddress("--addr", o.addr); err != nil {
		return err
	}
	chosen, err := cli.Family()
	if err != nil {
		return err
	}
	if _, err := loadManifest(o.dir); err != nil {
		return err
	}
	var origins serve.Origins
	if o.origins != "" {
		if origins, err = serve.ParseOrigins(o.origins); err != nil {
			return fmt.Errorf("--allow-origin: %w", err)
		}
	}
	t, err := tables.Open(ctx, o.dir, tables.Kernel(chosen))
	if err != nil {
		return err
	}
	defer t.Close()
	server, err := serve.New(serve.Options{
		Tables: t, Dir: o.dir, Family: chosen, Pages: web.Files(o.others...), Log: slog.New(slog.NewTextHandler(a.Err, nil)),
		LogRequests: o.log, Rate: o.rate, Connections: o.each, Origins: origins,
	})
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(server.Processors())
	l, err := listen(ctx, "--addr", o.addr)
	if err != nil {
		return err
	}
	if err := a.announceServer(l, t, o); err != nil {
		l.Close()
		return err
	}
	return server.Serve(ctx, l)
}

// checkAddress refuses the value of a flag that is no address to listen on.
func checkAddress(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return cli.Usagef("%s %s: must be host:port, such as localhost:8080", flag, cli.Quoted(addr))
	}
	return nil
}

// listen opens the address for requests, the value of a flag.
func listen(ctx context.Context, flag, addr string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		err = fmt.Errorf("cannot listen on %s: %w (%s localhost:0 takes any free port)", addr, failed.Err, flag)
	}
	return l, err
}

// announceServer prints the address of the page.
func (a *app) announceServer(l net.Listener, t *tables.Tables, o serveOptions) error {
	url := urlOf(l, o.addr)
	if o.json {
		return a.PrintJSON(serveReport{Address: l.Addr().String(), URL: url})
	}
	_, err := fmt.Fprintf(a.Out, "%s\n%s, %s; Ctrl-C stops\n", url, t.Game().Name(), solvedText(&manifest.Manifest{Layers: t.Layers()}))
	return err
}

// urlOf returns the address of the page for a browser on this machine.
func urlOf(l net.Listener, addr string) string {
	host, _, _ := net.SplitHostPort(addr)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if host == "" || net.ParseIP(host).IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}

// solvedText returns the range of the solved layers as text.
func solvedText(m *manifest.Manifest) string {
	last := len(m.Layers) - 1
	switch {
	case last < 0:
		return "no layer solved"
	case last == 0:
		return "layer 0"
	}
	text := fmt.Sprintf("layers 0 to %d", last)
	for _, n := range m.Missing(last) {
		text += fmt.Sprintf(" without %d", n)
	}
	return text
}
