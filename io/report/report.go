// Package report shows the facts of a manifest about solved layers: as charts, as
// one SVG file, and as a web page that is complete in one file. No layer file is
// opened.
//
// The charts by layer are wins, draws and losses, the mean score, the bytes that
// a position takes, and the time spent. The histogram of one layer shows how
// often each score occurs. In most positions all seeds are taken in the end, so
// scores are even or odd as the number of seeds is: the histogram is a comb.
//
// Values that a manifest does not know are omitted: 0 seconds stand for a layer
// that was not solved here.
package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"grenier/io/chart"
	"grenier/io/manifest"
)

// smallLayer is the number of positions below which bytes a position say more
// about the frame of the file than about the scores.
const smallLayer = 1000

// Layers returns the charts that compare the layers of a manifest: outcome, mean,
// bytes and seconds are their names. Charts without a value are left out, and
// fewer than two layers are not compared.
func Layers(m *manifest.Manifest) []chart.Chart {
	if len(m.Layers) < 2 {
		return nil
	}
	charts := []chart.Chart{outcome(m.Layers), mean(m.Layers)}
	for _, c := range []chart.Chart{size(m.Layers), seconds(m.Layers)} {
		if slices.ContainsFunc(c.Series[0].Values, func(v float64) bool { return !math.IsNaN(v) }) {
			charts = append(charts, c)
		}
	}
	return charts
}

// byLayer returns a chart of layers that still lacks its series and rows.
func byLayer(name, title string, layers []manifest.Layer, y chart.Axis, head ...string) chart.Chart {
	return chart.Chart{
		Name: name, Title: title, X: chart.Axis{Label: "seeds on the board"}, Y: y, First: layers[0].Seeds,
		Table: chart.Table{Head: append([]string{"seeds"}, head...)},
	}
}

func outcome(layers []manifest.Layer) chart.Chart {
	c := byLayer("outcome", "Wins, draws and losses by layer", layers,
		chart.Axis{Label: "share of positions", Max: 1, Format: percentTick},
		"positions", "win", "draw", "loss", "win %", "draw %", "loss %")
	win, draw, loss := make([]float64, len(layers)), make([]float64, len(layers)), make([]float64, len(layers))
	for i, l := range layers {
		win[i], draw[i], loss[i] = share(l.Win, l.Positions), share(l.Draw, l.Positions), share(l.Loss, l.Positions)
		c.Table.Rows = append(c.Table.Rows, []string{
			strconv.Itoa(l.Seeds), comma(l.Positions), comma(l.Win), comma(l.Draw), comma(l.Loss),
			percent(win[i]), percent(draw[i]), percent(loss[i]),
		})
	}
	c.Kind = chart.Bars
	c.Series = []chart.Series{
		{Name: "win", Tone: chart.Blue, Values: win},
		{Name: "draw", Tone: chart.Gray, Values: draw},
		{Name: "loss", Tone: chart.Orange, Values: loss},
	}
	c.Text = "Share of the positions of each layer that are won, drawn and lost for the player to move."
	if last := &layers[len(layers)-1]; last.Positions > 0 {
		c.Text += fmt.Sprintf(" With %d seeds: %s.", last.Seeds, inWords(last))
	}
	return c
}

// lineOf returns a chart with a line of values, which row tells of each layer with the other cells of its row.
func lineOf(c chart.Chart, text string, layers []manifest.Layer, row func(*manifest.Layer) (value float64, cells []string)) chart.Chart {
	values := make([]float64, len(layers))
	for i := range layers {
		value, cells := row(&layers[i])
		values[i] = value
		c.Table.Rows = append(c.Table.Rows, append([]string{strconv.Itoa(layers[i].Seeds)}, cells...))
	}
	c.Kind, c.Text = chart.Line, text
	c.Series = []chart.Series{{Name: c.Name, Tone: chart.Teal, Values: values}}
	return c
}

func mean(layers []manifest.Layer) chart.Chart {
	c := byLayer("mean", "Mean score by layer", layers, chart.Axis{Label: "mean score of the player to move"}, "mean score")
	first, last := &layers[0], &layers[len(layers)-1]
	text := fmt.Sprintf("Mean over all positions of a layer: %.3f with %d seeds, %.3f with %d.",
		first.Histogram.Mean(), first.Seeds, last.Histogram.Mean(), last.Seeds)
	return lineOf(c, text, layers, func(l *manifest.Layer) (float64, []string) {
		mean := l.Histogram.Mean()
		return mean, []string{fmt.Sprintf("%.6f", mean)}
	})
}

func size(layers []manifest.Layer) chart.Chart {
	c := byLayer("bytes", "Bytes a position by layer", layers, chart.Axis{Label: "bytes a position"},
		"positions", "bytes", "bytes a position")
	text := fmt.Sprintf("Length of the layer file divided by the number of positions. Layers of fewer than %s positions, whose files are mostly frame, are only in the table.",
		humanize.Comma(smallLayer))
	return lineOf(c, text, layers, func(l *manifest.Layer) (value float64, cells []string) {
		value = float64(l.Bytes) / float64(l.Positions)
		cells = []string{comma(l.Positions), humanize.Comma(l.Bytes), ""}
		if l.Positions > 0 {
			cells[2] = fmt.Sprintf("%.3f", value)
		}
		if l.Positions < smallLayer {
			value = math.NaN()
		}
		return value, cells
	})
}

func seconds(layers []manifest.Layer) chart.Chart {
	c := byLayer("seconds", "Time by layer", layers, chart.Axis{Label: "seconds, logarithmic", Log: true, Format: secondsTick},
		"seconds", "positions a second")
	return lineOf(c, "Time spent on solving each layer and writing its file.", layers, func(l *manifest.Layer) (float64, []string) {
		if l.Seconds <= 0 {
			return math.NaN(), []string{"", ""}
		}
		return l.Seconds, []string{secondsText(l.Seconds), comma(uint64(float64(l.Positions) / l.Seconds))}
	})
}

// Scores returns the histogram of a layer, named scores- and its number of seeds.
func Scores(l *manifest.Layer) chart.Chart {
	widest := widestScore(l)
	c := chart.Chart{
		Name: fmt.Sprintf("scores-%d", l.Seeds), Title: fmt.Sprintf("Scores with %d seeds", l.Seeds),
		X: chart.Axis{Label: "score of the player to move", Format: signed}, First: -widest,
		Y:     chart.Axis{Label: "share of positions", Format: percentTick},
		Kind:  chart.Bars,
		Table: chart.Table{Head: []string{"score", "positions", "share"}},
	}
	like, unlike := make([]float64, 2*widest+1), make([]float64, 2*widest+1)
	sum := 0.0
	for i := range like {
		score := i - widest
		n := count(l, score)
		part := share(n, l.Positions)
		c.Table.Rows = append(c.Table.Rows, []string{signed(float64(score)), comma(n), percent(part)})
		like[i], unlike[i] = part, math.NaN()
		if (score-l.Seeds)%2 != 0 {
			like[i], unlike[i] = unlike[i], like[i]
		} else {
			sum += part
		}
	}
	names := []string{"even", "odd"}
	c.Series = []chart.Series{
		{Name: names[l.Seeds%2] + " scores", Tone: chart.Teal, Values: like},
		{Name: names[1-l.Seeds%2] + " scores", Tone: chart.Mist, Values: unlike},
	}
	if l.Positions == 0 {
		c.Text = "A layer without positions."
		return c
	}
	c.Text = fmt.Sprintf("Share of the %s positions that have each score: %s, mean %.3f. The number of seeds is %s, and so are %.1f%% of the scores.",
		comma(l.Positions), inWords(l), l.Histogram.Mean(), names[l.Seeds%2], 100*sum)
	return c
}

// widestScore returns the greatest distance of a score from 0.
func widestScore(l *manifest.Layer) int {
	widest := -math.MinInt8
	for widest > 0 && count(l, widest) == 0 && count(l, -widest) == 0 {
		widest--
	}
	return widest
}

// count returns how often a score occurs, which may not fit a byte.
func count(l *manifest.Layer, score int) uint64 {
	if score < math.MinInt8 || score > math.MaxInt8 {
		return 0
	}
	return l.Histogram.Count(int8(score))
}

// share returns n / of, NaN for a part of nothing.
func share(n, of uint64) float64 { return float64(n) / float64(of) }

func comma(n uint64) string { return humanize.Comma(int64(n)) }

// percent returns a share as text, the empty one when there is none.
func percent(share float64) string {
	if math.IsNaN(share) {
		return ""
	}
	return fmt.Sprintf("%.3f%%", 100*share)
}

// inWords returns the outcome of a layer with positions.
func inWords(l *manifest.Layer) string {
	return fmt.Sprintf("%.1f%% won, %.1f%% drawn, %.1f%% lost",
		100*share(l.Win, l.Positions), 100*share(l.Draw, l.Positions), 100*share(l.Loss, l.Positions))
}

func percentTick(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'f', -1, 64) + "%"
}

func secondsTick(s float64) string {
	if s < 1 {
		return strconv.FormatFloat(s, 'f', -1, 64)
	}
	return comma(uint64(s))
}

// secondsText returns a time with as many digits as make sense.
func secondsText(s float64) string {
	if s < 100 {
		return strconv.FormatFloat(s, 'g', 3, 64)
	}
	return comma(uint64(math.Round(s)))
}

// signed returns a whole number with its sign, 0 without one.
func signed(x float64) string {
	if x == 0 {
		return "0"
	}
	return fmt.Sprintf("%+.0f", x)
}
