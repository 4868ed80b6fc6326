package find

import (
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"value>=4":                          "value>=4",
		"value>3, value<=9,value>4":         "value=5..9",
		"winning=1\tdrawing=0":              "winning=1 drawing=0",
		"p3=0..2 p11<1 mover<5 value=-7..5": "value=-7..5 mover<=4 p3=0..2 p11<=0",
		"only-win":                          "moves>=2 winning=1 drawing=0",
		"sacrifice value>=6":                "value>=6 winning=1 taken=0 give>=3 least=0",
		"best=1 best=2":                     "best=2..1",
	} {
		c, err := Parse(text)
		should.Hold(t, err == nil && c.String() == want, "%q: %q, %v; want %q", text, c.String(), err, want)
	}
	for text, want := range map[string]string{
		"win=1":                       `no fact "win": must be value, mover`,
		"value":                       "or one of only-win, sacrifice",
		"value=":                      "expected a name",
		"value=x":                     "expected a name",
		"value==3":                    "expected a name",
		"value>1..3":                  "expected a name",
		"value=1..":                   "expected a name",
		"=3":                          `no fact ""`,
		"value>=99999999999999999999": "expected a name",
		"p12=1":                       `no fact "p12"`,
	} {
		if _, err := Parse(text); !errors.Is(err, ErrCondition) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %s", text, err, want)
		}
	}
}

func TestPitsOfTheGame(t *testing.T) {
	c, err := Parse("p3=1")
	must.OK(t, err)
	should.OK(t, c.Check(testrun.Game(t, 4, awari.Awari)))
	c, err = Parse("p4=1")
	must.Hold(t, err == nil, "%v", err)
	should.Be(t, c.Check(testrun.Game(t, 4, awari.Awari)), ErrCondition)
}

// FuzzParse: whatever can be read means the same when it is written and read again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "only-win", "sacrifice", "value=-3..9, p0>2 margin<=5", "best=1 best=2 line>30", "give<0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			must.Be(t, err, ErrCondition)
			return
		}
		again, err := Parse(c.String())
		must.Hold(t, err == nil, "%q becomes %q: %v", text, c.String(), err)
		must.Hold(t, again == c, "%q becomes %q, which means something else", text, c.String())
	})
}
