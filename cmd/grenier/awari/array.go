package awari

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/plan"
)

// arrayFlags are the flags of array as given.
type arrayFlags struct {
	runFlags
	dir   string
	nodes int
	bits  int
}

// arrayText is the script that array prints.
//
//go:embed array.sh.tmpl
var arrayText string

// arrayScript is what the script says.
type arrayScript struct {
	Program, Dir, Game string
	Threads, Nodes     int
	Memory, Granted    uint64 // bytes of the program, MiB of a task
	Alone              int    // the last layer that one task solves, -1 if there is none
	Bits, Skip         int    // forced, and left out; 0 for none
	Layers             []plan.Amounts
}

func (a *app) array() *cobra.Command {
	var f arrayFlags
	cmd := &cobra.Command{
		Use:   "array --dir DIR --seeds N --nodes K",
		Short: "Print job scripts for Slurm that solve layers on several machines",
		Long: `Prints a shell script that submits the jobs of a run to Slurm: one that solves
the layers that fit into the memory of a node, and for each layer after them
arrays of steps ("grenier awari step"), which wait for each other. DIR is on a
file system that all nodes share. Run the script where sbatch works:

  grenier awari array ... | sh

A task that is told to end, as before its node is taken away, writes a
checkpoint and is queued again (exit status 75 or 130); so is one whose node
fails. Any other status cancels what waits for the task; when the reason is
gone, print and run the script again: steps that are done end at once.

docs/cluster.md goes through it, and says what other schedulers need. Plan
first: "grenier awari plan --nodes".
`,
		Example: `  grenier awari array --dir /shared/awari --seeds 48 --memory 64GiB --threads 16 --nodes 12 > jobs.sh
  sh jobs.sh`,
		Args: cli.NoArgs,
		RunE: a.Start(func(*cobra.Command, []string) error { return a.printArray(&f) }),
	}
	flags := cmd.Flags()
	f.gameFlags.define(flags)
	flags.Var((*cli.Directory)(&f.dir), "dir", "run directory, existing or not, on a file system that all nodes share")
	f.defineSeeds(flags)
	skipVar(flags, &f.skip)
	f.Memory.DefinePlan(a.App, flags, "8GiB")
	cli.ThreadsFlag(flags, &f.Threads, "use")
	cli.IntVar(flags, &f.nodes, "nodes", 1, 1, mostNodes, "`number` of tasks of captures and of seals, as many as there are machines")
	cli.IntChoiceVar(flags, &f.bits, "bits", 0, "`bits` of a score in windows, of all layers but small ones; chosen by --memory unless given", plan.Widths()...)
	cli.Need(cmd, "dir", "seeds")
	return cmd
}

// printArray prints the script.
func (a *app) printArray(f *arrayFlags) error {
	game, err := f.game()
	if err != nil {
		return err
	}
	o, err := f.options()
	if err == nil {
		err = o.Check(game)
	}
	if err != nil {
		return f.Memory.Explain(err)
	}
	r := f.planned(game, &o)
	r.Apart, r.Bits = true, f.bits
	if err := solve.Continue(&r, f.dir); err != nil {
		return err
	}
	s, err := f.script(r)
	if err != nil {
		return f.Memory.Explain(err)
	}
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	return template.Must(template.New("array").Funcs(template.FuncMap{"quote": quote}).Parse(arrayText)).Execute(a.Out, s)
}

// fewPositions is the number of positions below which a layer is solved by one task, whatever its bits.
const fewPositions = 1 << 22

// script returns what the script of a run says.
func (f *arrayFlags) script(r plan.Run) (s arrayScript, err error) {
	const mib, beside = 1 << 20, 512 // MiB for the system, and caches of files
	s = arrayScript{
		Game: fmt.Sprintf("--rules %s --pits %d", f.rules, f.pits), Threads: r.Cores, Nodes: f.nodes, Bits: f.bits, Skip: f.skip,
		Memory: r.Memory, Granted: r.Memory/mib + beside, Alone: -1,
	}
	if s.Program, err = os.Executable(); err != nil {
		return s, fmt.Errorf("finding this program: %w", err)
	}
	if s.Dir, err = filepath.Abs(f.dir); err != nil {
		return s, fmt.Errorf("finding %s: %w", f.dir, err)
	}
	all, err := r.Amounts()
	for _, l := range all {
		if l.InMemory() || l.Positions < fewPositions {
			s.Alone = l.Seeds
		} else {
			s.Layers = append(s.Layers, l)
		}
	}
	return s, err
}
