package pijersi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/lines"
	"grenier/layers/pijersi"
)

// result is the outcome of a command line.
type result struct {
	status   int
	out, err string
}

// run executes a command line below "grenier pijersi".
func run(ctx context.Context, args string, in io.Reader, out, errs io.Writer) int {
	root := func(a *cli.App) *cobra.Command { return cli.Root(&cobra.Command{Use: "grenier"}, Command(a)) }
	return cli.Run(ctx, root, strings.Fields("pijersi "+args), in, out, errs)
}

// answer runs a command on a stream.
func answer(t *testing.T, in io.Reader, args string) result {
	var out, errs strings.Builder
	status := run(t.Context(), args, in, &out, &errs)
	return result{status, out.String(), errs.String()}
}

// TestPijersiStreams sends more lines than fit the buffers there and back, in
// pieces that do not end with lines, and the last line without an end.
func TestPijersiStreams(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	var text [3]strings.Builder
	for range 10_000 {
		s := must.Get(pijersi.UnrankSetup(r.Uint64N(pijersi.SetupCount), pijersi.Total))(t)
		for i, line := range []string{s.Code(), s.CubeText(), string(s.AppendCells(nil))} {
			text[i].WriteString(line + "\n")
		}
	}
	codes, cubes, cells := text[0].String(), text[1].String(), text[2].String()
	ranks := answer(t, strings.NewReader(codes), "rank").out
	for _, c := range []struct{ in, want, args string }{
		{codes, cubes, "decode"}, {cubes, codes, "encode"}, {codes, cells, "decode --cells"}, {cells[:len(cells)/5], codes[:len(codes)/5], "encode"},
		{ranks, codes, "unrank --total"}, {strings.ReplaceAll(codes, "\n", "\r\n"), cubes, "decode"},
	} {
		for name, in := range map[string]io.Reader{
			"whole": strings.NewReader(c.in), "halves": iotest.HalfReader(strings.NewReader(c.in)),
			"last": iotest.DataErrReader(strings.NewReader(strings.TrimSuffix(c.in, "\n"))),
		} {
			got := answer(t, in, c.args)
			should.Hold(t, got == (result{cli.ExitOK, c.want, ""}),
				"%s, %s: status %d, %d bytes, want %d; %s", c.args, name, got.status, len(got.out), len(c.want), got.err)
		}
	}
}

// TestPijersiWaits checks that answers do not wait for more questions, and that an interrupt ends the wait for them.
func TestPijersiWaits(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	in, questions := io.Pipe()
	answers, out := io.Pipe()
	status := make(chan int)
	go func() { status <- run(ctx, "decode", in, out, io.Discard) }()
	lines := bufio.NewReader(answers)
	for range 3 {
		must.OK(t, must.Err(io.WriteString(questions, "GRXLLS\n")))
		line, err := lines.ReadString('\n')
		must.Hold(t, line == "RPSRPSPSRWWSRP\n" && err == nil, "%q, %v", line, err)
	}
	interrupt()
	should.Equal(t, <-status, cli.ExitInterrupted, "status")
	should.OK(t, questions.Close()) // ends the reader in the background
}

// TestPijersiBadLines checks that lines of any kind are told, and counted, and nothing else is lost.
func TestPijersiBadLines(t *testing.T) {
	long := strings.Repeat("G", 3*lines.Max)
	exact := strings.Repeat("G", lines.Max)
	got := answer(t, strings.NewReader("GRXLLS\n"+long+"\nAYABEY\n\xff\x00\n"+exact+"\nGRXLLS\n"+long), "decode")
	const want = `grenier: line 2: more than 65536 bytes
grenier: line 4: not a code: "\xff\x00": expected 6 letters, got 2
grenier: line 5: more than 65536 bytes
grenier: line 7: more than 65536 bytes
grenier: 4 of 7 lines without an answer, the first is line 2
`
	should.Equal(t, got, result{cli.ExitFailure, "RPSRPSPSRWWSRP\nRPSSRWPPWPSSRR\nRPSRPSPSRWWSRP\n", want})
}

// TestPijersiBrokenStream checks that a stream that breaks is no end of a stream.
func TestPijersiBrokenStream(t *testing.T) {
	broken := errors.New("cable cut")
	for _, text := range []string{"GRXLLS\n", "GRXLLS\nAYA", "GRXLLS\n" + strings.Repeat("G", 2*lines.Max)} {
		should.Equal(t, answer(t, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), "decode"),
			result{cli.ExitFailure, "RPSRPSPSRWWSRP\n", "grenier: cable cut\n"}, "%.20q", text)
	}
}
