//go:build !purego

#include "textflag.h"

// A square of 16 x 16 bytes is transposed by four equal stages of unpacking. Call
// the bits of a byte's address, row above column, r3 r2 r1 r0 c3 c2 c1 c0: four
// bits for the register and four for the byte in it. Unpacking registers k and
// k+8 to registers 2k (low half) and 2k+1 (high half) for all k < 8 rotates these
// eight bits left by one. After four stages row and column are exchanged.

// STAGE_UP and STAGE_DOWN are one stage for the squares in the four lanes of
// Z0-Z15, to Z16-Z31 and back.
#define STAGE_UP \
	VPUNPCKLBW Z8, Z0, Z16;  \
	VPUNPCKHBW Z8, Z0, Z17;  \
	VPUNPCKLBW Z9, Z1, Z18;  \
	VPUNPCKHBW Z9, Z1, Z19;  \
	VPUNPCKLBW Z10, Z2, Z20; \
	VPUNPCKHBW Z10, Z2, Z21; \
	VPUNPCKLBW Z11, Z3, Z22; \
	VPUNPCKHBW Z11, Z3, Z23; \
	VPUNPCKLBW Z12, Z4, Z24; \
	VPUNPCKHBW Z12, Z4, Z25; \
	VPUNPCKLBW Z13, Z5, Z26; \
	VPUNPCKHBW Z13, Z5, Z27; \
	VPUNPCKLBW Z14, Z6, Z28; \
	VPUNPCKHBW Z14, Z6, Z29; \
	VPUNPCKLBW Z15, Z7, Z30; \
	VPUNPCKHBW Z15, Z7, Z31

#define STAGE_DOWN \
	VPUNPCKLBW Z24, Z16, Z0;  \
	VPUNPCKHBW Z24, Z16, Z1;  \
	VPUNPCKLBW Z25, Z17, Z2;  \
	VPUNPCKHBW Z25, Z17, Z3;  \
	VPUNPCKLBW Z26, Z18, Z4;  \
	VPUNPCKHBW Z26, Z18, Z5;  \
	VPUNPCKLBW Z27, Z19, Z6;  \
	VPUNPCKHBW Z27, Z19, Z7;  \
	VPUNPCKLBW Z28, Z20, Z8;  \
	VPUNPCKHBW Z28, Z20, Z9;  \
	VPUNPCKLBW Z29, Z21, Z10; \
	VPUNPCKHBW Z29, Z21, Z11; \
	VPUNPCKLBW Z30, Z22, Z12; \
	VPUNPCKHBW Z30, Z22, Z13; \
	VPUNPCKLBW Z31, Z23, Z14; \
	VPUNPCKHBW Z31, Z23, Z15

// TURN transposes the squares in the four lanes of Z0-Z15.
#define TURN \
	STAGE_UP;   \
	STAGE_DOWN; \
	STAGE_UP;   \
	STAGE_DOWN

// NEGATE negates Z0-Z15.
#define NEGATE \
	VPXORQ Z31, Z31, Z31; \
	VPSUBB Z0, Z31, Z0;   \
	VPSUBB Z1, Z31, Z1;   \
	VPSUBB Z2, Z31, Z2;   \
	VPSUBB Z3, Z31, Z3;   \
	VPSUBB Z4, Z31, Z4;   \
	VPSUBB Z5, Z31, Z5;   \
	VPSUBB Z6, Z31, Z6;   \
	VPSUBB Z7, Z31, Z7;   \
	VPSUBB Z8, Z31, Z8;   \
	VPSUBB Z9, Z31, Z9;   \
	VPSUBB Z10, Z31, Z10; \
	VPSUBB Z11, Z31, Z11; \
	VPSUBB Z12, Z31, Z12; \
	VPSUBB Z13, Z31, Z13; \
	VPSUBB Z14, Z31, Z14; \
	VPSUBB Z15, Z31, Z15

// LANES puts a mask for the lane L of a register into KL, L > 0.
#define LANES \
	MOVL  $0x00f0, AX; \
	KMOVW AX, K1;      \
	MOVL  $0x0f00, AX; \
	KMOVW AX, K2;      \
	MOVL  $0xf000, AX; \
	KMOVW AX, K3

// GATHER loads 16 bytes each of four rows, 16 rows apart, to the lanes of z. A
// broadcast under a mask needs no shuffle, as an insertion would.
#define GATHER(a, b, c, d, z, x) \
	VMOVDQU         a, x;     \
	VBROADCASTI32X4 b, K1, z; \
	VBROADCASTI32X4 c, K2, z; \
	VBROADCASTI32X4 d, K3, z

// ROW loads the rows at offset AX from SI, R10, R11 and R12.
#define ROW(z, x) \
	GATHER((SI)(AX*1), (R10)(AX*1), (R11)(AX*1), (R12)(AX*1), z, x); \
	ADDQ R8, AX

// ROWS loads 16 rows of R8 bytes each.
#define ROWS \
	XORQ AX, AX; \
	ROW(Z0, X0); \
	ROW(Z1, X1); \
	ROW(Z2, X2); \
	ROW(Z3, X3); \
	ROW(Z4, X4); \
	ROW(Z5, X5); \
	ROW(Z6, X6); \
	ROW(Z7, X7); \
	ROW(Z8, X8); \
	ROW(Z9, X9); \
	ROW(Z10, X10); \
	ROW(Z11, X11); \
	ROW(Z12, X12); \
	ROW(Z13, X13); \
	ROW(Z14, X14); \
	ROW(Z15, X15)

// PUT replaces line k of 16 with z, in the columns of K4, if R13 has its bit.
#define PUT(k, z, same) \
	BTQ       $k, R13;                   \
	JCC       same;                      \
	VMOVDQU64 (k*64)(DI), Z16;           \
	VPCMPB    $4, Z16, z, K4, K5;        \
	KMOVQ     K5, R8;                    \
	TESTQ     R8, R8;                    \
	JZ        same;                      \
	VMOVDQU8  z, K5, Z16;                \
	VMOVDQU64 Z16, (k*64)(DI);           \
	MOVQ      R8, (k*8)(DX);             \
	BTSQ      $k, R9;                    \
same:

// func updateLines(lines *int8, block *Block, columns, rows uint64, changed *[64]uint64) uint64
//
// SI, R10, R11 and R12 are columns 0, 16, 32, 48 of the block, R8 the distance of
// columns, DI lines, DX changed and R13 rows, all from the next 16 rows on; R9 has
// the changed rows, those to come in the low bits; CX squares of 16 left in the columns.
TEXT ·updateLines(SB), NOSPLIT, $0-48
	MOVQ  lines+0(FP), DI
	MOVQ  block+8(FP), SI
	KMOVQ columns+16(FP), K4
	MOVQ  rows+24(FP), R13
	MOVQ  changed+32(FP), DX
	XORQ  R9, R9
	MOVQ  $4, CX
	LANES
	LEAQ  1024(SI), R10
	LEAQ  2048(SI), R11
	LEAQ  3072(SI), R12

square:
	MOVQ $64, R8
	ROWS
	TURN
	NEGATE
	PUT(0, Z0, same0)
	PUT(1, Z1, same1)
	PUT(2, Z2, same2)
	PUT(3, Z3, same3)
	PUT(4, Z4, same4)
	PUT(5, Z5, same5)
	PUT(6, Z6, same6)
	PUT(7, Z7, same7)
	PUT(8, Z8, same8)
	PUT(9, Z9, same9)
	PUT(10, Z10, same10)
	PUT(11, Z11, same11)
	PUT(12, Z12, same12)
	PUT(13, Z13, same13)
	PUT(14, Z14, same14)
	PUT(15, Z15, same15)
	RORQ $16, R9
	SHRQ $16, R13
	ADDQ $1024, DI
	ADDQ $128, DX
	ADDQ $16, SI
	ADDQ $16, R10
	ADDQ $16, R11
	ADDQ $16, R12
	DECQ CX
	JNZ  square
	VZEROUPPER
	MOVQ R9, ret+40(FP)
	RET

// In AVX2 the rows k and k+8 share a register, so a stage rotates the seven bits
// r2 r1 r0 c3 c2 c1 c0, and three stages leave register c3 c2 c1 with the bytes
// c0 r2 r1 r0 in the lane r3. Exchanging its middle quarters then puts a whole
// column into each lane.
#define STAGE_UP_AVX2 \
	VPUNPCKLBW Y4, Y0, Y8;  \
	VPUNPCKHBW Y4, Y0, Y9;  \
	VPUNPCKLBW Y5, Y1, Y10; \
	VPUNPCKHBW Y5, Y1, Y11; \
	VPUNPCKLBW Y6, Y2, Y12; \
	VPUNPCKHBW Y6, Y2, Y13; \
	VPUNPCKLBW Y7, Y3, Y14; \
	VPUNPCKHBW Y7, Y3, Y15

#define STAGE_DOWN_AVX2 \
	VPUNPCKLBW Y12, Y8, Y0;  \
	VPUNPCKHBW Y12, Y8, Y1;  \
	VPUNPCKLBW Y13, Y9, Y2;  \
	VPUNPCKHBW Y13, Y9, Y3;  \
	VPUNPCKLBW Y14, Y10, Y4; \
	VPUNPCKHBW Y14, Y10, Y5; \
	VPUNPCKLBW Y15, Y11, Y6; \
	VPUNPCKHBW Y15, Y11, Y7

// ROW_AVX2 loads the rows at offset AX from SI and R10.
#define ROW_AVX2(y, x) \
	VMOVDQU     (SI)(AX*1), x;         \
	VINSERTI128 $1, (R10)(AX*1), y, y; \
	ADDQ        R8, AX

// PUT_AVX2 stores two columns.
#define PUT_AVX2(y, x) \
	VPERMQ       $0xd8, y, y;       \
	VMOVDQU      x, (DX);           \
	VEXTRACTI128 $1, y, (DX)(R9*1); \
	LEAQ         (DX)(R9*2), DX

// func turnAVX2(dst, src *Block)
//
// SI, R10 columns 0 and 8 of src, R8 the distance of columns and R9 of lines, DI dst, CX squares left
// in this line of squares, BX lines of squares left.
TEXT ·turnAVX2(SB), NOSPLIT, $0-16
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), R11
	MOVQ $64, R8
	MOVQ $64, R9
	MOVQ $4, BX

lines:
	MOVQ R11, SI
	MOVQ $4, CX

square:
	LEAQ  (SI)(R8*8), R10
	XORQ  AX, AX
	ROW_AVX2(Y0, X0)
	ROW_AVX2(Y1, X1)
	ROW_AVX2(Y2, X2)
	ROW_AVX2(Y3, X3)
	ROW_AVX2(Y4, X4)
	ROW_AVX2(Y5, X5)
	ROW_AVX2(Y6, X6)
	ROW_AVX2(Y7, X7)
	STAGE_UP_AVX2
	STAGE_DOWN_AVX2
	STAGE_UP_AVX2
	MOVQ  DI, DX
	PUT_AVX2(Y8, X8)
	PUT_AVX2(Y9, X9)
	PUT_AVX2(Y10, X10)
	PUT_AVX2(Y11, X11)
	PUT_AVX2(Y12, X12)
	PUT_AVX2(Y13, X13)
	PUT_AVX2(Y14, X14)
	PUT_AVX2(Y15, X15)
	LEAQ  (R10)(R8*8), SI
	ADDQ  $16, DI
	DECQ  CX
	JNZ   square
	ADDQ  $16, R11
	ADDQ  $960, DI // the next 16 lines
	DECQ  BX
	JNZ   lines
	VZEROUPPER
	RET

// func updateColumn(lines, column *int8, rows uint64) uint64
//
// DI score of a line, SI column, DX rows, CX end of the last of them, AX result, BX
// row. A score and the one that it is to be negated add up to zero if nothing
// changes.
TEXT ·updateColumn(SB), NOSPLIT, $0-32
	MOVQ   lines+0(FP), DI
	MOVQ   column+8(FP), SI
	MOVQ   rows+16(FP), DX
	BSRQ   DX, CX
	INCQ   CX
	XORQ   AX, AX
	XORQ   BX, BX
	PCALIGN $32

score:
	MOVBLZX (SI)(BX*1), R8
	ADDB    (DI), R8
	JNE     differs

nextScore:
	ADDQ $64, DI
	INCQ BX
	CMPQ BX, CX
	JNE  score
	MOVQ AX, ret+24(FP)
	RET

differs:
	BTQ  BX, DX
	JCC  nextScore
	SUBB R8, (DI)
	BTSQ BX, AX
	JMP  nextScore

// func replaceAVX2(lines *int8, rows uint64, block *Block, columns *[64]int8, changed *[64]uint64) uint64
//
// DI lines, CX rows left, SI block, Y4 and Y5 columns, DX changed, AX result, BX row,
// R10 its offset, Y8 zero.
TEXT ·replaceAVX2(SB), NOSPLIT, $0-48
	MOVQ    lines+0(FP), DI
	MOVQ    rows+8(FP), CX
	MOVQ    block+16(FP), SI
	MOVQ    columns+24(FP), R8
	VMOVDQU (R8), Y4
	VMOVDQU 32(R8), Y5
	VPXOR   Y8, Y8, Y8
	MOVQ    changed+32(FP), DX
	XORQ    AX, AX

lineAVX2:
	TZCNTQ    CX, BX
	MOVQ      BX, R10
	SHLQ      $6, R10
	VPSUBB    (SI)(R10*1), Y8, Y0
	VPSUBB    32(SI)(R10*1), Y8, Y1
	VMOVDQU   (DI)(R10*1), Y6
	VMOVDQU   32(DI)(R10*1), Y7
	VPCMPEQB  Y6, Y0, Y2
	VPCMPEQB  Y7, Y1, Y3
	VPANDN    Y4, Y2, Y2             // the columns that differ
	VPANDN    Y5, Y3, Y3
	VPMOVMSKB Y2, R8
	VPMOVMSKB Y3, R9
	SHLQ      $32, R9
	ORQ       R9, R8
	JZ        sameAVX2
	VPBLENDVB Y2, Y0, Y6, Y6
	VPBLENDVB Y3, Y1, Y7, Y7
	VMOVDQU   Y6, (DI)(R10*1)
	VMOVDQU   Y7, 32(DI)(R10*1)
	MOVQ      R8, (DX)(BX*8)
	BTSQ      BX, AX

sameAVX2:
	BLSRQ CX, CX
	JNZ   lineAVX2
	VZEROUPPER
	MOVQ  AX, ret+40(FP)
	RET

// func turnAVX512(dst, src *Block, rows uint64)
//
// SI, R10, R11 and R12 are columns 0, 16, 32, 48 of src, R8 the distance of columns, DI
// dst and R13 rows, all from the next 16 rows on.
TEXT ·turnAVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ rows+16(FP), R13
	MOVQ $64, R8
	LANES
	LEAQ 1024(SI), R10
	LEAQ 2048(SI), R11
	LEAQ 3072(SI), R12

square:
	TESTW R13, R13
	JZ    nextSquare
	ROWS
	TURN
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VMOVDQU64 Z2, 128(DI)
	VMOVDQU64 Z3, 192(DI)
	VMOVDQU64 Z4, 256(DI)
	VMOVDQU64 Z5, 320(DI)
	VMOVDQU64 Z6, 384(DI)
	VMOVDQU64 Z7, 448(DI)
	VMOVDQU64 Z8, 512(DI)
	VMOVDQU64 Z9, 576(DI)
	VMOVDQU64 Z10, 640(DI)
	VMOVDQU64 Z11, 704(DI)
	VMOVDQU64 Z12, 768(DI)
	VMOVDQU64 Z13, 832(DI)
	VMOVDQU64 Z14, 896(DI)
	VMOVDQU64 Z15, 960(DI)

nextSquare:
	ADDQ $1024, DI
	ADDQ $16, SI
	ADDQ $16, R10
	ADDQ $16, R11
	ADDQ $16, R12
	SHRQ $16, R13
	JNZ  square
	VZEROUPPER
	RET
