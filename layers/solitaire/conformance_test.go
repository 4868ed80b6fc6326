package solitaire_test

import (
	"testing"

	"grenier/internal/testkit/conformance"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/solitairetest"
	"grenier/layers/solitaire"
)

func TestConformance(t *testing.T) {
	for _, b := range solitaire.Boards(t) {
		space := must.Get(solitairetest.NewSpace(b))(t)
		conformance.Run(t, space, conformance.Options{Samples: 25, Exhaustive: 500})
	}
}
