// Package spaces groups the plain engines, which work on any state space (a layers.Space) or on
// the boards of awari. It has no code of its own.
//
//	retro   solves a space layer by layer by retrograde analysis, as document 001 has it.
//	        It is the oracle of the fast engine, and all that a new game needs; start here
//	census  counts the boards of awari, and the size of their tables: the tables of
//	        document 001
//	access  counts the boards of awari that play can lead to, by bit sets on disk
//
// But for access they are written to be read and believed, not to be fast: a whole layer is in memory.
package spaces
