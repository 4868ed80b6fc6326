package chart

import (
	"math"
	"strconv"
)

// scale maps values to places on a vertical axis, from 0 at the lower end to 1
// at the upper one.
type scale struct {
	low, high float64 // logarithms if log
	log       bool
	ticks     []float64 // values
}

// newScale returns a scale for all values, from low to high, with at most
// about the given number of steps between ticks.
func newScale(a Axis, low, high float64, steps int) scale {
	if a.Log {
		return logScale(low, high, steps)
	}
	return linearScale(math.Min(low, 0), math.Max(high, a.Max), steps)
}

// linearScale returns a scale that begins and ends with a tick. Ticks are 1, 2 or
// 5 times a power of ten apart.
func linearScale(low, high float64, steps int) scale {
	if high <= low {
		high = low + 1
	}
	step := niceStep((high - low) / float64(steps))
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	s := scale{low: first * step, high: last * step}
	for k := first; k <= last; k++ {
		s.ticks = append(s.ticks, k*step)
	}
	return s
}

// niceStep returns the least of 1, 2 and 5 times the powers of ten that is at
// least x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logScale returns a scale that begins and ends with a power of ten.
func logScale(low, high float64, steps int) scale {
	first, last := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	if last <= first {
		last = first + 1
	}
	s := scale{low: first, high: last, log: true}
	every := math.Ceil((last - first) / float64(2*steps))
	for k := first; k <= last; k += every {
		s.ticks = append(s.ticks, math.Pow(10, k))
	}
	return s
}

// at returns the place of a value.
func (s *scale) at(value float64) float64 {
	if s.log {
		value = math.Log10(value)
	}
	return (value - s.low) / (s.high - s.low)
}

// text returns the text of a tick. Products such as 3 x 0.1 are rounded first.
func (a *Axis) text(value float64) string {
	value, _ = strconv.ParseFloat(strconv.FormatFloat(value, 'g', 12, 64), 64)
	if a.Format != nil {
		return a.Format(value)
	}
	if value != 0 && math.Abs(value) < 1e-4 {
		return strconv.FormatFloat(value, 'g', -1, 64)
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// tickEvery returns how many whole numbers apart ticks are below columns of
// the given width in pixels.
func tickEvery(column float64) int {
	const room = 34 // pixels for a label
	return int(math.Max(1, niceStep(room/column)))
}
