package pijersi_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"grenier/layers/pijersi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

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

// TestSVG compares the picture with a golden file, and checks that it is XML with
// all cubes and cells.
func TestSVG(t *testing.T) {
	const golden = "testdata/standard.svg"
	got := standard.SVG()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the picture differs from %s; -update rewrites it", golden)
	}
	elements := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
	if elements["path"] != 45 || elements["g"] != 2*pijersi.Cubes || elements["rect"] != 2*pijersi.Cubes+1 {
		t.Errorf("elements %v", elements)
	}
}
