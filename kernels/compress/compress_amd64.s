//go:build !purego

#include "textflag.h"

// Offsets of fields.
#define GROUP_COLUMNS 0
#define GROUP_ROUTE   8
#define GROUP_FIRST   12
#define GROUP_SIZE    16
#define ROUTE_SCORES  0
#define ROUTE_STRIDE  24
#define ROUTE_WORDS   32
#define ROUTE_FIRST   56
#define ROUTE_SIZE    80
#define WORD_PICK     0
#define WORD_PLACE    8
#define WORD_PANEL    16
#define WORD_SIZE     24
#define PROGRAM_GROUPS 0
#define PROGRAM_COUNT  8
#define PROGRAM_ROWS   24

// func copyColumns(dst, src *Block, columns uint64)
TEXT ·copyColumns(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ columns+16(FP), AX

copyColumn:
	TZCNTQ    AX, CX
	SHLQ      $6, CX
	VMOVDQU64 (SI)(CX*1), Z0
	VMOVDQU64 Z0, (DI)(CX*1)
	BLSRQ     AX, AX
	JNZ       copyColumn
	VZEROUPPER
	RET

// func fetch(lines []int8)
TEXT ·fetch(SB), NOSPLIT, $0-24
	MOVQ lines_base+0(FP), SI
	MOVQ lines_len+8(FP), CX
	SHRQ $6, CX
	JZ   fetched

fetchLine:
	PREFETCHT1 (SI)
	ADDQ       $64, SI
	DECQ       CX
	JNZ        fetchLine

fetched:
	RET

// func leastGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk, step int, next *int8)
//
// DI dst, R9 group, R15 groups left, AX its route, SI word, R13 words left, BX the
// columns of the group that are asked for, R14 their indices among those of the
// group, R12 the group's rows, DX the lines of the word's panel. In the loop over
// columns, CX and R8 hold what is left of BX and R14, and AX the lines to be
// fetched.
TEXT ·leastGroups(SB), NOSPLIT, $24-56
	MOVQ dst+0(FP), DI
	MOVQ p+16(FP), R10
	MOVQ PROGRAM_GROUPS(R10), R9
	MOVQ PROGRAM_COUNT(R10), R15

group:
	MOVQ  GROUP_COLUMNS(R9), CX
	MOVQ  columns+8(FP), BX
	ANDQ  CX, BX
	JZ    nextGroup
	MOVL  GROUP_ROUTE(R9), AX
	IMULQ $ROUTE_SIZE, AX
	ADDQ  routes+24(FP), AX
	MOVQ  ROUTE_FIRST(AX), R10
	MOVQ  chunk+32(FP), R11
	MOVL  (R10)(R11*4), R12
	MOVL  4(R10)(R11*4), R13
	SUBQ  R12, R13
	JZ    nextGroup
	LEAQ  (R12)(R12*2), R12
	MOVQ  ROUTE_WORDS(AX), SI
	LEAQ  (SI)(R12*8), SI
	PEXTQ CX, BX, R14
	MOVQ  p+16(FP), R10
	MOVQ  PROGRAM_ROWS(R10), R12
	MOVL  GROUP_FIRST(R9), R10
	LEAQ  (R12)(R10*4), R12

	// The next chunk finds its words as many panels further on.
	MOVQ  R13, R11
	IMULQ ROUTE_STRIDE(AX), R11
	IMULQ step+40(FP), R11
	MOVQ  R11, ahead-8(SP)
	MOVQ  AX, route-16(SP)

word:
	MOVQ       next+48(FP), R11
	PREFETCHT1 (R11)
	PREFETCHT1 64(R11)
	ADDQ       $128, R11
	MOVQ       R11, next+48(FP)
	MOVL       WORD_PANEL(SI), DX
	IMULQ      ROUTE_STRIDE(AX), DX
	ADDQ       ROUTE_SCORES(AX), DX
	MOVQ       ahead-8(SP), AX
	ADDQ       DX, AX
	KMOVQ      WORD_PICK(SI), K1
	KMOVQ      WORD_PLACE(SI), K2
	MOVQ       BX, CX
	MOVQ       R14, R8

column:
	TZCNTQ        R8, R10
	TZCNTQ        CX, R11
	MOVL          (R12)(R10*4), R10
	BLSRQ         R8, R8
	SHLQ          $6, R10
	SHLQ          $6, R11
	VMOVDQU64     (DX)(R10*1), Z1
	PREFETCHT1    (AX)(R10*1)
	VPCOMPRESSB.Z Z1, K1, Z1
	VPEXPANDB.Z   Z1, K2, Z1
	VMOVDQU64     (DI)(R11*1), Z2
	VPMINSB       Z1, Z2, K2, Z2
	VMOVDQU64     Z2, (DI)(R11*1)
	BLSRQ         CX, CX
	JNZ           column
	MOVQ          route-16(SP), AX
	ADDQ          $WORD_SIZE, SI
	DECQ          R13
	JNZ           word

nextGroup:
	ADDQ $GROUP_SIZE, R9
	DECQ R15
	JNZ  group
	VZEROUPPER
	RET
