// Package play groups the packages that use solved layers of awari: to play, to look ahead, and to
// answer questions over HTTP. It has no code of its own.
//
//	line    best lines of solved positions, which make progress; start here
//	find    positions that meet a condition
//	puzzle  puzzles: positions with the line that solves them, rated
//	search  positions above the tables: proven bounds and an estimate, by principal
//	        variation search with a transposition table
//	match   games, and players of limited strength, on top of line and search
//	serve   all of it as a JSON interface and a web page
//	uci     the same players behind the protocol of oware interfaces
//	picture positions as pictures, for the previews of links
//	publish the web page and the layers as files, for a server that is not ours
//
// Scores come from package tables, rules from layers/awari.
package play
