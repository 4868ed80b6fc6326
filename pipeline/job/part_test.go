package job_test

import (
	"testing"

	"grenier/internal/testkit/should"
	"grenier/pipeline/job"
)

// TestParsePart: one way to write each part, and no others.
func TestParsePart(t *testing.T) {
	for text, want := range map[string]job.Part{
		"1/1": {Index: 1, Of: 1}, "3/16": {Index: 3, Of: 16}, "10000/10000": {Index: 10_000, Of: 10_000}, "all": {All: true}, "all/7": {Of: 7, All: true},
	} {
		got, ok := job.ParsePart(text)
		should.Hold(t, got == want && ok, "%s: %+v, %v", text, got, ok)
	}
	for _, text := range []string{"", "0/3", "4/3", "1/0", "1", "/", "1/", "/2", "01/2", "1/02", "+1/2", "-1/2", "1/2/3", "1/10001", "all/", "all/0", "all/x", "ALL", " 1/2", "1.5/2"} {
		got, ok := job.ParsePart(text)
		should.Not(t, ok, "%q: %+v", text, got)
	}
}

// TestShares: the parts follow each other, are all there is, and are as long as each other but for one.
func TestShares(t *testing.T) {
	for _, total := range []uint64{0, 1, 5, 16, 17, 1000, 1<<49 + 3} {
		for _, n := range []int{1, 2, 3, 16, 10_000} {
			at := uint64(0)
			for i := 1; i <= n; i++ {
				from, to := job.Part{Index: i, Of: n}.Share(total)
				if least := total / uint64(n); from != at || to-from < least || to-from > least+1 {
					t.Fatalf("part %d of %d of %d: %d to %d, not from %d", i, n, total, from, to, at)
				}
				at = to
			}
			should.Equal(t, at, total, "%d parts of %d end at", n, total)
		}
		from, to := (job.Part{}).Share(total)
		should.Hold(t, from == 0 && to == total, "the whole of %d: %d to %d", total, from, to)
		from, to = (job.Part{All: true}).Share(total)
		should.Hold(t, from == to, "all of %d: %d to %d", total, from, to)
	}
}

// TestTakes: one part, and no other, takes an item.
func TestTakes(t *testing.T) {
	for item := range 40 {
		takers := 0
		for i := 1; i <= 16; i++ {
			if (job.Part{Index: i, Of: 16}).Takes(item) {
				takers++
			}
		}
		should.Not(t, takers != 1 || !(job.Part{}).Takes(item) || (job.Part{All: true}).Takes(item) || (job.Part{Of: 16, All: true}).Takes(item),
			"item %d: %d takers", item, takers)
	}
}

func TestList(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "7": {7, 7}, "3, 5..9, 12": {12, 5, 3, 6, 7, 8, 9, 5}, "1..2": {2, 1}} {
		should.Equal(t, job.List(numbers), want, "%v", numbers)
	}
}
