// Package puzzle makes puzzles of solved positions: one move wins, the best answer to it is the only best one, again one
// move wins, and so on.
//
//	puzzles, err := puzzle.Draw(ctx, tables, puzzle.Options{From: 8, To: 20, Count: 10, Most: 100})
//
// # Lines
//
// Positions are drawn at random and must meet a condition (package find): one of several moves wins, no other even draws.
// From there the line is played on (line.go) while it is without choice: the solver has one move that still wins, the seeds
// taken on the way included, and the other player has one move of the best value. It ends with a decision of the solver. A
// position is a puzzle if he has two decisions or more.
//
// # Ratings
//
// Simple players look some plies ahead, count captures, and know no table (player.go). The rating of a puzzle is how many
// of a hundred of them fail, as many of each depth: computed, not asked. Of moves that look equally good a player takes one
// at random, so he solves some puzzles in part of the cases.
//
// # Themes
//
// Themes (theme.go) say what a line is about, by its moves alone, in the words of the lessons.
package puzzle
