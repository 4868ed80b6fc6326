package plan

import (
	"math"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// nodesPlan plans 26 seeds, the last layers of which are in windows, for some machines.
func nodesPlan(t *testing.T, number int, shared float64) *NodesPlan {
	t.Helper()
	return must.Get(Nodes{Run: run(t, 26, 400*mib), Number: number, Shared: shared}.Plan(workstation()))(t)
}

// TestNodes: more of them never take longer, nor less than with any number, and wait more; a slower file system never
// makes them quicker.
func TestNodes(t *testing.T) {
	before := math.Inf(1)
	for number := 1; number <= 64; number *= 2 {
		p := nodesPlan(t, number, 0)
		should.Not(t, p.Seconds > before || p.Seconds < p.Least-1e-9 || p.Waiting < -1e-9 || p.Waiting >= 1,
			"%d nodes: %v s, with half of them %v s; %v s at least; they wait %v of the time", number, p.Seconds, before, p.Least, p.Waiting)
		slow := nodesPlan(t, number, 1e7)
		if bound := float64(slow.Traffic) / 1e7; slow.Seconds < p.Seconds || slow.Seconds < 0.999*bound {
			t.Errorf("%d nodes: %v s, with a slow file system %v s, which moves %v s", number, p.Seconds, slow.Seconds, bound)
		}
		before = p.Seconds
	}
	all := nodesPlan(t, 1000, 0)
	should.Not(t, all.Seconds > 1.05*all.Least, "1000 nodes: %v s, with any number %v s", all.Seconds, all.Least)
}

// TestOneNode: it does one step after the other, all windows of the same width, and never waits.
func TestOneNode(t *testing.T) {
	r := run(t, 26, 400*mib)
	r.Apart = true
	apart := must.Get(New(r, workstation()))(t)
	p, seconds := nodesPlan(t, 1, 0), apart.Total.Seconds
	windows := false
	for i, s := range p.Layers {
		seconds += s.Publish
		l := &apart.Layers[i]
		should.Not(t, s.Windows != l.Windows || !l.InMemory() && s.Windows != (s.Seeds+widthOf(s.Bits).values-1)/widthOf(s.Bits).values,
			"layer %d: %d windows of %d bits, planned %d", s.Seeds, s.Windows, s.Bits, l.Windows)
		windows = windows || !l.InMemory()
	}
	should.Not(t, !windows || math.Abs(p.Seconds-seconds) > 1e-6*seconds || math.Abs(p.Waiting) > 1e-9,
		"%v s, want %v: waiting %v, layers in windows: %v", p.Seconds, seconds, p.Waiting, windows)
	if alone := must.Get(New(run(t, 26, 400*mib), workstation()))(t); p.One != alone.Total.Seconds || p.More != p.One || !p.Better() {
		t.Errorf("one node: %v s with solve, planned %v; with its own memory %v", p.One, alone.Total.Seconds, p.More)
	}
}
