package io_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/lines"
	"grenier/kernels/fault"
)

func TestNext(t *testing.T) {
	long, most := "long "+strings.Repeat("x", 2<<20), strings.Repeat("y", lines.Max-1)
	const end = "<the end>"
	for text, all := range map[string][]string{ // "!" stands for a line that is too long
		"":                            {end},
		"a\r\n\nb":                    {"a", "", "b", end},
		"a\r\r\nb\n":                  {"a\r", "b", end},
		most + "\n" + most:            {most, most, end},
		most + "\r\na":                {"!yyyy", "a", end},
		"a\n" + long + "\nb\n" + long: {"a", "!long", "b", "!long", end},
	} {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			r := lines.NewReader(in)
			for i, want := range all {
				line, err := r.Next()
				got := string(line)
				switch {
				case errors.Is(err, lines.ErrLong) && errors.Is(err, fault.Usage):
					got = "!" + got[:4]
				case err == io.EOF:
					got = end
				case err != nil:
					t.Fatal(err)
				}
				should.Hold(t, got == want, "%.20q, line %d: %.20q, want %.20q", text, i, got, want)
			}
		}
	}
}

// TestBroken passes on errors from below, in the middle of a line too.
func TestBroken(t *testing.T) {
	broken := errors.New("cable cut")
	for _, text := range []string{"", "a", strings.Repeat("a", lines.Max), strings.Repeat("a", 2*lines.Max+1)} {
		r := lines.NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		should.Be(t, must.Err(r.Next()), broken, "after %d bytes", len(text))
	}
}
