package compress

// FetchFunc brings the data that a LeastFunc with the same arguments reads, and the given rows
// of lines, into the cache, while another block is computed: for blocks with few columns to compute, which read scattered lines,
// and for those that no other block fetches ahead for. The function changes nothing.
type FetchFunc func(offers *Block, columns uint64, p *Program, routes []Route, chunk int, lines []int8, rows uint64)

// fetchGeneric does nothing: portable code cannot.
func fetchGeneric(*Block, uint64, *Program, []Route, int, []int8, uint64) {}

// FetchThin is the FetchFunc of thin blocks. It does nothing: where lines are says a table that would
// have to be read first.
func FetchThin(*Block, uint64, *Program, []Route, int, []int8, uint64) {}
