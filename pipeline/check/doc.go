// Package check groups the packages that check whether the layers of a run directory are right, and
// one that checks whether a machine is fit to make them. It has no code of its own.
//
//	verify   do the scores follow from each other? Plays every move by the plain rules of
//	         layers/awari; start here
//	prove    can they be any others? Traces every win and loss down to seeds that are
//	         taken, a least fixpoint: a table that passes is the right one (docs/proof.md)
//	scrub    are the bytes on disk those that were written? Checksums at the speed of
//	         the disk, nothing is decoded
//	compare  do two directories or files hold the same scores?
//	doctor   is this machine fit for a run of a night? Processors, memory, disk, clock
//
// Those that look at layers share no code with the engine that solves them, so that a fault of
// the engine cannot hide itself. Package solve/repair mends the damage that they find.
package check
