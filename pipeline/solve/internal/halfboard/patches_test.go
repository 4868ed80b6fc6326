package halfboard

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomSample draws what Options.Sample returns: a few pieces, in any places, or all of small
// layers.
func randomSample(rng *rand.Rand) func(positions uint64) ([]uint64, uint64) {
	s := rng.Uint64()
	return func(positions uint64) (starts []uint64, length uint64) {
		rng := rand.New(rand.NewPCG(s, positions))
		length = 1 + rng.Uint64N(min(positions, 5000))
		for range 1 + rng.IntN(20) {
			starts = append(starts, rng.Uint64N(positions-length+1))
		}
		slices.Sort(starts)
		return starts, length
	}
}

// eachPatches calls check for the parts of random layers, with the ranges of ranks that they have.
func eachPatches(t *testing.T, n int, check func(c config, g *layer, segments [][]panelOf, p patches, starts []uint64, length uint64)) {
	rng := newRand(t)
	eachGrid(t, n, func(c config, g *layer, segments [][]panelOf) {
		positions, size := g.halves.Board().Size(g.n), slabSize(g)
		if size*slabs < positions || size%pieceLength != 0 {
			t.Fatalf("%+v: slabs of %d of %d positions", c, size, positions)
		}
		starts, length := randomSample(rng)(positions)
		for part, p := range partsOf(g, starts, length) {
			if part == samplePart {
				check(c, g, segments, p, starts, length)
			} else {
				check(c, g, segments, p, []uint64{uint64(part) * size}, size)
			}
		}
		check(c, g, segments, patchesOf(g, starts[:1], length), starts[:1], length)
	})
}

// TestLongPatchesHaveTheirRanks: where a rank of a range is, there is a patch that has it, and all
// patches are in order. None has a row, or a panel of a single row, without a rank of its range.
func TestLongPatchesHaveTheirRanks(t *testing.T) {
	eachPatches(t, 40, func(c config, g *layer, _ [][]panelOf, p patches, starts []uint64, length uint64) {
		for _, m := range g.matrices {
			for class := range classes {
				own := p[placeOf(m, class)]
				for i, q := range own {
					if q.lines() <= 0 || q.rows.end > m.rows[class] || q.panels.end > m.panels ||
						i > 0 && (q.rows.begin < own[i-1].rows.begin || q.rows.end < own[i-1].rows.end) {
						t.Fatalf("%+v: patch %d of %+v", c, i, own)
					}
				}
				g.checkPatches(t, c, m, class, own, starts, length)
			}
		}
	})
}

func (g *layer) checkPatches(t *testing.T, c config, m *matrix, class rowClass, own []patch, starts []uint64, length uint64) {
	t.Helper()
	left := own // those in order of the ranges
	for _, begin := range starts {
		var rows span
		var panels [2]span // of the first row and of the last one
		for row, code := range g.rows[g.n-m.sum][class] {
			first := g.rowStart(g.n, code)
			from, to := max(first, begin), min(first+uint64(m.columns), begin+length)
			if from >= to {
				continue
			}
			of := span{int(from-first) / side, int(to-first-1)/side + 1}
			if rows.end == 0 {
				rows.begin, panels[0] = row, of
			}
			rows.end, panels[1] = row+1, of
		}
		if rows.end == 0 {
			continue
		}
		want := span{0, m.panels}
		if rows.end-rows.begin == 1 {
			want = panels[0]
		}
		if len(left) == 0 || left[0].rows != rows || left[0].panels != want {
			t.Fatalf("%+v: rows %v, panels %v of %d seeds have ranks from %d on, of %+v", c, rows, want, m.sum, begin, left)
		}
		left = left[1:]
	}
	if len(left) > 0 {
		t.Fatalf("%+v: %d patches without ranks", c, len(left))
	}
}

// TestLongPatchesOfStrips: strip by strip, each line of each patch comes once.
func TestLongPatchesOfStrips(t *testing.T) {
	eachPatches(t, 40, func(c config, g *layer, segments [][]panelOf, p patches, _ []uint64, _ uint64) {
		type line struct {
			patch      *patch
			panel, row int
		}
		met, all := map[line]bool{}, 0
		for _, panels := range segments {
			for class := range classes {
				for s := range stripsOf(panels, class) {
					lines := 0
					for q, rows := range p.of(s) {
						for row := rows.begin; row < rows.end; row++ {
							met[line{q, s.panel, row}] = true
							lines++
							if row < s.begin || row >= s.end || row < q.rows.begin || row >= q.rows.end || s.panel < q.panels.begin || s.panel >= q.panels.end {
								t.Fatalf("%+v: row %d of panel %d of patch %+v in strip %+v", c, row, s.panel, q, s)
							}
						}
					}
					if got := p.linesOf(s); got != lines {
						t.Fatalf("%+v: %d lines of a strip, %d counted", c, lines, got)
					}
					all += lines
				}
			}
		}
		if got := p.lines(); got != all || len(met) != all {
			t.Fatalf("%+v: %d lines in strips, %d of them different, %d in all", c, all, len(met), got)
		}
	})
}

// TestLongPatchesHoldLines: the lines of a patch do not overlap and fill it.
func TestLongPatchesHoldLines(t *testing.T) {
	rng := newRand(t)
	for range runs(100) {
		row, panel := rng.IntN(100), rng.IntN(20)
		p := patch{rows: span{row, row + 1 + rng.IntN(9)}, panels: span{panel, panel + 1 + rng.IntN(9)}}
		p.scores = make([]int8, p.lines()*side)
		for panel := p.panels.begin; panel < p.panels.end; panel++ {
			for row := p.rows.begin; row < p.rows.end; {
				rows := span{row, row + 1 + rng.IntN(p.rows.end-row)}
				row = rows.end
				scores := p.scores[p.line(panel, rows.begin)*side:][:rows.size()*side]
				for i := range scores {
					scores[i]++
				}
			}
		}
		if slices.Min(p.scores) != 1 || slices.Max(p.scores) != 1 {
			t.Fatalf("rows %v, panels %v: lines overlap", p.rows, p.panels)
		}
	}
}

// TestLongLoadedRowsAreFound: a part of a row is found in a patch that has all of it.
func TestLongLoadedRowsAreFound(t *testing.T) {
	rng := newRand(t)
	found, lost := 0, 0
	eachPatches(t, 120, func(c config, g *layer, _ [][]panelOf, p patches, _ []uint64, _ uint64) {
		l := loaded{patches: p}
		for range 50 {
			m := g.matrices[rng.IntN(len(g.matrices))]
			class := rowClass(rng.IntN(int(classes)))
			if m.rows[class] == 0 {
				continue
			}
			row, skip := rng.IntN(m.rows[class]), rng.IntN(m.columns)
			part := rowPart{matrix: m, at: place{uint32(row), class}, skip: skip, length: 1 + rng.IntN(m.columns-skip)}
			has := func(q patch) bool {
				return q.rows.begin <= row && row < q.rows.end && q.panels.begin*side <= skip && skip+part.length <= q.panels.end*side
			}
			got, want := l.find(part), slices.ContainsFunc(p[placeOf(m, class)], has)
			if want != (got != nil) || want && !has(*got) {
				t.Fatalf("%+v: row %d, %d columns from %d on: %+v of %+v", c, row, part.length, skip, got, p[placeOf(m, class)])
			}
			if want {
				found++
			} else {
				lost++
			}
		}
	})
	if found == 0 || lost == 0 {
		t.Errorf("%d found, %d not", found, lost)
	}
	if (&loaded{}).find(rowPart{length: 1}) != nil {
		t.Error("a row of nothing")
	}
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
	if len(names) != 7 {
		t.Errorf("%v", names)
	}
}
