package swap

import (
	"errors"
	"fmt"

	"grenier/kernels/perm"
)

// ErrDepths reports numbers of states that no search of the grid finds.
var ErrDepths = errors.New("impossible numbers of states")

// CheckDepths fails with ErrDepths unless depths may be the numbers of states at distance 0,
// 1, 2, ... from the goal, of all states if the search is done: the goal is alone, the next ones are as many as
// the swaps, no depth is empty, and each swap changes the parity, so even depths have half of all states at
// most, and odd ones the other half.
func (g *Grid) CheckDepths(depths []uint64, done bool) error {
	all := perm.Factorial(g.Cells())
	left := [2]uint64{(all + 1) / 2, all / 2} // of each parity
	for d, n := range depths {
		known := d == 0 && n != 1 || d == 1 && n != uint64(len(g.swaps))
		if known || n == 0 || n > left[d&1] {
			return fmt.Errorf("%w: %d at depth %d, of %d with this parity that are left", ErrDepths, n, d, left[d&1])
		}
		left[d&1] -= n
	}
	if done && left != [2]uint64{} {
		return fmt.Errorf("%w: %d even and %d odd ones were not found", ErrDepths, left[0], left[1])
	}
	return nil
}
