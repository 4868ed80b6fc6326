package main

import (
	"slices"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

// TestProveCircles has six boards with two seeds that are worth 0, because they are
// played round and round, and gives them the scores 2 and -2, each of which follows
// from the scores of its moves.
func TestProveCircles(t *testing.T) {
	game := testrun.Game(t, 4, awari.Awari)
	layers := slices.Clone(testrun.Solve(t, game, 3))
	layers[2] = []int8{-2, -2, 2, -2, -2, 2, 2, 2, -2, 2}
	dir := testrun.Write(t, game, layers, 64)
	mustRun(t, "awari", "verify", "--dir", dir, "--layer", "2", "--progress", "none")
	r := grenier(t.Context(), "", "awari", "verify", "--prove", "--dir", dir, "--layer", "2")
	want := `layer  2: 10 of 10 positions checked, 0 wrong
  not proved: 1 positive, 3 negative are grounded, 6 others are not; the first of them:
  board 0 1 0 1, rank 2: the score 2 is not grounded
  board 1 0 0 1, rank 3: the score -2 is not grounded
  board 1 0 1 0, rank 6: the score 2 is not grounded
  board 0 2 0 0, rank 7: the score 2 is not grounded
  board 1 1 0 0, rank 8: the score -2 is not grounded
  board 2 0 0 0, rank 9: the score 2 is not grounded
`
	should.Hold(t, r.status == cli.ExitDifferences && r.out == want, "status %d, %s", r.status, r.out)
	want = "grenier: layer 2: 6 scores are not grounded: they only back each other, in circles\n"
	should.Hold(t, r.err == want, "%q, want %q", r.err, want)
	r = grenier(t.Context(), "", "awari", "verify", "--prove", "--dir", dir, "--json")
	for _, part := range []string{
		`{"ok":false,"layers":[`, `"ungrounded":6,"first":[{"rank":2,"board":"0 1 0 1","stored":2},`, `"proof":null}],"seconds":`,
	} {
		should.Hold(t, r.status == cli.ExitDifferences && strings.Contains(r.out, part), "status %d, %q lacks %q", r.status, r.out, part)
	}
}
