//go:build !purego

#include "textflag.h"

// Offsets of fields, as in compress_amd64.s.
#define GROUP_COLUMNS 0
#define GROUP_ROUTE   8
#define GROUP_FIRST   12
#define GROUP_SIZE    16
#define ROUTE_SCORES  0
#define ROUTE_STRIDE  24
#define ROUTE_WORDS   32
#define ROUTE_FIRST   56
#define ROUTE_SIZE    80
#define WORD_PANEL     16
#define WORD_SIZE      24
#define PROGRAM_GROUPS 0
#define PROGRAM_COUNT  8
#define PROGRAM_ROWS   24

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
	MOVQ  GROUP_COLUMNS(R9), CX
	MOVQ  columns+0(FP), BX
	ANDQ  CX, BX
	JZ    nextGroup
	MOVL  GROUP_ROUTE(R9), AX
	IMULQ $ROUTE_SIZE, AX
	ADDQ  routes+16(FP), AX
	MOVQ  ROUTE_FIRST(AX), R10
	MOVQ  chunk+24(FP), R11
	MOVL  (R10)(R11*4), R12
	MOVL  4(R10)(R11*4), R13
	SUBQ  R12, R13
	JZ    nextGroup
	LEAQ  (R12)(R12*2), R12
	MOVQ  ROUTE_WORDS(AX), SI
	LEAQ  (SI)(R12*8), SI
	PEXTQ CX, BX, BX
	MOVQ  p+8(FP), R10
	MOVQ  PROGRAM_ROWS(R10), R12
	MOVL  GROUP_FIRST(R9), R10
	LEAQ  (R12)(R10*4), R12

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
