package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"grenier/pipeline/job"
)

// Took is the time and memory of a command, as part of its JSON.
type Took struct {
	Seconds float64 `json:"seconds"`
	PeakRSS uint64  `json:"peak_rss_bytes"`
}

// TookSince returns time and memory of a command that began at start.
func TookSince(start time.Time) Took { return Took{time.Since(start).Seconds(), PeakRSS()} }

// LineError is a bad line of stdin as JSON.
type LineError struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// OneLine returns the text of err as one line.
func OneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Comma returns a number with commas between thousands.
func Comma(n uint64) string { return humanize.Comma(int64(n)) }

// Count returns a number with the name of the things counted, "1 layer" or "2 layers".
func Count[N int | int64 | uint64](n N, name string) string {
	if n != 1 {
		name += "s"
	}
	return Comma(uint64(n)) + " " + name
}

// Percent returns a share of a total.
func Percent[N int | uint64](n, total N) string {
	if total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(total))
}

// Spaced returns numbers with blanks between them.
func Spaced[N any](numbers []N) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

// Size returns bytes as text.
func Size[N uint64 | float64](bytes N) string { return humanize.IBytes(uint64(bytes)) }

// Speed returns a rate in positions a second as text, nothing if it is not known.
func Speed(rate float64) string {
	if rate <= 0 {
		return ""
	}
	return humanize.SIWithDigits(rate, 1, "pos/s")
}

// Brief returns a time in at most two units, "?" if it is negative.
func Brief(d time.Duration) string {
	switch {
	case d < 0:
		return "?"
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	hours := int(d.Round(time.Hour).Hours())
	return fmt.Sprintf("%dd%dh", hours/24, hours%24)
}

// unsure is the spread from which on the end of a run is a range.
const unsure = 0.25

// RunETA says how long a run still takes from now on, and if that is long, when it ends.
func RunETA(p *job.Pace, now time.Time) string {
	if p.Run < 0 {
		return Brief(p.Run)
	}
	text := Brief(p.Run)
	if p.Spread > unsure {
		text = Brief(time.Duration(float64(p.Run)/(1+p.Spread))) + " to " + Brief(time.Duration(float64(p.Run)*(1+p.Spread)))
	}
	switch {
	case p.Run >= 24*time.Hour:
		text += ", about " + now.Add(p.Run).Local().Format("2006-01-02 15:04")
	case p.Run >= 5*time.Minute:
		text += ", about " + now.Add(p.Run).Local().Format("15:04")
	}
	return text
}

// Period returns seconds like Brief.
func Period(s float64) string { return Brief(time.Duration(s * float64(time.Second))) }
