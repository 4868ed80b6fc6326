package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Took is what a command took, as part of what it prints as JSON.
type Took struct {
	Seconds float64 `json:"seconds"`
	PeakRSS uint64  `json:"peak_rss_bytes"`
}

// TookSince returns what a command took that began at start.
func TookSince(start time.Time) Took { return Took{time.Since(start).Seconds(), PeakRSS()} }

// LineError is a line of stdin that could not be answered, as JSON.
type LineError struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// OneLine returns the text of err in one line.
func OneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Comma returns a number with commas between thousands.
func Comma(n uint64) string { return humanize.Comma(int64(n)) }

// Spaced returns numbers with blanks between them.
func Spaced[N any](numbers []N) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

// Size returns bytes as text.
func Size[N uint64 | float64](bytes N) string { return humanize.IBytes(uint64(bytes)) }

// Speed returns a rate as text: positions a second, 0 if that is not known.
func Speed(rate float64) string {
	switch {
	case rate == NoRate:
		return ""
	case rate <= 0:
		return "? pos/s"
	}
	return humanize.SIWithDigits(rate, 1, "pos/s")
}

// Brief returns a time in two units at most, "?" if it is below 0.
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

// Period returns seconds like Brief.
func Period(s float64) string { return Brief(time.Duration(s * float64(time.Second))) }
