package plan

import (
	"cmp"
	"slices"

	"grenier/pipeline/solve/internal/halfboard"
)

// Nodes plans a run on several machines of one kind, which share a file system. Layers in memory are solved by one of
// them; of a layer in windows they take steps: a share of its captures, one window, a share of its seal. Windows know
// nothing of each other then, so that none is thin and no stream is pruned.
type Nodes struct {
	Run
	Number int
	// Shared is the bytes a second that the file system moves for all of them together; 0 is no bound.
	Shared float64
}

// NodesPlan is what a run takes on several machines.
type NodesPlan struct {
	Nodes   int         `json:"nodes"`
	Layers  []NodesStep `json:"layers"` // those to solve, in order
	Seconds float64     `json:"seconds"`
	// Least is the seconds with any number of nodes: layers in memory, and of each other layer its slowest window and
	// what follows the seal.
	Least float64 `json:"least_seconds"`
	// Waiting is the share of the time of all nodes in which they have nothing to do.
	Waiting float64 `json:"waiting"`
	// Traffic is the bytes read from, and written to, the shared file system.
	Traffic uint64 `json:"shared_bytes"`
	// One is the seconds of "solve" on one node, More those with the memory of all nodes in one machine with the
	// processors of one, which has MoreBytes.
	One       float64 `json:"one_node_seconds"`
	More      float64 `json:"more_memory_seconds"`
	MoreBytes uint64  `json:"more_memory_bytes"`
}

// NodesStep is a layer in such a plan. The seconds of a layer in memory are Alone; others are those of the stages, one
// after the other, with all nodes.
type NodesStep struct {
	Seeds   int     `json:"seeds"`
	Bits    int     `json:"bits"`
	Windows int     `json:"windows"`
	Alone   float64 `json:"alone_seconds"`
	Capture float64 `json:"capture_seconds"`
	Search  float64 `json:"window_seconds"`  // of all windows
	Slowest float64 `json:"slowest_seconds"` // of these: the slowest window
	Seal    float64 `json:"seal_seconds"`
	Publish float64 `json:"publish_seconds"` // one node reads all and writes the layer file
	Traffic uint64  `json:"shared_bytes"`
	work    float64 // seconds of all nodes together
}

// seconds returns the seconds of a layer.
func (s *NodesStep) seconds() float64 { return s.Alone + s.Capture + s.Search + s.Seal + s.Publish }

// hashed is the nanoseconds of a score in the hash of a layer, which is serial (docs/benchmarks.md).
const hashed = 0.13

// Plan predicts the run on the machines of c. It fails as New does.
func (n Nodes) Plan(c *Calibration) (*NodesPlan, error) {
	p := &NodesPlan{Nodes: n.Number, Layers: []NodesStep{}, MoreBytes: n.Memory * uint64(n.Number)}
	one, more, apart := n.Run, n.Run, n.Run
	more.Memory, apart.Apart = p.MoreBytes, true
	var plans []*Plan
	for _, r := range []Run{one, more, apart} {
		solved, err := r.plan(c)
		if err != nil {
			return nil, err
		}
		plans = append(plans, solved)
	}
	p.One, p.More = plans[0].Total.Seconds, plans[1].Total.Seconds
	work := 0.0
	for i := range plans[2].Layers {
		s := n.layer(&plans[2].Layers[i], c)
		p.Layers = append(p.Layers, s)
		p.Seconds += s.seconds()
		p.Least += s.Alone + s.Slowest + s.Publish
		p.Traffic += s.Traffic
		work += s.work
	}
	if p.Seconds > 0 {
		p.Waiting = 1 - work/(p.Seconds*float64(n.Number))
	}
	return p, nil
}

// layer plans the steps of a layer.
func (n *Nodes) layer(l *Layer, c *Calibration) NodesStep {
	s := NodesStep{Seeds: l.Seeds, Bits: l.Bits, Windows: l.Windows}
	if l.InMemory() {
		s.Traffic = l.Read + l.Written
		s.Alone = max(l.Seconds, n.moving(s.Traffic))
		s.work = s.Alone
		return s
	}
	nodes := float64(n.Number)
	// Each share of the captures goes through the layers below at least once.
	again := halfboard.LowerRead(n.Game, l.Seeds, max(l.Passes, n.Number)) / halfboard.LowerRead(n.Game, l.Seeds, l.Passes)
	lower := uint64(again * float64(l.lowerRead))
	windows := l.reread + l.Digits
	s.Traffic = lower + l.Captures + windows + l.Digits + 3*l.File // pieces are written, read, and copied
	s.Capture = max(l.Times.Capture/nodes, n.moving(lower+l.Captures))
	s.Slowest, s.Search = n.search(l)
	s.Search = max(s.Search, n.moving(windows))
	s.Seal = max(l.Times.Seal/nodes, n.moving(l.Digits+l.File))
	positions := float64(l.Positions) * 1e-9
	s.Publish = max(c.Decode*positions/c.Speeds(n.Cores).Least, hashed*positions, n.moving(2*l.File), float64(l.File)/c.Write)
	s.work = l.Seconds + s.Publish
	return s
}

// moving returns the seconds in which the shared file system moves bytes.
func (n *Nodes) moving(bytes uint64) float64 {
	if n.Shared == 0 {
		return 0
	}
	return float64(bytes) / n.Shared
}

// search returns the seconds of the slowest window of a layer, and of all of them when each node takes the slowest one
// that nobody has taken.
func (n *Nodes) search(l *Layer) (slowest, all float64) {
	var windows []float64
	for i, step := range l.steps {
		seconds := 0.0
		for _, leg := range l.window(i, step) {
			seconds += leg.seconds
		}
		windows = append(windows, seconds)
	}
	slices.SortFunc(windows, func(x, y float64) int { return cmp.Compare(y, x) })
	busy := make([]float64, n.Number)
	for _, seconds := range windows {
		busy[slices.Index(busy, slices.Min(busy))] += seconds
	}
	return windows[0], slices.Max(busy)
}

// Better reports whether one machine with the memory of all nodes is as quick as these.
func (p *NodesPlan) Better() bool { return p.More <= p.Seconds }
