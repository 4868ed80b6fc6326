package pijersi_test

import "testing"

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
	if got := mustCubes(t, "RPSRPSPSRWWSRP-srprprswpswpss").Draw(); got != want {
		t.Errorf("drawn\n%swant\n%s", got, want)
	}
}
