package search

import "grenier/layers/awari"

// Report is the JSON of a result, for commands and servers.
type Report struct {
	Rules string `json:"rules"`
	Pits  []int  `json:"pits"`
	Seeds int    `json:"seeds"`
	Exact bool   `json:"exact"`
	Value
	// Best is the pit to play, nil when there is no legal move.
	Best  *int         `json:"best"`
	Moves []MoveReport `json:"moves"`
}

// MoveReport is a pit of the mover; the fields after Legal are nil if it cannot be played.
type MoveReport struct {
	Pit      int  `json:"pit"`
	Legal    bool `json:"legal"`
	Captured *int `json:"captured"`
	Lower    *int `json:"lower"` // of the value of the board, if this is played
	Upper    *int `json:"upper"`
	Estimate *int `json:"estimate"`
}

// NewReport returns the report on a result.
func NewReport(game awari.Game, r *Result) Report {
	report := Report{Rules: game.Rules().String(), Pits: game.Numbers(r.Board), Seeds: r.Seeds, Exact: r.Exact(), Value: r.Value}
	if r.Best >= 0 {
		report.Best = &r.Best
	}
	for i := range game.Half() {
		m := &r.Moves[i]
		move := MoveReport{Pit: i, Legal: m.Legal}
		if m.Legal {
			move.Captured, move.Lower, move.Upper, move.Estimate = &m.Captured, &m.Lower, &m.Upper, &m.Estimate
		}
		report.Moves = append(report.Moves, move)
	}
	return report
}
