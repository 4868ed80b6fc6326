package halfboard

import "grenier/layers/awari"

// Room says how much of a layer an engine keeps in memory. All are bytes.
type Room struct {
	Whole  bool   // all of it: the others are 0
	Tiles  uint64 // of memory for scores, and for packed offers besides
	Group  uint64 // of Tiles, for scores, if the offers of all rows do not fit beside them
	Scores uint64 // of the rows that sweeps compute
	Full   uint64 // of the rows that are computed in the end
	Offers uint64 // of the rows that sweeps compute, before they are packed
	Tile   uint64 // of a tile, at least
}

// RoomFor returns what an engine with so many workers has for the layer of n seeds within
// memory bytes, of which 0 is no bound.
func RoomFor(game awari.Game, n int, memory uint64, workers int) Room {
	if (&Options{Memory: memory, Workers: workers}).fits(game, n) {
		return Room{Whole: true}
	}
	q := game.Half()
	l := layoutOf(q, n, true)
	room := max(0, roomIn(memory, q, n, workers))
	// How many tiles there will be is not known before they are cut: taken to be all that
	// are allowed.
	most := mostTiles(room)
	tiles := uint64(room - most*tileBytes)
	return Room{
		Tiles: tiles, Group: tiles - tiles/shareOfOffers - tiles/shareAhead,
		Scores: uint64(l.scores), Full: uint64(l.offers[fullRows]), Offers: uint64(l.offers[openRows]),
		Tile: max(uint64(l.scores)/uint64(max(most, 1)), leastTile*leastTile),
	}
}
