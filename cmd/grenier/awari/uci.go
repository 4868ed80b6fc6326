package awari

import (
	"context"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/play/uci"
)

// uciFlags are the flags of uci as given.
type uciFlags struct {
	dir     string
	memory  cli.MemoryFlag
	threads int
}

func (a *app) uci() *cobra.Command {
	var f uciFlags
	cmd := &cobra.Command{
		Use:   "uci --dir DIR",
		Short: "Run as an engine for oware GUIs such as Aualé",
		Long: `Speaks the dialect of the Universal Chess Interface that oware programs use, on
stdin and stdout, until the command quit or the end of the input: name this
command as an engine in the interface. Solved boards are answered from the
tables, others are searched. The tables are for the rules of the run directory,
the interface plays Oware Abapa, which is closest to the rules abapa:
docs/uci.md has the difference, and each command.
`,
		Example: `  grenier awari uci --dir data/awari
  printf 'position startpos moves Fc\ngo depth 9\n' | grenier awari uci --dir data/awari`,
		Args: cli.NoArgs,
		RunE: a.Start(func(cmd *cobra.Command, _ []string) error {
			return a.runUCI(cmd.Context(), f)
		}),
	}
	needDir(cmd, &f.dir)
	flags := cmd.Flags()
	cli.IntVar(flags, &f.threads, "threads", 1, 1, cli.MaxThreads, "`number` of processors to use, unless the interface sets the option Threads")
	f.memory.Define(a.App, flags, "1GiB", nil)
	return cmd
}

func (a *app) runUCI(ctx context.Context, f uciFlags) error {
	t, half, err := openHalf(ctx, f.dir, &f.memory, f.threads)
	if err != nil {
		return err
	}
	defer t.Close()
	t.Resize(uint64(half / 2))
	blocks, bytes := searchIn(t, half)
	s := uci.New(uci.Options{
		Name: "Grenier " + cli.Release, Author: "the Grenier authors", Scores: t, Blocks: blocks, Bytes: bytes, MostBytes: bytes,
		Workers: f.threads, Positions: positionsIn(half / 2),
	})
	return s.Run(ctx, a.Stdin(ctx, nil), a.Out)
}
