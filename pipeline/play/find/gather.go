package find

// sorter brings children in files into the order of blocks. It belongs to one scanner.
type sorter struct {
	first []int    // of each layer, its first piece
	ends  []uint32 // of each piece, where its children end in order
	order []uint32 // children, by pieces
}

// gather finds out the values of the moves to those children whose layers are not in memory.
func (s *scanner) gather() error {
	s.sort()
	begin := uint32(0)
	for n, first := range s.sorter.first {
		pieces := s.sorter.ends[first:]
		if n+1 < len(s.sorter.first) {
			pieces = s.sorter.ends[first:s.sorter.first[n+1]]
		}
		for i, end := range pieces {
			if begin < end {
				if err := s.answer(n, uint64(i)*pieceSize, s.sorter.order[begin:end]); err != nil {
					return err
				}
			}
			begin = end
		}
	}
	return nil
}

// answer answers the children in one piece of a layer.
func (s *scanner) answer(n int, from uint64, asked []uint32) error {
	scores := s.block[:min(pieceSize, s.space.Size(n)-from)]
	if err := s.tables.Read(s.judge.ctx, n, from, scores); err != nil {
		return err
	}
	for _, i := range asked {
		c := s.children[i]
		s.values[i] = int8(c.Captured()) - scores[c.Rank()-from]
	}
	return nil
}

// sort is a counting sort by pieces: ends first hold how many children each has.
func (s *scanner) sort() {
	x := &s.sorter
	if x.first == nil {
		s.prepare()
	}
	clear(x.ends)
	for _, c := range s.children {
		if n := s.seeds - c.Captured(); s.held[n] == nil {
			x.ends[x.first[n]+int(c.Rank()/pieceSize)]++
		}
	}
	sum := uint32(0)
	for i, count := range x.ends {
		x.ends[i] = sum
		sum += count
	}
	for i, c := range s.children {
		if n := s.seeds - c.Captured(); s.held[n] == nil {
			end := &x.ends[x.first[n]+int(c.Rank()/pieceSize)]
			x.order[*end] = uint32(i)
			*end++
		}
	}
}

// prepare makes the memory of the sorter.
func (s *scanner) prepare() {
	x, pieces := &s.sorter, 0
	for n := range s.seeds + 1 {
		x.first = append(x.first, pieces)
		if s.held[n] == nil {
			pieces += int((s.space.Size(n) + pieceSize - 1) / pieceSize)
		}
	}
	x.ends, x.order = make([]uint32, pieces), make([]uint32, cap(s.children))
	if s.block == nil {
		s.block = make([]int8, pieceSize)
	}
}
