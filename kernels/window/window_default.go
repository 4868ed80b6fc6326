//go:build !amd64 || purego

package window

import "grenier/kernels/cpu"

// TurnFor returns the generic kernel for codes c: this build has no other.
func TurnFor(_ cpu.Family, c *Codes) TurnFunc { return newTurner(c).generic }

// DigitsFor returns the generic kernel for codes c: this build has no other.
func DigitsFor(_ cpu.Family, c *Codes, signed bool) DigitsFunc { return c.digitsGeneric(signed) }

// SumFor returns the generic kernel for digits of codes c: this build has no other.
func SumFor(_ cpu.Family, c *Codes, signed bool) SumFunc { return c.sumGeneric(signed) }
