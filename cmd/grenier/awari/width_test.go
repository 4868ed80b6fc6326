package awari

import (
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/should"
	"grenier/io/manifest"
	"grenier/io/tally"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/calibrate"
	"grenier/pipeline/solve/plan"
)

// TestLargestRowsFit: the lines of the largest layer fit a terminal, too, and keep the columns that count.
func TestLargestRowsFit(t *testing.T) {
	largest := manifest.Layer{
		Seeds: 48, Positions: 279_871_768_995, Win: 100_000_000_000, Draw: 79_871_768_995, Loss: 100_000_000_000,
		Bytes: 110_000_000_000, Hash: tally.Hash(1<<64 - 1),
	}
	report := solve.Report{Layer: largest, Elapsed: 999_999 * time.Second}
	var planned plan.Layer
	planned.Seeds, planned.Positions, planned.Bits, planned.Windows, planned.Passes = 48, largest.Positions, 2, 49, 12
	planned.Memory, planned.Read, planned.Written, planned.Disk = 1023<<30, 1023<<40, 1023<<40, 1023<<40
	planned.Seconds, planned.Times.Sweep = 999_999, 999_999
	for _, c := range []struct {
		width               int
		solve, stats, plans string // the heading
	}{
		{79, "seeds positions win draw loss mean seconds Mpos/s B/pos", "seeds positions win draw loss mean B/pos fnv1a64",
			"seeds positions bits windows memory read written disk seconds"},
		{49, "seeds positions seconds Mpos/s B/pos", "seeds positions win draw loss", "seeds positions memory disk seconds"},
	} {
		for _, table := range []struct{ got, want string }{
			{tableOf(c.width, reportColumns(), report), c.solve}, {tableOf(c.width, statsColumns(), largest), c.stats}, {tableOf(c.width, planColumns(), planned), c.plans},
		} {
			head, row, _ := strings.Cut(strings.TrimSuffix(table.got, "\n"), "\n")
			should.Hold(t, strings.Join(strings.Fields(head), " ") == table.want && len(head) <= c.width && len(row) == len(head),
				"width %d, want %s:\n%s", c.width, table.want, table.got)
		}
	}
}

// TestBenchFits: the table of a machine with many fast cores fits a narrow terminal.
func TestBenchFits(t *testing.T) {
	rates := calibrate.Rates{
		Kernel: "generic", One: map[int]float64{8: 999.99e6, 6: 999.99e6, 4: 999.99e6, 3: 999.99e6, 2: 999.99e6}, All: 99_999.99e6, Decoded: 9999e6,
	}
	for width, want := range map[int]string{
		79: "kernels  8 bits 6 bits 4 bits 3 bits 2 bits 128 cores decoding\ngeneric  999.99 999.99 999.99 999.99 999.99  99999.99     9999\n",
		49: "kernels  8 bits 6 bits 4 bits 3 bits 2 bits 128 cores\ngeneric  999.99 999.99 999.99 999.99 999.99  99999.99\n",
	} {
		got := tableOf(width, benchColumns(128), rates)
		should.Hold(t, got == want, "width %d:\n%swant\n%s", width, got, want)
	}
}

// tableOf returns a table of one row.
func tableOf[R any](width int, columns []cli.Column[R], row R) string {
	var text strings.Builder
	cli.NewTable(&text, width, columns).Add(row)
	return text.String()
}
