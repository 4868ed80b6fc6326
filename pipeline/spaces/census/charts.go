package census

import (
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"

	"grenier/io/chart"
)

// Charts draws the results of a census in layers, of which there is one at least.
func Charts(game string, layers []Layer) []chart.Chart {
	charts := []chart.Chart{movesChart(game, layers), predecessorsChart(game, layers)}
	if layers[0].Analysis != nil {
		charts = append(charts, accessesChart(game, layers), chainsChart(game, layers))
	}
	return charts
}

// column is a row of values, one for each layer.
type column struct {
	name  string
	tone  chart.Tone
	value func(l *Layer) float64
}

// draw returns a chart of columns over seeds.
func draw(name, title, text, label string, kind chart.Kind, layers []Layer, columns ...column) chart.Chart {
	c := chart.Chart{
		Name: name, Title: title, Text: text, First: layers[0].Seeds, Kind: kind,
		X: chart.Axis{Label: "seeds"}, Y: chart.Axis{Label: label},
		Table: chart.Table{Head: []string{"seeds"}, Rows: make([][]string, len(layers))},
	}
	for i := range layers {
		c.Table.Rows[i] = []string{strconv.Itoa(layers[i].Seeds)}
	}
	for _, column := range columns {
		c.Table.Head = append(c.Table.Head, column.name)
		s := chart.Series{Name: column.name, Tone: column.tone}
		for i := range layers {
			v := column.value(&layers[i])
			s.Values = append(s.Values, v)
			c.Table.Rows[i] = append(c.Table.Rows[i], humanize.Ftoa(float64(int64(v*1e4))/1e4))
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// perBoard returns a count as a multiple of the boards.
func perBoard(count func(l *Layer) uint64) func(l *Layer) float64 {
	return func(l *Layer) float64 { return float64(count(l)) / float64(l.Positions) }
}

func movesChart(game string, layers []Layer) chart.Chart {
	return draw("moves", "Moves a board", fmt.Sprintf("%s: moves of each kind on the boards of a layer, a board.", game), "moves a board", chart.Bars, layers,
		column{"quiet", chart.Mist, perBoard(func(l *Layer) uint64 { return l.Quiet })},
		column{"captures", chart.Orange, perBoard(func(l *Layer) uint64 { return l.Captures })},
		column{"takes all", chart.Blue, perBoard(func(l *Layer) uint64 { return l.TakesAll })})
}

func predecessorsChart(game string, layers []Layer) chart.Chart {
	return draw("predecessors", "Predecessors", fmt.Sprintf("%s: boards from which a quiet move leads to the same one, the largest number and the mean.", game), "predecessors", chart.Line, layers,
		column{"most", chart.Orange, func(l *Layer) float64 { return float64(l.MostPredecessors) }},
		column{"mean", chart.Teal, perBoard(func(l *Layer) uint64 { return l.Predecessors })})
}

func accessesChart(game string, layers []Layer) chart.Chart {
	return draw("accesses", "Accesses a board", fmt.Sprintf("%s: accesses of the retrograde analysis to its table, counted, and by the formula of the document.", game), "accesses a board", chart.Line, layers,
		column{"formula", chart.Gray, perBoard(func(l *Layer) uint64 { return l.Cost })},
		column{"counted", chart.Teal, perBoard(func(l *Layer) uint64 { return l.Accesses.Total })})
}

func chainsChart(game string, layers []Layer) chart.Chart {
	return draw("chains", "Longest wait for seeds", fmt.Sprintf("%s: the most moves of best play until seeds leave the board.", game), "moves", chart.Bars, layers,
		column{"moves", chart.Teal, func(l *Layer) float64 { return float64(l.Deepest) }})
}
