package stream

import (
	"slices"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/pipeline/solve/internal/halfboard/board"
)

// eachPatches calls check for the parts of random layers, with the ranges of ranks that they have.
func eachPatches(t *testing.T, n int, check func(g *board.Layer, segments [][]board.PanelOf, p patches, starts []uint64, length uint64)) {
	rng := tries.Rand(t)
	eachGrid(t, n, func(g *board.Layer, segments [][]board.PanelOf) {
		positions, size := g.Halves.Board().Size(g.N), SlabSize(g)
		must.Hold(t, size*slabs >= positions && size%board.PieceLength == 0, "slabs of %d of %d positions", size, positions)
		starts, length := awaritest.Sample(rng)(positions)
		for part, p := range partsOf(g, starts, length) {
			if part == SamplePart {
				check(g, segments, p, starts, length)
			} else {
				check(g, segments, p, []uint64{uint64(part) * size}, size)
			}
		}
		check(g, segments, patchesOf(g, starts[:1], length), starts[:1], length)
	})
}

// TestLongPatchesHaveTheirRanks: where a rank of a range is, there is a patch that has it, and all
// patches are in order. None has a row, or a panel of a single row, without a rank of its range.
func TestLongPatchesHaveTheirRanks(t *testing.T) {
	eachPatches(t, 40, func(g *board.Layer, _ [][]board.PanelOf, p patches, starts []uint64, length uint64) {
		for _, m := range g.Matrices {
			for class := range board.Classes {
				own := p[placeOf(m, class)]
				for i, q := range own {
					if q.lines() <= 0 || q.rows.end > m.Rows[class] || q.panels.end > m.Panels ||
						i > 0 && (q.rows.begin < own[i-1].rows.begin || q.rows.end < own[i-1].rows.end) {
						t.Fatalf("patch %d of %+v", i, own)
					}
				}
				checkPatches(t, g, m, class, own, starts, length)
			}
		}
	})
}

func checkPatches(t *testing.T, g *board.Layer, m *board.Matrix, class board.RowClass, own []patch, starts []uint64, length uint64) {
	left := own // those in order of the ranges
	for _, begin := range starts {
		var rows span
		var panels [2]span // of the first row and of the last one
		for row, code := range g.Rows[g.N-m.Sum][class] {
			first := g.RowStart(g.N, code)
			from, to := max(first, begin), min(first+uint64(m.Columns), begin+length)
			if from >= to {
				continue
			}
			of := span{int(from-first) / board.Side, int(to-first-1)/board.Side + 1}
			if rows.end == 0 {
				rows.begin, panels[0] = row, of
			}
			rows.end, panels[1] = row+1, of
		}
		if rows.end == 0 {
			continue
		}
		want := span{0, m.Panels}
		if rows.end-rows.begin == 1 {
			want = panels[0]
		}
		must.Hold(t, len(left) != 0 && left[0].rows == rows && left[0].panels == want,
			"rows %v, panels %v of %d seeds have ranks from %d on, of %+v", rows, want, m.Sum, begin, left)
		left = left[1:]
	}
	must.Not(t, len(left) > 0, "%d patches without ranks", len(left))
}

// TestLongLoadedRowsAreFound: a part of a row is found in a patch that has all of it.
func TestLongLoadedRowsAreFound(t *testing.T) {
	rng := tries.Rand(t)
	found, lost := 0, 0
	eachPatches(t, 120, func(g *board.Layer, _ [][]board.PanelOf, p patches, _ []uint64, _ uint64) {
		l := loaded{patches: p}
		for range 50 {
			m := g.Matrices[rng.IntN(len(g.Matrices))]
			class := board.RowClass(rng.IntN(int(board.Classes)))
			if m.Rows[class] == 0 {
				continue
			}
			row, skip := rng.IntN(m.Rows[class]), rng.IntN(m.Columns)
			part := board.RowPart{Matrix: m, At: board.Place{Row: uint32(row), Class: class}, Skip: skip, Length: 1 + rng.IntN(m.Columns-skip)}
			has := func(q patch) bool {
				return q.rows.begin <= row && row < q.rows.end && q.panels.begin*board.Side <= skip && skip+part.Length <= q.panels.end*board.Side
			}
			got, want := l.find(part), slices.ContainsFunc(p[placeOf(m, class)], has)
			if want != (got != nil) || want && !has(*got) {
				t.Fatalf("row %d, %d columns from %d on: %+v of %+v", row, part.Length, skip, got, p[placeOf(m, class)])
			}
			if want {
				found++
			} else {
				lost++
			}
		}
	})
	should.Not(t, found == 0 || lost == 0, "%d found, %d not", found, lost)
	should.Hold(t, (&loaded{}).find(board.RowPart{Length: 1}) == nil, "a row of nothing")
}

// TestSamplesAreNamed: other samples have other names.
func TestSamplesAreNamed(t *testing.T) {
	names := map[string]bool{}
	for _, s := range []struct {
		starts []uint64
		length uint64
	}{{nil, 0}, {[]uint64{0}, 1}, {[]uint64{0}, 2}, {[]uint64{1}, 1}, {[]uint64{0, 0}, 1}, {[]uint64{0, 1 << 40}, 1}, {[]uint64{0, 2 << 40}, 1}} {
		names[whichSample(s.starts, s.length)] = true
	}
	should.Hold(t, len(names) == 7, "%v", names)
}
