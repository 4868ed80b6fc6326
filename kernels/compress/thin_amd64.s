//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "compress_amd64.h"

// THIN_WORD sets places to where the blocks of the panel of the word at SI+at begin in scores,
// control to the score of the line that each row takes, and place to the rows that take one. K1
// is scratch.
#define THIN_WORD(at, places, control, place) \
	MOVL          (at+Word_Panel)(SI), places; \
	IMULQ         stride-16(SP), places;       \
	ADDQ          blocks-8(SP), places;        \
	KMOVQ         (at+Word_Pick)(SI), K1;      \
	KMOVQ         (at+Word_Place)(SI), place;  \
	VPCOMPRESSB.Z Z3, K1, control;             \
	VPEXPANDB.Z   control, place, control

#define THIN_FIRST  THIN_WORD(0, R9, Z0, K2)
#define THIN_SECOND THIN_WORD(Word__size, R15, Z9, K3)
#define THIN_THIRD  THIN_WORD(2*Word__size, AX, Z10, K4)

// THIN_APPLY applies a word to the column in Z8. The row is in block R13, and twice R10 is how
// far the head of its line is in there.
#define THIN_APPLY(places, control, place) \
	MOVQ      (places)(R13*8), BX;  \
	ADDQ      DX, BX;               \
	KMOVQ     (BX)(R10*2), K1;      \
	MOVWLZX   8(BX)(R10*2), R14;    \
	VMOVDQU64 (BX)(R14*1), Z2;      \
	VMOVDQA64 Z7, Z1;               \
	VPEXPANDB Z2, K1, Z1;           \
	VPERMB    Z1, control, Z1;      \
	VPMINSB   Z1, Z8, place, Z8

#define THIN_ONE   THIN_APPLY(R9, Z0, K2)
#define THIN_TWO   THIN_ONE; THIN_APPLY(R15, Z9, K3)
#define THIN_THREE THIN_TWO; THIN_APPLY(AX, Z10, K4)

// THIN_COLUMNS applies WORDS to the columns that are asked for.
#define THIN_COLUMNS(column, WORDS) \
	MOVQ asked-32(SP), CX;       \
	MOVQ picked-40(SP), R8;      \
column: \
	TZCNTQ    R8, R10;           \
	TZCNTQ    CX, R11;           \
	MOVL      (R12)(R10*4), R10; \
	BLSRQ     R8, R8;            \
	SHLQ      $6, R11;           \
	MOVQ      R10, R13;          \
	SHRQ      $6, R13;           \
	ANDQ      $63, R10;          \
	LEAQ      (R10)(R10*4), R10; \
	VMOVDQU64 (DI)(R11*1), Z8;   \
	WORDS;                       \
	VMOVDQU64 Z8, (DI)(R11*1);   \
	BLSRQ     CX, CX;            \
	JNZ       column

// func leastThinGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk int, zero int8)
//
// DI dst, R9 group, R15 groups left, AX its route, SI word, R13 words left, BX the columns of the
// group that are asked for, R14 their indices among all columns of the group, R12 the group's rows,
// DX where scores begin, Z3 identity, Z7 zero.
//
// Up to three words are applied at once: their panels have the places R9, R15 and AX, their
// controls are Z0, Z9 and Z10. In the loop over columns, CX and R8 are the rest of the columns that
// are asked for and of the indices.
TEXT ·leastThinGroups(SB), NOSPLIT, $64-41
	MOVQ         dst+0(FP), DI
	MOVQ         p+16(FP), R10
	MOVQ         Program_Groups(R10), R9
	MOVQ         (Program_Groups+8)(R10), R15
	VMOVDQU64    ·identity(SB), Z3
	VPBROADCASTB zero+40(FP), Z7

group:
	FIND_WORDS(columns+8(FP), p+16(FP), routes+24(FP), chunk+32(FP), R14, nextGroup)
	MOVQ Route_Scores(AX), DX
	MOVQ Route_Blocks(AX), R10
	MOVQ R10, blocks-8(SP)
	MOVQ Route_Stride(AX), R10
	SHLQ $3, R10
	MOVQ R10, stride-16(SP)
	MOVQ R9, group-24(SP)
	MOVQ BX, asked-32(SP)
	MOVQ R14, picked-40(SP)
	MOVQ R15, groups-48(SP)
	MOVQ R13, words-56(SP)
	SUBQ $3, words-56(SP)
	JLT  fewWords

threeWords:
	THIN_FIRST
	THIN_SECOND
	THIN_THIRD
	THIN_COLUMNS(threeColumns, THIN_THREE)
	ADDQ $(3*Word__size), SI
	SUBQ $3, words-56(SP)
	JGE  threeWords

fewWords:
	CMPQ words-56(SP), $-3
	JEQ  doneGroup
	THIN_FIRST
	CMPQ words-56(SP), $-2
	JEQ  oneWord
	THIN_SECOND
	THIN_COLUMNS(twoColumns, THIN_TWO)
	JMP  doneGroup

oneWord:
	THIN_COLUMNS(oneColumn, THIN_ONE)

doneGroup:
	MOVQ group-24(SP), R9
	MOVQ groups-48(SP), R15

nextGroup:
	ADDQ $Group__size, R9
	DECQ R15
	JNZ  group
	VZEROUPPER
	RET

// func expandThin(dst, block *int8, line int, zero int8, masks *[256]uint64)
//
// DI dst, DX the mask that is left, R10 its codes, R12 eight times zero, R15 masks. PDEP makes 0 of
// positions that are not searched, so codes are XORed with zero before and after.
TEXT ·expandThin(SB), NOSPLIT, $0-40
	MOVQ    dst+0(FP), DI
	MOVQ    block+8(FP), SI
	MOVQ    line+16(FP), BX
	MOVBLZX zero+24(FP), R12
	MOVQ    $0x0101010101010101, R11
	IMULQ   R11, R12
	MOVQ    masks+32(FP), R15
	LEAQ    (BX)(BX*4), BX
	MOVQ    (SI)(BX*2), DX
	MOVWLZX 8(SI)(BX*2), R10
	ADDQ    SI, R10
	MOVQ    $8, R13

eight:
	MOVBLZX DL, CX
	MOVQ    (R10), R8
	XORQ    R12, R8
	PDEPQ   (R15)(CX*8), R8, R8
	XORQ    R12, R8
	MOVQ    R8, (DI)
	POPCNTL CX, CX
	ADDQ    CX, R10
	ADDQ    $8, DI
	SHRQ    $8, DX
	DECQ    R13
	JNZ     eight
	RET
