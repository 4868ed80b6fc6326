package exchange

import (
	"fmt"

	"grenier/kernels/fault"
	"grenier/layers/awari"
)

// Format is the format of a file.
type Format string

// The formats.
const (
	Colex Format = "colex"
	Vu    Format = "vu"
	Npy   Format = "npy"
	CSV   Format = "csv"
	WDL   Format = "wdl"
)

// ErrFormat reports a format that does not exist, or that cannot be written or read for
// this game.
var ErrFormat = fault.New(fault.Usage, "format")

// ParseFormat returns the format of that name. It fails with ErrFormat.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Colex, Vu, Npy, CSV, WDL:
		return f, nil
	}
	return "", fmt.Errorf("%w %q: must be colex, vu, npy, csv or wdl", ErrFormat, name)
}

// check fails with ErrFormat if the format is not for layers of game.
func (f Format) check(game awari.Game) error {
	if f == Vu && (game.Rules() != awari.Awari || game.Pits() != awari.MaxPits) {
		return fmt.Errorf("%w vu: it is for %d pits and rules %v, not for %d pits and rules %v",
			ErrFormat, awari.MaxPits, awari.Awari, game.Pits(), game.Rules())
	}
	return nil
}
