//go:build !purego

#include "textflag.h"
#include "compress_amd64.h"

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

// identity takes each score from its own place.
DATA ·identity+0(SB)/8, $0x0706050403020100
DATA ·identity+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA ·identity+16(SB)/8, $0x1716151413121110
DATA ·identity+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA ·identity+32(SB)/8, $0x2726252423222120
DATA ·identity+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA ·identity+48(SB)/8, $0x3736353433323130
DATA ·identity+56(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL ·identity(SB), RODATA|NOPTR, $64

// FETCH_NEXT fetches two lines of the next offers, and goes on to those behind them.
#define FETCH_NEXT(next) \
	MOVQ       next, R11; \
	PREFETCHT1 (R11);     \
	PREFETCHT1 64(R11);   \
	ADDQ       $128, R11; \
	MOVQ       R11, next

// func leastGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk, step int, next uintptr)
//
// DI dst, R9 group, R15 groups left, AX its route, SI word, R13 words left, BX the
// columns of the group that are asked for, R14 their indices among those of the
// group, R12 the group's rows, DX the lines of the word's panel, Z3 identity. In the
// loop over columns, CX and R8 hold what is left of BX and R14, AX the lines to be
// fetched, and Z0 the word.
TEXT ·leastGroups(SB), NOSPLIT, $24-56
	MOVQ dst+0(FP), DI
	MOVQ p+16(FP), R10
	MOVQ PROGRAM_GROUPS(R10), R9
	MOVQ PROGRAM_COUNT(R10), R15
	VMOVDQU64 ·identity(SB), Z3

group:
	FIND_WORDS(columns+8(FP), p+16(FP), routes+24(FP), chunk+32(FP), R14, nextGroup)

	// The next chunk finds its words as many panels further on.
	MOVQ  R13, R11
	IMULQ ROUTE_STRIDE(AX), R11
	IMULQ step+40(FP), R11
	MOVQ  R11, ahead-8(SP)
	MOVQ  AX, route-16(SP)

word:
	FETCH_NEXT(next+48(FP))
	MOVL       WORD_PANEL(SI), DX
	IMULQ      ROUTE_STRIDE(AX), DX
	ADDQ       ROUTE_SCORES(AX), DX
	MOVQ       ahead-8(SP), AX
	ADDQ       DX, AX
	KMOVQ      WORD_PICK(SI), K1
	KMOVQ      WORD_PLACE(SI), K2

	// From which score of the line each row takes its own.
	VPCOMPRESSB.Z Z3, K1, Z0
	VPEXPANDB.Z   Z0, K2, Z0
	MOVQ       BX, CX
	MOVQ       R14, R8

column:
	TZCNTQ        R8, R10
	TZCNTQ        CX, R11
	MOVL          (R12)(R10*4), R10
	BLSRQ         R8, R8
	SHLQ          $6, R10
	SHLQ          $6, R11
	VPERMB        (DX)(R10*1), Z0, Z1
	PREFETCHT1    (AX)(R10*1)
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

// Without AVX-512, a row of 32 scores is put together by four shuffles, one for each
// 16 scores of the line that it may come from. The controls of the shuffles are made
// once for all columns: PEXT lists the positions of the scores that are picked, PDEP
// spreads them to their places.

// PICK appends the positions of the set bits of the lowest byte of AX to the list
// at R9, each plus 0x80, and goes on to the next byte. R10 holds the positions of
// the byte's bits, R15 is byteMask.
#define PICK \
	MOVBLZX AL, CX;               \
	PEXTQ   (R15)(CX*8), R10, R8; \
	MOVQ    R8, (R9);             \
	POPCNTL CX, CX;               \
	ADDQ    CX, R9;               \
	SHRQ    $8, AX;               \
	ADDQ    R11, R10

// PLACE takes positions from the list at R9 and spreads them over the bytes of R8
// by the bits of the lowest byte of AX, and goes on to the next byte; the other
// bytes become 0.
#define PLACE \
	MOVBLZX AL, CX;               \
	MOVQ    (R9), R8;             \
	PDEPQ   (R15)(CX*8), R8, R8;  \
	POPCNTL CX, CX;               \
	ADDQ    CX, R9;               \
	SHRQ    $8, AX

// CONTROLS makes shuffle controls of the positions, plus 0x80, in Y4 and Y5 for
// the 16 scores of a line from x on: the low bits of a position in this range,
// a byte with the sign bit for others. Y6 has 0x70 in each byte.
#define CONTROLS(x, low, high) \
	MOVL         $(0x80 + x), R8; \
	VMOVD        R8, X0;          \
	VPBROADCASTB X0, Y0;          \
	VPXOR        Y4, Y0, low;     \
	VPXOR        Y5, Y0, high;    \
	VPADDUSB     Y6, low, low;    \
	VPADDUSB     Y6, high, high

// func leastWords(dst *Block, columns, of uint64, rows *uint32, scores *int8, stride int, words []Word, ahead int, next uintptr, masks *[256]uint64)
//
// DI dst, SI word, R13 words left, BX columns, R14 their indices among those of the
// group, R12 rows, DX the lines of the word's panel, R15 masks. In the loop over
// columns, CX and R8 hold what is left of BX and R14, AX the lines to be fetched,
// Y8-Y11 the controls of the first 32 rows and Y12-Y15 those of the others, Y6 and Y7
// 127 for each row without a place.
TEXT ·leastWords(SB), NOSPLIT, $72-96
	MOVQ  dst+0(FP), DI
	MOVQ  columns+8(FP), BX
	MOVQ  of+16(FP), CX
	PEXTQ CX, BX, R14
	MOVQ  rows+24(FP), R12
	MOVQ  words_base+48(FP), SI
	MOVQ  words_len+56(FP), R13
	MOVQ  masks+88(FP), R15

wordAVX2:
	FETCH_NEXT(next+80(FP))
	MOVL       WORD_PANEL(SI), DX
	IMULQ      stride+40(FP), DX
	ADDQ       scores+32(FP), DX

	MOVQ WORD_PICK(SI), AX
	LEAQ list-72(SP), R9
	MOVQ $0x8786858483828180, R10
	MOVQ $0x0808080808080808, R11
	PICK
	PICK
	PICK
	PICK
	PICK
	PICK
	PICK
	PICK
	MOVQ WORD_PLACE(SI), AX
	LEAQ list-72(SP), R9
	PLACE
	VMOVQ R8, X4
	PLACE
	VPINSRQ $1, R8, X4, X4
	PLACE
	VMOVQ R8, X0
	PLACE
	VPINSRQ $1, R8, X0, X0
	PLACE
	VMOVQ R8, X5
	PLACE
	VPINSRQ $1, R8, X5, X5
	PLACE
	VMOVQ R8, X1
	PLACE
	VPINSRQ $1, R8, X1, X1
	VINSERTI128 $1, X0, Y4, Y4
	VINSERTI128 $1, X1, Y5, Y5
	MOVL         $0x70, R8
	VMOVD        R8, X6
	VPBROADCASTB X6, Y6
	CONTROLS(0, Y8, Y12)
	CONTROLS(16, Y9, Y13)
	CONTROLS(32, Y10, Y14)
	CONTROLS(48, Y11, Y15)
	VPXOR        Y0, Y0, Y0
	VPCMPEQB     Y4, Y0, Y6
	VPCMPEQB     Y5, Y0, Y7
	MOVL         $0x7f, R8
	VMOVD        R8, X0
	VPBROADCASTB X0, Y0
	VPAND        Y0, Y6, Y6
	VPAND        Y0, Y7, Y7
	MOVQ ahead+72(FP), AX
	ADDQ DX, AX
	MOVQ BX, CX
	MOVQ R14, R8

columnAVX2:
	TZCNTQ         R8, R10
	TZCNTQ         CX, R11
	MOVL           (R12)(R10*4), R10
	BLSRQ          R8, R8
	SHLQ           $6, R10
	SHLQ           $6, R11
	VBROADCASTI128 (DX)(R10*1), Y0
	VBROADCASTI128 16(DX)(R10*1), Y1
	VBROADCASTI128 32(DX)(R10*1), Y2
	VBROADCASTI128 48(DX)(R10*1), Y3
	PREFETCHT1     (AX)(R10*1)
	VPSHUFB        Y8, Y0, Y4
	VPSHUFB        Y9, Y1, Y5
	VPSHUFB        Y12, Y0, Y0
	VPSHUFB        Y13, Y1, Y1
	VPOR           Y4, Y5, Y4
	VPOR           Y0, Y1, Y0
	VPSHUFB        Y10, Y2, Y5
	VPSHUFB        Y11, Y3, Y1
	VPSHUFB        Y14, Y2, Y2
	VPSHUFB        Y15, Y3, Y3
	VPOR           Y5, Y1, Y1
	VPOR           Y2, Y3, Y3
	VPOR           Y6, Y4, Y4
	VPOR           Y7, Y0, Y0
	VPOR           Y1, Y4, Y4
	VPOR           Y3, Y0, Y0
	VPMINSB        (DI)(R11*1), Y4, Y4
	VPMINSB        32(DI)(R11*1), Y0, Y0
	VMOVDQU        Y4, (DI)(R11*1)
	VMOVDQU        Y0, 32(DI)(R11*1)
	BLSRQ          CX, CX
	JNZ            columnAVX2
	ADDQ           $WORD_SIZE, SI
	DECQ           R13
	JNZ            wordAVX2
	VZEROUPPER
	RET
