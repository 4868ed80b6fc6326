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

// FIRST_MASK makes the low half of x bytes of ones and zeros of the lowest 8 bits of AX, SECOND_MASK the high half, and
// goes on to the next bits.
#define FIRST_MASK(x) \
	MOVBLZX AL, CX;           \
	VMOVQ   (R15)(CX*8), x;   \
	SHRQ    $8, AX
#define SECOND_MASK(x) \
	MOVBLZX AL, CX;                    \
	VPINSRQ $1, (R15)(CX*8), x, x;     \
	SHRQ    $8, AX

// func leastThinWords(dst *Block, columns, of uint64, rows *uint32, scores *int8, blocks *uint64, stride int, words []Word, zero uint64, masks *[256]uint64)
//
// DI dst, SI word, R12 rows, R13 what the word picks, DX where the blocks of its panel begin, R15 masks, BX and R14 the
// columns that are left and their indices among the columns of the group. Y8 and Y9 have zero for each row with a
// place, and 127 for others.
//
// Of a line, the codes that are picked are put into a list, each XORed with zero, and spread over their rows by PDEP, which
// makes 0 of the others; so an XOR with Y8 and Y9 makes all rows right.
TEXT ·leastThinWords(SB), NOSPLIT, $96-96
	MOVQ  dst+0(FP), DI
	MOVQ  rows+24(FP), R12
	MOVQ  words_base+56(FP), SI
	MOVQ  masks+88(FP), R15
	MOVQ  $0x7f7f7f7f7f7f7f7f, AX
	VMOVQ AX, X11
	VPBROADCASTQ X11, Y11
	XORQ  zero+80(FP), AX
	VMOVQ AX, X10
	VPBROADCASTQ X10, Y10

thinWord:
	MOVQ  columns+8(FP), BX
	MOVQ  of+16(FP), CX
	PEXTQ CX, BX, R14
	MOVL  Word_Panel(SI), DX
	IMULQ stride+48(FP), DX
	SHLQ  $3, DX
	ADDQ  blocks+40(FP), DX
	MOVQ  Word_Pick(SI), R13
	MOVQ  Word_Place(SI), AX
	FIRST_MASK(X8)
	SECOND_MASK(X8)
	FIRST_MASK(X0)
	SECOND_MASK(X0)
	FIRST_MASK(X9)
	SECOND_MASK(X9)
	FIRST_MASK(X1)
	SECOND_MASK(X1)
	VINSERTI128 $1, X0, Y8, Y8
	VINSERTI128 $1, X1, Y9, Y9
	VPAND Y10, Y8, Y8
	VPAND Y10, Y9, Y9
	VPXOR Y11, Y8, Y8
	VPXOR Y11, Y9, Y9

thinColumn:
	TZCNTQ  R14, R10
	TZCNTQ  BX, R11
	MOVL    (R12)(R10*4), R10
	BLSRQ   R14, R14
	SHLQ    $6, R11
	MOVQ    R10, CX
	SHRQ    $6, CX
	ANDQ    $63, R10
	MOVQ    (DX)(CX*8), CX
	LEAQ    (R10)(R10*4), R10
	ADDQ    scores+32(FP), CX
	MOVQ    (CX)(R10*2), R9
	MOVWLZX 8(CX)(R10*2), R10
	ADDQ    CX, R10
	VMOVDQA Y8, Y4
	VMOVDQA Y9, Y5
	PEXTQ   R13, R9, AX
	TESTQ   AX, AX
	JEQ     thinLeast
	PDEPQ   Word_Place(SI), AX, AX
	PEXTQ   R9, R13, R8
	LEAQ    list-96(SP), R9
	MOVQ    AX, places-8(SP)

thinCodes:
	MOVBLZX R8, CX
	MOVQ    (R10), AX
	XORQ    zero+80(FP), AX
	PEXTQ   (R15)(CX*8), AX, AX
	MOVQ    AX, (R9)
	POPCNTL CX, CX
	ADDQ    CX, R9
	ADDQ    $8, R10
	SHRQ    $8, R8
	JNZ     thinCodes

	MOVQ places-8(SP), AX
	LEAQ list-96(SP), R9
	PLACE_ROWS
	VPXOR Y8, Y4, Y4
	VPXOR Y9, Y5, Y5

thinLeast:
	VPMINSB (DI)(R11*1), Y4, Y4
	VPMINSB 32(DI)(R11*1), Y5, Y5
	VMOVDQU Y4, (DI)(R11*1)
	VMOVDQU Y5, 32(DI)(R11*1)
	BLSRQ   BX, BX
	JNZ     thinColumn

	ADDQ $Word__size, SI
	DECQ words_len+64(FP)
	JNZ  thinWord
	VZEROUPPER
	RET
