//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// FETCH fetches the line at R10, of which R9 is the size less 1. One of 24 or 48 bytes may end in the
// next line of the cache.
#define FETCH \
	PRFM (R10), PLDL1KEEP; \
	ADD  R9, R10, R10;     \
	PRFM (R10), PLDL1KEEP

// func fetchLines(lines *int8, mask uint64, size int)
TEXT ·fetchLines(SB), NOSPLIT, $0-24
	MOVD lines+0(FP), R0
	MOVD mask+8(FP), R1
	MOVD size+16(FP), R2
	SUB  $1, R2, R9

line:
	RBIT R1, R3
	CLZ  R3, R3
	MADD R2, R0, R3, R10
	FETCH
	SUB  $1, R1, R3
	ANDS R3, R1, R1
	BNE  line
	RET

// func fetchPlaces(list *places, n int, scores *int8, stride int, words []Word, size int)
//
// R0 list, R1 places, R2 scores, R3 stride, R4 word, R5 words left, R6 the lines of the word's
// panel, R7 place, R8 places left.
TEXT ·fetchPlaces(SB), NOSPLIT, $0-64
	MOVD list+0(FP), R0
	MOVD n+8(FP), R1
	MOVD scores+16(FP), R2
	MOVD stride+24(FP), R3
	MOVD words_base+32(FP), R4
	MOVD words_len+40(FP), R5
	MOVD size+56(FP), R9
	SUB  $1, R9, R9

word:
	MOVWU Word_Panel(R4), R6
	MADD  R3, R2, R6, R6
	ADD   $place_line, R0, R7
	MOVD  R1, R8

place:
	MOVD.P place__size(R7), R10
	ADD    R6, R10, R10
	FETCH
	SUBS   $1, R8, R8
	BNE    place
	ADD    $Word__size, R4
	SUBS   $1, R5, R5
	BNE    word
	RET
