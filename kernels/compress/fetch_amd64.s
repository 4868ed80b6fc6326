//go:build !purego

#include "textflag.h"
#include "compress_amd64.h"

// func fetchLines(lines *int8, mask uint64)
TEXT ·fetchLines(SB), NOSPLIT, $0-16
	MOVQ lines+0(FP), SI
	MOVQ mask+8(FP), AX

fetchLine:
	TZCNTQ     AX, CX
	SHLQ       $6, CX
	PREFETCHT0 (SI)(CX*1)
	BLSRQ      AX, AX
	JNZ        fetchLine
	RET

// func fetchGroups(columns uint64, p *Program, routes *Route, chunk int)
//
// The loops are those of leastGroups. R9 group, R15 groups left, AX its route, SI
// word, R13 words left, BX the indices of the columns asked for among those of
// the group, R12 the group's rows, DX the lines of the word's panel.
TEXT ·fetchGroups(SB), NOSPLIT, $0-32
	MOVQ p+8(FP), R10
	MOVQ PROGRAM_GROUPS(R10), R9
	MOVQ PROGRAM_COUNT(R10), R15

group:
	FIND_WORDS(columns+0(FP), p+8(FP), routes+16(FP), chunk+24(FP), BX, nextGroup)

word:
	MOVL  WORD_PANEL(SI), DX
	IMULQ ROUTE_STRIDE(AX), DX
	ADDQ  ROUTE_SCORES(AX), DX
	MOVQ  BX, CX

column:
	TZCNTQ     CX, R10
	MOVL       (R12)(R10*4), R10
	SHLQ       $6, R10
	PREFETCHT0 (DX)(R10*1)
	BLSRQ      CX, CX
	JNZ        column
	ADDQ       $WORD_SIZE, SI
	DECQ       R13
	JNZ        word

nextGroup:
	ADDQ $GROUP_SIZE, R9
	DECQ R15
	JNZ  group
	RET
