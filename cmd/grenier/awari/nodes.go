package awari

import (
	"strconv"

	"github.com/spf13/pflag"

	"grenier/cmd/grenier/cli"
	"grenier/pipeline/solve/plan"
)

// nodesFlags are the flags of plan about several machines.
type nodesFlags struct {
	nodes  int
	shared string
}

// mostNodes is more machines than a layer has windows, captures and seals for.
const mostNodes = 1000

func (f *nodesFlags) define(flags *pflag.FlagSet) {
	cli.IntVar(flags, &f.nodes, "nodes", 1, 1, mostNodes, "`number` of machines with --memory and --threads each that solve layers together")
	flags.StringVar(&f.shared, "shared", "", "`bytes` a second that the file system moves for all --nodes together; no bound unless given")
}

// plan plans the run on the machines, nil if there is one.
func (f *nodesFlags) plan(r plan.Run, c *plan.Calibration) (*plan.NodesPlan, error) {
	if f.nodes == 1 {
		if f.shared != "" {
			return nil, cli.Usagef("--shared needs --nodes")
		}
		return nil, nil
	}
	n := plan.Nodes{Run: r, Number: f.nodes}
	if f.shared != "" {
		shared, err := cli.ParseBytes("--shared", f.shared)
		if err != nil {
			return nil, err
		}
		n.Shared = float64(shared)
	}
	return n.Plan(c)
}

// printNodes prints the layers of a plan for several machines, and what these buy.
func (a *app) printNodes(p *plan.NodesPlan, memory uint64) {
	table := cli.NewTable(a.Out, cli.WidthOf(a.Out), nodesColumns())
	for _, l := range p.Layers {
		table.Add(l)
	}
	a.Printf(2, "%d nodes: %s (%.2f hours), of which they wait %.0f%%; %s through the shared file system",
		p.Nodes, cli.Period(p.Seconds), p.Seconds/3600, 100*p.Waiting, cli.Size(p.Traffic))
	a.Printf(2, "one of them: %s (%.2f hours) with \"solve\", whose windows know of each other", cli.Period(p.One), p.One/3600)
	a.Printf(2, `any number of nodes: %s at least, since layers follow each other, one node solves a layer in memory, `+
		`and of each other layer all wait for the slowest window and the node that publishes it`, cli.Period(p.Least))
	verdict := "the nodes are quicker"
	if p.Better() {
		verdict = "the better buy"
	}
	a.Printf(2, "one machine with the memory of %d times %s and the processors of one node: %s (%.2f hours): %s",
		p.Nodes, cli.Size(memory), cli.Period(p.More), p.More/3600, verdict)
}

// nodesColumns are the columns of a plan for several machines.
func nodesColumns() []cli.Column[plan.NodesStep] {
	column := cli.NewColumn[plan.NodesStep]
	const bits, steps, traffic = 3, 2, 1 // the order in which columns go
	return []cli.Column[plan.NodesStep]{
		column("seeds", 5, 0, func(s plan.NodesStep) string { return strconv.Itoa(s.Seeds) }),
		column("bits", 4, bits, func(s plan.NodesStep) string { return strconv.Itoa(s.Bits) }),
		column("windows", 7, bits, func(s plan.NodesStep) string { return strconv.Itoa(s.Windows) }),
		column("alone", 8, 0, func(s plan.NodesStep) string { return seconds(s.Alone) }),
		column("capture", 8, steps, func(s plan.NodesStep) string { return seconds(s.Capture) }),
		column("search", 8, steps, func(s plan.NodesStep) string { return seconds(s.Search) }),
		column("slowest", 8, steps, func(s plan.NodesStep) string { return seconds(s.Slowest) }),
		column("seal", 8, steps, func(s plan.NodesStep) string { return seconds(s.Seal) }),
		column("publish", 8, steps, func(s plan.NodesStep) string { return seconds(s.Publish) }),
		column("shared", 8, traffic, func(s plan.NodesStep) string { return cli.Size(s.Traffic) }),
	}
}
