package main

import (
	"grenier/io/rundir"
	"grenier/pipeline/solve"
)

// JSON output of commands, as far as tests look at single values of it.
type (
	solveSummary struct {
		Seconds float64 `json:"seconds"`
		Layers  []struct {
			Bits    int                      `json:"bits"`
			Windows int                      `json:"windows"`
			Streams map[string]solve.Streams `json:"streams"`
		} `json:"layers"`
	}
	statusReport struct {
		State  rundir.State `json:"state"`
		Locked bool         `json:"locked"`
		PID    int          `json:"pid"`
		Alive  bool         `json:"alive"`
		Layers []any        `json:"layers"`
		Report *struct {
			PID int      `json:"pid"`
			ETA *float64 `json:"eta_seconds"`
		} `json:"report"`
	}
	exported struct {
		PeakRSS uint64 `json:"peak_rss_bytes"`
	}
	foundReport struct {
		Exact  bool `json:"exact"`
		Search struct {
			Depth  int    `json:"depth"`
			Reason string `json:"reason"`
		} `json:"search"`
	}
	serveReport struct {
		Address string `json:"address"`
		URL     string `json:"url"`
	}
)
