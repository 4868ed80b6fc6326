package census_test

import (
	"errors"
	"slices"
	"testing"

	"grenier/io/memory"
	"grenier/layers/awari"
	"grenier/pipeline/spaces/census"
	"grenier/pipeline/spaces/reach"
)

// TestAccessibleEqualsReach compares with the plain search, from even and uneven starts, by
// any number of workers.
func TestAccessibleEqualsReach(t *testing.T) {
	for i, fields := range [][]string{
		{"1", "1", "1", "1"}, {"5", "5", "5", "5"}, {"0", "0", "0", "9"}, {"0", "0", "0", "0"}, {"9", "0", "0", "0"},
		{"2", "2", "2", "2", "2", "2"}, {"0", "0", "7", "1", "0", "4"}, {"1", "1", "1", "1", "1", "1", "1", "1"},
		{"1", "0", "0", "0", "0", "2", "0", "0", "0", "0", "3", "0"}, {"0", "1", "0", "1", "0", "1", "0", "1", "0", "1"},
	} {
		for _, rules := range []awari.Rules{awari.Awari, awari.Strict} {
			game := mustGame(t, len(fields), rules)
			start, err := game.Parse(fields)
			if err != nil {
				t.Fatal(err)
			}
			space, err := awari.NewSpace(game, start.Seeds())
			if err != nil {
				t.Fatal(err)
			}
			want, err := reach.From(t.Context(), space, start)
			if err != nil {
				t.Fatal(err)
			}
			got, err := census.CountAccessible(t.Context(), game, start, i%3, 0)
			if err != nil || !slices.Equal(got, want.Counts()) {
				t.Errorf("%s from %v: %v, %v, want %v", game.Name(), fields, got, err, want.Counts())
			}
		}
	}
}

func TestAccessibleNeedsMemory(t *testing.T) {
	game := mustGame(t, 12, awari.Awari)
	start, err := game.Start(4)
	if err != nil {
		t.Fatal(err)
	}
	_, err = census.CountAccessible(t.Context(), game, start, 2, 8<<30)
	if _, ok := errors.AsType[*memory.Error](err); !ok {
		t.Errorf("48 seeds in 8 GiB: %v, want a memory.Error", err)
	}
}
