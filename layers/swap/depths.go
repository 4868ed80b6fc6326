package swap

import (
	"errors"
	"fmt"

	"grenier/kernels/perm"
)

// ErrDepths reports numbers of states that no search of the grid finds.
var ErrDepths = errors.New("impossible numbers of states")

// CheckDepths fails with ErrDepths unless depths may be the numbers of states at distance 0,
// 1, 2, ... from the goal, as far as these are known for a grid of up to perm.MaxItems cells:
//
//   - the goal is alone, the next ones are as many as the swaps, and those after two swaps
//     as many as the pairs of swaps; those without a common cell make one state in
//     both orders (a grid has no triangles: nothing else coincides);
//   - no depth is empty, and each state has a neighbour closer to the goal, which has one
//     closer still: a depth has at most as many states as swaps less one go out from the
//     depth before;
//   - each swap changes the parity: even depths have half of all states at most, and odd
//     ones the other half.
func (g *Grid) CheckDepths(depths []uint64) error {
	left, cells := g.halves(), g.Cells()
	if most := cells*(cells-1)/2 + 1; len(depths) > most {
		return fmt.Errorf("%w: %d depths, more than %d", ErrDepths, len(depths), most)
	}
	for d, n := range depths {
		if want, known := g.knownDepth(d); known && n != want {
			return fmt.Errorf("%w: %d at depth %d instead of %d", ErrDepths, n, d, want)
		}
		if n == 0 || n > left[d&1] {
			return fmt.Errorf("%w: %d at depth %d, where at most %d are left", ErrDepths, n, d, left[d&1])
		}
		if d >= 2 {
			if ways := uint64(len(g.swaps) - 1); (n-1)/ways >= depths[d-1] {
				return fmt.Errorf("%w: %d at depth %d after %d, with %d swaps", ErrDepths, n, d, depths[d-1], len(g.swaps))
			}
		}
		left[d&1] -= n
	}
	return nil
}

// CheckAllDepths is CheckDepths, and fails with ErrDepths unless the depths are of all
// states.
func (g *Grid) CheckAllDepths(depths []uint64) error {
	if err := g.CheckDepths(depths); err != nil {
		return err
	}
	sum, all := uint64(0), perm.Factorial(g.Cells())
	for _, n := range depths {
		sum += n
	}
	if sum != all {
		return fmt.Errorf("%w: %d in all instead of %d", ErrDepths, sum, all)
	}
	return nil
}

// halves returns the numbers of even and of odd states.
func (g *Grid) halves() [2]uint64 {
	if g.Cells() == 1 {
		return [2]uint64{1, 0}
	}
	half := perm.Factorial(g.Cells()) / 2
	return [2]uint64{half, half}
}

// knownDepth returns the number of states at a depth if it is known beforehand.
func (g *Grid) knownDepth(depth int) (states uint64, known bool) {
	n := uint64(len(g.swaps))
	switch depth {
	case 0:
		return 1, true
	case 1:
		return n, true
	case 2:
		apart := uint64(0) // pairs without a common cell
		for i, a := range g.swaps {
			for _, b := range g.swaps[:i] {
				if a.A != b.A && a.A != b.B && a.B != b.A && a.B != b.B {
					apart++
				}
			}
		}
		return n*(n-1) - apart, true
	}
	return 0, false
}
