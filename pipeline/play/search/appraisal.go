package search

import (
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// weightCounts is the number of seeds from which on more of them in a pit make no difference to a guess.
const weightCounts = 24

// weights say how much a pit with 0, 1, 2 ... seeds adds to the score of a position without captures,
// in sixteenths of a seed. They are the least squares fit, with neighbouring numbers of seeds held together, to
// 76,000 such positions of 14, 16, 18, 21, 24, 27, 30 and 36 seeds, whose scores differ from 0 by 3.9 to 5.8 (root mean square): from the sum
// of the weights by 2.5 to 3.3.
var weights = [awari.MaxPits][weightCounts]int16{
	{-51, -29, -16, 5, 7, 9, 3, 3, -4, -8, -15, -24, -21, -16, 2, 5, 6, 18, 23, 18, 9, -2, -13, -17},
	{-45, -19, -7, 4, 6, 2, -2, -6, -14, -26, -31, -27, -13, -5, 11, 11, 3, 10, 2, 4, 6, 7, 9, 10},
	{-31, -6, 7, 14, 9, 4, 0, -7, -12, -29, -26, -7, 4, 5, 32, 21, 17, 5, -2, 5, -8, -21, -37, -49},
	{-19, 3, 13, 11, 6, 1, -3, -17, -22, -21, -9, 8, 22, 43, 26, 28, 23, 18, -7, -25, -37, -46, -52, -52},
	{-28, -10, -11, -11, -15, -20, -25, -35, -26, -17, -1, 18, 29, 25, 30, 16, 14, 5, -10, -15, -10, -8, -5, -1},
	{-35, -26, -26, -24, -24, -26, -28, -24, -8, 16, 35, 58, 44, 51, 68, 17, -9, -28, -43, -29, -29, -14, -14, -14},
	{54, 27, 11, -5, -5, -8, -9, -8, -1, 4, 12, 21, 24, 13, 1, -9, -12, -31, -52, -45, -44, -26, -15, -7},
	{52, 18, 5, -3, -5, -5, -3, 1, 5, 16, 28, 31, 17, 9, -4, -27, -52, -50, -62, -57, -22, -9, -3, 6},
	{29, -1, -13, -19, -18, -18, -12, -7, 4, 14, 22, 9, 0, -18, -41, -59, -86, -57, -30, -8, 17, 41, 59, 81},
	{28, 3, -3, -6, -4, 0, 7, 15, 25, 34, 23, 6, -4, -30, -43, -57, -80, -58, -42, -28, 3, 18, 34, 48},
	{30, 11, 8, 9, 12, 16, 23, 32, 37, 18, 9, -13, -30, -52, -59, -55, -42, -19, 4, 10, 15, -4, -25, -45},
	{29, 15, 14, 13, 15, 19, 21, 21, 7, -18, -28, -48, -64, -72, -87, -45, -10, 16, 47, 30, 9, 12, 0, -7},
}

// appraisal is the weights of a game.
type appraisal [awari.MaxPits][64]int16

// newAppraisal spreads the weights over all numbers of seeds. They are 0 for games of fewer pits.
func newAppraisal(game awari.Game) (a appraisal) {
	if game.Pits() != len(weights) {
		return a
	}
	for pit := range a {
		for seeds := range a[pit] {
			a[pit][seeds] = weights[pit][min(seeds, weightCounts-1)]
		}
	}
	return a
}

// quiet guesses the score of a position with n seeds whose captures do not matter.
func (m *mover) quiet(p packed.Board, n int) int {
	a := &m.appraisal
	sum := int(a[0][p.Own&63]) + int(a[1][p.Own>>8&63]) + int(a[2][p.Own>>16&63]) +
		int(a[3][p.Own>>24&63]) + int(a[4][p.Own>>32&63]) + int(a[5][p.Own>>40&63]) +
		int(a[6][p.Other&63]) + int(a[7][p.Other>>8&63]) + int(a[8][p.Other>>16&63]) +
		int(a[9][p.Other>>24&63]) + int(a[10][p.Other>>32&63]) + int(a[11][p.Other>>40&63])
	return max(-n, min(n, (sum+8)>>4))
}
