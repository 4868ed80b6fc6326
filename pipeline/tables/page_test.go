package tables_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pierrec/lz4/v4"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

// What follows reads layer files by docs/format/layer-file.md alone. It shares nothing with io/layerfile.

// paper is a layer file, read whole.
type paper struct {
	data                               []byte
	pits, seeds, below, size           int
	positions, blocks                  uint64
	modelLength, indexOffset, fnv      uint64
	win, draw, loss                    uint64
	lowest, symbols                    int
	lists                              [][]byte // by context, completed
	scores                             []int8
	modelCRC, headerCRC, indexCRC, sum uint32
}

var errPaper = errors.New("not a layer file")

// want fails unless all are so.
func want(what string, all ...bool) error {
	if slices.Contains(all, false) {
		return fmt.Errorf("%w: %s", errPaper, what)
	}
	return nil
}

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

var le = binary.LittleEndian

// readPaper checks and decodes all of a file.
func readPaper(data []byte) (p *paper, err error) {
	p = &paper{data: data}
	if err := want("length", len(data) >= 84+76); err != nil {
		return nil, err
	}
	for _, part := range []func() error{p.readHeader, p.readModel, p.readFooter, p.readBlocks, p.addUp} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *paper) readHeader() error {
	h := p.data[:84]
	version := le.Uint32(h[8:])
	p.pits, p.seeds, p.below = int(le.Uint16(h[12:])), int(le.Uint16(h[14:])), int(le.Uint16(h[50:]))
	p.size, p.positions, p.blocks = int(le.Uint32(h[52:])), le.Uint64(h[56:]), le.Uint64(h[64:])
	p.modelLength, p.modelCRC, p.headerCRC = uint64(le.Uint32(h[72:])), le.Uint32(h[76:]), le.Uint32(h[80:])
	if err := want("magic, version, checksum", string(h[:8]) == "\x89GL\r\n\x1a\n\x00", version == 2 || version == 3, castagnoli(h[:80]) == p.headerCRC); err != nil {
		return err
	}
	return want("header", string(h[16:22]) == "awari\x00", h[48] == 1, h[49] == 2, (p.below > 0) == (version == 3), p.size >= 1 && p.size <= 65536,
		p.blocks == (p.positions+uint64(p.size)-1)/uint64(p.size), uint64(len(p.data)) >= 84+10*uint64(p.below)+p.modelLength+76)
}

func (p *paper) readModel() error {
	start := 84 + 10*p.below
	both := p.data[84 : uint64(start)+p.modelLength]
	if err := want("checksum of the model", castagnoli(both) == p.modelCRC); err != nil {
		return err
	}
	for i := range p.below {
		at := le.Uint16(both[10*i:])
		if err := want("layers below", int(at) < p.seeds, i == 0 || at > le.Uint16(both[10*i-10:])); err != nil {
			return err
		}
	}
	m := both[10*p.below:]
	if len(m) == 0 {
		return nil
	}
	p.lowest, p.symbols = int(int8(m[0])), int(m[1])
	usual, rest := m[2:2+p.symbols], m[2+p.symbols:]
	for range p.symbols * p.symbols {
		list := slices.Clone(rest[1 : 1+rest[0]])
		rest = rest[1+rest[0]:]
		for _, s := range usual {
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		p.lists = append(p.lists, list)
		if err := want("a list", len(list) == p.symbols); err != nil {
			return err
		}
	}
	return want("length of the model", len(rest) == 0)
}

func (p *paper) readFooter() error {
	f := p.data[len(p.data)-76:]
	p.indexOffset, p.indexCRC, p.fnv, p.sum = le.Uint64(f), le.Uint32(f[16:]), le.Uint64(f[24:]), le.Uint32(f[64:])
	p.win, p.draw, p.loss = le.Uint64(f[32:]), le.Uint64(f[40:]), le.Uint64(f[48:])
	if err := want("footer", string(f[68:]) == "\x00LGend\r\n", castagnoli(f[:64]) == p.sum, le.Uint64(f[56:]) == uint64(len(p.data)),
		le.Uint32(f[20:]) == p.headerCRC, p.win+p.draw+p.loss == p.positions, le.Uint64(f[8:]) == 24*p.blocks,
		p.indexOffset+24*p.blocks+76 == uint64(len(p.data))); err != nil {
		return err
	}
	return want("checksum of the index", castagnoli(p.data[p.indexOffset:][:24*p.blocks]) == p.indexCRC)
}

func (p *paper) readBlocks() error {
	next := 84 + 10*uint64(p.below) + p.modelLength
	for i := range p.blocks {
		e := p.data[p.indexOffset+24*i:]
		offset, length, flags := le.Uint64(e), uint64(le.Uint32(e[8:])), le.Uint32(e[12:])
		n := min(uint64(p.size), p.positions-i*uint64(p.size))
		if err := want("entry", offset == next, flags <= 1, flags == 0 || length == n, flags == 1 || length >= 1 && length < n, offset+length <= p.indexOffset); err != nil {
			return err
		}
		next += length
		stored := p.data[offset:next]
		scores := slices.Clone(stored)
		if err := want("stored bytes", castagnoli(stored) == le.Uint32(e[16:])); err != nil {
			return err
		}
		if flags == 0 {
			code := make([]byte, n)
			size, err := lz4.UncompressBlock(stored, code)
			if err != nil {
				return err
			}
			if scores, err = p.decode(code[:size], int(n)); err != nil {
				return err
			}
		}
		if err := want("scores", castagnoli(scores) == le.Uint32(e[20:])); err != nil {
			return err
		}
		for _, s := range scores {
			p.scores = append(p.scores, int8(s))
		}
	}
	return want("end of the blocks", next == p.indexOffset)
}

// decode returns n scores from their code.
func (p *paper) decode(code []byte, n int) ([]byte, error) {
	ranks, err := ranksOf(code, n)
	if err != nil {
		return nil, err
	}
	scores, symbols := make([]byte, n), make([]int, n)
	for i, r := range ranks {
		begin := min(i/max(1, n/6), 5) * (n / 6) // of the lane
		if n < 6 {
			begin = 0
		}
		before := func(k int) int {
			if i-k < begin {
				return 0
			}
			return symbols[i-k]
		}
		if err := want("a rank", p.symbols > r); err != nil {
			return nil, err
		}
		symbols[i] = int(p.lists[p.symbols*before(3)+before(1)][r])
		scores[i] = byte(p.lowest + symbols[i])
	}
	return scores, nil
}

// ranksOf takes the vectors of a code apart.
func ranksOf(code []byte, n int) ([]int, error) {
	vector := func(n int) (v []byte, err error) {
		size := (n + 7) / 8
		if err := want("a vector", len(code) >= size, n%8 == 0 || len(code) >= size && code[size-1]>>(n%8) == 0); err != nil {
			return nil, err
		}
		v, code = code[:size], code[size:]
		return v, nil
	}
	bit := func(v []byte, i int) int { return int(v[i/8] >> (i % 8) & 1) }
	low, err := vector(n)
	if err != nil {
		return nil, err
	}
	ranks, still := make([]int, n), make([]int, n) // those that the level is about
	for i := range ranks {
		ranks[i], still[i] = bit(low, i), i
	}
	for len(still) > 0 {
		level, err := vector(len(still))
		if err != nil {
			return nil, err
		}
		var more []int
		for k, i := range still {
			if bit(level, k) == 1 {
				ranks[i] += 2
				more = append(more, i)
			}
		}
		still = more
	}
	return ranks, want("end of the code", len(code) == 0)
}

// addUp compares hash and counts.
func (p *paper) addUp() error {
	hash, counts := uint64(1469598103934665603), [3]uint64{}
	for _, s := range p.scores {
		hash = (hash ^ uint64(uint8(s))) * 0x100000001B3
		switch {
		case s > 0:
			counts[0]++
		case s == 0:
			counts[1]++
		default:
			counts[2]++
		}
	}
	return want("sums", hash == p.fnv, counts == [3]uint64{p.win, p.draw, p.loss})
}

// paperRank ranks a board as the page says.
func paperRank(b []uint8) (rank uint64) {
	c := 0
	for i, x := range b[:len(b)-1] {
		c += int(x)
		rank += binomial(c+i, i+1)
	}
	return rank
}

func binomial(n, k int) uint64 {
	if k > n {
		return 0
	}
	r := uint64(1)
	for i := range k {
		hi, lo := bits.Mul64(r, uint64(n-i))
		r, _ = bits.Div64(hi, lo, uint64(i+1))
	}
	return r
}

// TestPage reads every layer of a run by the page of the format, finds it by the manifest, and compares it with what the program reads.
func TestPage(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	small := testrun.Game(t, 6, awari.Strict)
	for _, dir := range []string{solveRun(t, game, 11), testrun.Write(t, small, testrun.Solve(t, small, 9), 100)} {
		tab := open(t, dir)
		var manifest struct {
			Layers []struct{ File, Checksum string }
		}
		must.OK(t, json.Unmarshal(must.Read(t, filepath.Join(dir, "manifest.json")), &manifest))
		compressed := false
		for n, l := range manifest.Layers {
			p, err := readPaper(must.Read(t, filepath.Join(dir, l.File)))
			must.Hold(t, err == nil, "layer %d: %v", n, err)
			scores := make([]int8, tab.Layers()[n].Positions)
			must.OK(t, tab.Read(t.Context(), n, 0, scores))
			should.Hold(t, slices.Equal(scores, p.scores) && p.seeds == n && p.pits == tab.Game().Pits() && l.Checksum == fmt.Sprintf("%08x", p.sum),
				"layer %d: other scores than the program reads", n)
			compressed = compressed || len(p.lists) > 0
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for range 100 {
				b := testrun.Space(t, tab.Game(), n).Unrank(n, random.Uint64N(tab.Layers()[n].Positions))
				score, err := tab.Score(t.Context(), b)
				must.Hold(t, err == nil && score == p.scores[paperRank(b[:p.pits])], "board %v: %d, %v", b, score, err)
			}
		}
		should.Hold(t, len(manifest.Layers) == tab.MaxSeeds()+1 && compressed, "%d layers, compressed %v", len(manifest.Layers), compressed)
	}
}

// TestPageNoticesDamage: what the page says a reader must check notices each changed byte.
func TestPageNoticesDamage(t *testing.T) {
	game := testrun.Game(t, 6, awari.Awari)
	data := must.Read(t, open(t, testrun.Write(t, game, testrun.Solve(t, game, 7), 100)).Path(7))
	must.OK(t, must.Err(readPaper(data)))
	for i := range data {
		data[i] ^= 1 << (i % 8)
		should.Not(t, must.Err(readPaper(data)) == nil, "byte %d: nothing was noticed", i)
		data[i] ^= 1 << (i % 8)
		should.Not(t, must.Err(readPaper(data[:i])) == nil, "cut to %d bytes: nothing was noticed", i)
	}
}
