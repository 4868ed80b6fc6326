package pijersi_test

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/pijersi"
)

func TestDraw(t *testing.T) {
	want := `g     r-  p-  r-  p-  r-  s-
f   s-  s-  p-  sw  p-  w-  s-
e     .   .   .   .   .   .
d   .   .   .   .   .   .   .
c     .   .   .   .   .   .
b   P-  S-  R-  WW  S-  R-  P-
a     R-  P-  S-  R-  P-  S-
      1   2   3   4   5   6
    1   2   3   4   5   6   7
`
	got := must.Get(pijersi.ParseCubes("RPSRPSPSRWWSRP-srprprswpswpss"))(t).Draw()
	should.Hold(t, got == want, "drawn\n%swant\n%s", got, want)
}
