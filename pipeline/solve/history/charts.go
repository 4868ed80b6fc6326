package history

import (
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"

	"grenier/io/chart"
)

// most is the number of moments that charts show.
const most = 60

// moment is how far all runs were at a time.
type moment struct {
	work      float64 // seconds of work so far
	positions uint64
	bytes     uint64
	rate      float64 // of the layer sealed last
	rss       uint64
	layers    []int // sealed since the moment before
}

// moments returns evenly spaced moments of the work of all runs; pauses between them take no time.
func (h *History) moments() []moment {
	n := min(most, max(2, h.Layers))
	all := make([]moment, n+1)
	for i := range all {
		all[i].work = h.Seconds * float64(i) / float64(n)
	}
	before, at := 0.0, 0
	var now moment
	for _, r := range h.Runs {
		for _, l := range r.Layers {
			work := before + l.Sealed.Sub(r.Started).Seconds()
			for at < n && all[at].work < work {
				all[at].state(&now)
				at++
			}
			now.positions += l.Positions
			now.bytes += l.Bytes
			now.rss = l.RSS
			if l.Seconds > 0 {
				now.rate = float64(l.Positions) / l.Seconds
			}
			now.layers = append(now.layers, l.Seeds)
		}
		before += r.Seconds
	}
	for ; at <= n; at++ {
		all[at].state(&now)
	}
	return all
}

// state takes over all but the time, and the layers once.
func (m *moment) state(now *moment) {
	work := m.work
	*m = *now
	m.work, now.layers = work, nil
}

// Charts returns charts of the work: positions solved, speed, memory and disk over its time, with the layers marked. There are none
// before the first layer is sealed.
func (h *History) Charts() []chart.Chart {
	if h.Layers == 0 || h.Seconds <= 0 {
		return nil
	}
	all := h.moments()
	bytes := func(x float64) string { return humanize.IBytes(uint64(x)) }
	count := func(x float64) string { return humanize.SIWithDigits(x, 1, "") }
	return []chart.Chart{
		line(all, "positions", "Positions solved", "positions", count, func(m *moment) float64 { return float64(m.positions) }),
		line(all, "speed", "Speed of the layer sealed last", "positions a second", count, func(m *moment) float64 { return m.rate }),
		line(all, "memory", "Memory of the solver", "memory", bytes, func(m *moment) float64 { return float64(m.rss) }),
		line(all, "disk", "Layer files", "disk", bytes, func(m *moment) float64 { return float64(m.bytes) }),
	}
}

// line returns a chart of a value over the time of work; 0 is not known.
func line(all []moment, name, title, what string, text func(float64) string, value func(*moment) float64) chart.Chart {
	clock := func(m *moment) string {
		return time.Duration(m.work * float64(time.Second)).Round(time.Second).String()
	}
	c := chart.Chart{
		Name: name, Title: title, Text: title + " over the time of work of all runs; dots in the second colour are moments at which layers were sealed.",
		X: chart.Axis{Label: "time of work", Format: func(x float64) string { return clock(&all[max(0, min(int(x), len(all)-1))]) }},
		Y: chart.Axis{Label: what, Format: text}, Kind: chart.Line,
		Table: chart.Table{Head: []string{"time of work", what, "layers sealed"}},
	}
	values, marks := make([]float64, len(all)), make([]float64, len(all))
	for i := range all {
		m := &all[i]
		values[i], marks[i] = value(m), math.NaN()
		cell, sealed := "", ""
		if values[i] <= 0 {
			values[i] = math.NaN()
		} else {
			cell = text(values[i])
		}
		if n := len(m.layers); n > 0 {
			marks[i], sealed = values[i], fmt.Sprint(m.layers[0])
			if n > 1 {
				sealed += fmt.Sprintf(" to %d", m.layers[n-1])
			}
		}
		c.Table.Rows = append(c.Table.Rows, []string{clock(m), cell, sealed})
	}
	c.Series = []chart.Series{{Name: what, Tone: chart.Teal, Values: values}, {Name: "layers sealed", Tone: chart.Orange, Values: marks}}
	return c
}
