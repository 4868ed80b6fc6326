package pijersi_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/pijersi"
)

// vector is a set-up in testdata/truth.json, which an independent program wrote.
type vector struct {
	Name        string `json:"name"`
	White       string `json:"white"`
	Black       string `json:"black"`
	Code        string `json:"code"`
	BlackCode   string `json:"black_code"`
	Number      uint32 `json:"number"`
	NumberBlack uint32 `json:"number_black"`
	Legal       bool   `json:"balanced_legal"`
}

type reference struct {
	Examples map[string]struct {
		Code, Cubes string
		Number      uint32
	}
	Vectors []vector
	Invalid []string `json:"invalid_codes"`
}

func readReference(t *testing.T) (r reference) {
	t.Helper()
	data, err := os.ReadFile("testdata/truth.json")
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	must.OK(t, err)
	must.Hold(t, len(r.Examples) == 4 && len(r.Vectors) == 16 && len(r.Invalid) == 6,
		"%d examples, %d vectors, %d invalid codes", len(r.Examples), len(r.Vectors), len(r.Invalid))
	return r
}

// TestExamples checks the examples of document 003.
func TestExamples(t *testing.T) {
	for name, e := range readReference(t).Examples {
		s, err := pijersi.ParseCode(e.Code)
		if err != nil || s.CubeText() != e.Cubes || uint32(s.White) != e.Number || s.Form != pijersi.Mirror || !legal(s) {
			t.Errorf("%s: %s, %d, %s, %v", name, s.CubeText(), s.White, s.Form, err)
		}
		if again, err := pijersi.ParseCubes(e.Cubes); err != nil || again != s || again.Code() != e.Code {
			t.Errorf("%s: %s, %v", name, again.Code(), err)
		}
	}
	both, err := pijersi.ParseCode("GRXLLS-grxlls")
	should.Hold(t, err == nil && both.Code() == "GRXLLS-grxlls" && both.White == standard.White && both.Black == standard.White,
		"standard: %+v, %v", both, err)
}

func TestVectors(t *testing.T) {
	for _, v := range readReference(t).Vectors {
		t.Run(v.Name, func(t *testing.T) {
			if v.Black == "" { // vectors of a mirror set-up have their black side in other fields
				v.Black, v.NumberBlack = strings.ToLower(v.White), v.Number
				checkBlack(t, v)
			}
			both, err := pijersi.ParseCubes(v.White + "-" + v.Black)
			if err != nil || uint32(both.White) != v.Number || uint32(both.Black) != v.NumberBlack || legal(both) != v.Legal {
				t.Fatalf("%+v, legal %t, %v", both, legal(both), err)
			}
			s := both
			if s.White == s.Black { // their code is of one line-up
				s.Form = pijersi.Mirror
			}
			should.Equal(t, s.Code(), v.Code, "code")
			should.Equal(t, must.Get(pijersi.ParseCode(v.Code))(t), s, "ParseCode(%s)", v.Code)
		})
	}
}

// checkBlack checks a line-up that is written in black's letters.
func checkBlack(t *testing.T, v vector) {
	s, err := pijersi.ParseCubes(v.Black)
	should.Hold(t, err == nil && s.Form == pijersi.BlackMirror && s.Code() == v.BlackCode && s.CubeText() == v.Black,
		"%s: %+v, %s, %v", v.Black, s, s.Code(), err)
	should.Equal(t, must.Get(pijersi.ParseCode(v.BlackCode))(t), s, "ParseCode(%s)", v.BlackCode)
}

func TestInvalidCodes(t *testing.T) {
	for _, code := range readReference(t).Invalid {
		s, err := pijersi.ParseCode(code)
		should.Hold(t, errors.Is(err, pijersi.ErrCode) && s == (pijersi.Setup{}), "%q is read as %+v, %v", code, s, err)
	}
}
